package gate

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// A Secret is shared by the members of a run. Its zero value is none. It does not show when it is
// printed.
type Secret struct{ text string }

// Bounds of a secret's length. A shorter one could be found by trying all against a recorded proof.
const minSecret, maxSecret = 16, 1024

// NewSecret returns a random secret.
func NewSecret() Secret { return Secret{rand.Text()} }

// ParseSecret parses a secret, without surrounding blanks.
func ParseSecret(text string) (Secret, error) {
	text = strings.TrimSpace(text)
	if n := len(text); n < minSecret || n > maxSecret {
		return Secret{}, fmt.Errorf("a secret of %d characters: %d to %d are expected", n, minSecret,
			maxSecret)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Secret{}, errors.New("a secret with blanks or other than ASCII characters: hexadecimal " +
			"digits do")
	}
	return Secret{text}, nil
}

// Text returns the secret itself, for a launcher.
func (s Secret) Text() string { return s.text }

// None reports whether there is no secret.
func (s Secret) None() bool { return s.text == "" }

// String hides the secret.
func (s Secret) String() string { return "(a secret)" }

// GoString hides the secret.
func (s Secret) GoString() string { return s.String() }

// A Run identifies a run, even among those with the same secret. It is public.
type Run [16]byte

// NewRun returns a random run.
func NewRun() (r Run) {
	rand.Read(r[:])
	return r
}

// key derives the key for proofs in one run.
func (s Secret) key(r Run) []byte {
	key, err := hkdf.Key(sha256.New, []byte(s.text), r[:], "collsim run", sha256.Size)
	if err != nil {
		panic(err) // HKDF supports this length
	}
	return key
}
