package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"collsim/formats"
	"collsim/formats/measured"
	"collsim/internal/nearest"
	"collsim/scenarios"
)

// flagError words what pflag says, and names what is meant: another flag, a key of the scenario, or
// a command.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var none *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &none):
		name, _ := pflag.UnquoteUsage(none.GetFlag())
		return &usageError{Text: spelling(none.GetFlag()) + ": a value is expected: " + name}
	case errors.As(err, &invalid):
		return &usageError{Text: fmt.Sprintf("%s %s: %s", spelling(invalid.GetFlag()),
			strconv.Quote(invalid.GetValue()), expectedOf(invalid))}
	}
	return &usageError{Text: err.Error()}
}

// spelling returns the full spelling of a flag.
func spelling(f *pflag.Flag) string { return "--" + f.Name }

// expectedOf says what a flag takes, whose value could not be read.
func expectedOf(e *pflag.InvalidValueError) string {
	kind := e.GetFlag().Value.Type()
	switch kind {
	case "bool":
		return "true or false is expected"
	case "int", "int64":
		if errors.Is(e, strconv.ErrRange) {
			return "a whole number that 64 bits hold is expected"
		}
		return "a whole number is expected"
	}
	return "a " + kind + " is expected"
}

// unknownFlag refuses a flag, by its name or by its letter.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name, written := unknown.GetSpecifiedName(), "--"+unknown.GetSpecifiedName()
	letter := unknown.GetSpecifiedShortnames() != ""
	if letter {
		written = "-" + name
	}
	e := &usageError{Text: "unknown flag: " + written}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near, others := nearest.To(name, names, 1), foreignFlags(cmd, letter)
	switch other := elsewhere(cmd, name, letter); {
	case others[name] != "":
		e.Hint = others[name]
	case name == "version" || letter && (name == "v" || name == "V"):
		e.Hint = "the version is told by: collsim version"
	case other != "":
		e.Hint = other
	case !letter && len(near) > 0:
		e.Hint = "did you mean --" + near[0] + "?"
	default:
		e.Hint = "flags are --" + strings.Join(names, ", --")
	}
	return e
}

// elsewhere says what has the name of a flag that a command lacks: a key of the scenario, or a flag
// of init, whose letters are those of nccl-tests; empty if nothing does.
func elsewhere(cmd *cobra.Command, name string, letter bool) string {
	var ways []string
	for _, k := range scenarios.Keys() {
		_, last, _ := strings.Cut(k.Path, ".")
		if takesSet := cmd.Flags().Lookup("set") != nil; takesSet && !letter &&
			last == strings.ReplaceAll(name, "-", "_") {
			ways = append(ways, fmt.Sprintf("a scenario has the key: --set %s=%s", k.Path,
				shellValue(k.Example)))
			break
		}
	}
	init, _, err := cmd.Root().Find([]string{"init"})
	if err != nil {
		panic(err) // it is a command of ours
	}
	f := init.Flags().Lookup(name)
	if letter {
		f = init.Flags().ShorthandLookup(name)
	}
	if f != nil && cmd != init {
		value, _ := pflag.UnquoteUsage(f)
		if value == "int" {
			value = "n"
		}
		flag := "--" + f.Name
		if f.Shorthand != "" {
			flag = "-" + f.Shorthand
		}
		ways = append(ways, fmt.Sprintf("a new scenario with it: collsim init %s %s", flag,
			strings.ToUpper(value)))
	}
	return strings.Join(ways, "\n  ")
}

// shellValue returns an example of a key as one types it behind --set.
func shellValue(toml string) string {
	if text, err := strconv.Unquote(toml); err == nil {
		toml = text
	}
	if strings.ContainsAny(toml, " []{}*<>|&;$(") {
		return "'" + toml + "'"
	}
	return toml
}

// notScenario names the command that a file is for which is no scenario: one of a schedule, or of
// published tables; empty for all others. text is nil if the file could not be read.
func notScenario(name string, text []byte) (what, hint string) {
	if what, hint = foreign(text); what != "" {
		return what, hint
	}
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
	isSchedule := slices.ContainsFunc(formats.Table(), func(f formats.Format) bool {
		return slices.Contains(f.Extensions, ext)
	})
	shown := quotedForShell(name)
	switch {
	case ext == "toml":
		return "", ""
	case isSchedule:
		return "a schedule is no scenario", "to prove it: collsim verify " + shown +
			"\n  to run it: a scenario with algorithm = " + quoted("file:"+name)
	case ext == "log", ext == "csv", ext == "txt" && isTable(name, text):
		return "published tables are no scenario", "to fit a network to them: collsim calibrate --from " +
			shown
	}
	return "", ""
}

// isTable reports whether a file has tables of nccl-tests.
func isTable(name string, text []byte) bool {
	if !bytes.Contains(text, []byte("busbw")) {
		return false
	}
	tables, err := measured.ReadTables(name, text)
	return err == nil && len(tables) > 0
}

// quotedForShell quotes a name as one argument.
func quotedForShell(name string) string {
	if name != "" && !strings.ContainsAny(name, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
