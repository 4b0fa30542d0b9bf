package main

import (
	"fmt"
	"os"
	"runtime"

	"collsim/hw/gate"
	"collsim/internal/input"
	"collsim/unit"
)

// The environment has what all members of a run know: the secret itself, or a file with it.
const (
	secretVariable = "COLLSIM_SECRET"
	secretFile     = "COLLSIM_SECRET_FILE"
)

// secretOfRun returns the secret from the environment, none if it has none. Secrets are never
// arguments, which all users of a machine see.
func secretOfRun() (gate.Secret, error) {
	text, name := os.Getenv(secretVariable), os.Getenv(secretFile)
	of := secretVariable
	switch {
	case text != "" && name != "":
		return gate.Secret{}, &usageError{Text: secretVariable + " and " + secretFile +
			" are both set: one of them is expected"}
	case name != "":
		of = secretFile + " " + name
		info, err := os.Stat(name)
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			return gate.Secret{}, &usageError{Text: fmt.Sprintf("%s: others may read or write it (%v)", of,
				info.Mode().Perm()), Hint: "chmod 600 " + name}
		}
		b, readErr := input.Limit{Bytes: unit.MiB}.File(name)
		if readErr != nil {
			return gate.Secret{}, &usageError{Text: of + ": " + readErr.Error()}
		}
		text = string(b)
	case text == "":
		return gate.Secret{}, nil
	}
	s, err := gate.ParseSecret(text)
	if err != nil {
		return s, &usageError{Text: of + ": " + err.Error(), Hint: "make one: openssl rand -hex 16"}
	}
	return s, nil
}
