package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"collsim/internal/diag"
	"collsim/internal/input"
	"collsim/internal/nearest"
	"collsim/run"
	"collsim/scenarios"
)

// usageError reports wrong usage of flags, commands or files. It differs from an error of a
// scenario only in how it is printed: after the program's name.
type usageError diag.Problem

// Error prints file, text and hint.
func (e *usageError) Error() string { return (*diag.Problem)(e).Error() }

// unavailableError says what this machine lacks, and how to get it.
type unavailableError struct{ what, hint string }

func (e *unavailableError) Error() string {
	if e.hint == "" {
		return e.what
	}
	return e.what + "\n  " + e.hint
}

var (
	errHelp   = errors.New("a scenario is expected")
	errFailed = errors.New("a check failed") // which the output has said
)

// report prints an error and returns the exit code.
func (a *app) report(err error) int {
	var missing *unavailableError
	var lost *lostError
	text, interrupted := a.interruption()
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFailed):
		return exitFailed
	case isInterrupted(err):
		a.print(a.err, "collsim: "+text+"; what was finished has been written\n")
		return interrupted
	case errors.Is(err, errHelp) && !a.wantsJSON():
		a.print(a.err, helpText)
	case a.wantsJSON():
		a.printJSON(a.err, []byte(jsonError(err)))
	default:
		a.print(a.err, plainError(err))
	}
	switch {
	case errors.As(err, &missing):
		return exitMissing
	case errors.As(err, &lost):
		return exitLost
	}
	return exitUsage
}

// wantsJSON reports whether --json or --jsonl is given, also where flags could not be read.
func (a *app) wantsJSON() bool {
	return slices.ContainsFunc(a.args, func(arg string) bool {
		return slices.Contains([]string{"--json", "--json=true", "--jsonl", "--jsonl=true"}, arg)
	})
}

// plainError returns an error as a text for people.
func plainError(err error) string {
	list := scenarioErrors(err)
	if len(list) == 0 {
		return "collsim: " + err.Error() + "\n"
	}
	text := err.Error() + "\n"
	files := map[string]int{}
	for _, e := range list {
		files[e.File]++
	}
	if len(list) > 1 && len(files) == 1 {
		text += fmt.Sprintf("collsim: %d errors in %s\n", len(list)+more(err), list[0].File)
	}
	return text
}

// scenarioErrors returns the errors that have a place in a scenario.
func scenarioErrors(err error) []*scenarios.Error {
	var all *scenarios.Errors
	var one *scenarios.Error
	var joined interface{ Unwrap() []error }
	switch {
	case errors.As(err, &all) && error(all) == err:
		return all.List
	case errors.As(err, &joined):
		var list []*scenarios.Error
		for _, e := range joined.Unwrap() {
			list = append(list, scenarioErrors(e)...)
		}
		return list
	case errors.As(err, &one):
		return []*scenarios.Error{one}
	}
	return nil
}

// more returns the number of errors that were found and are not listed.
func more(err error) int {
	var all *scenarios.Errors
	if errors.As(err, &all) {
		return all.More
	}
	return 0
}

// oneError is an error in JSON.
type oneError struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Key  string `json:"key"`
	Text string `json:"text"`
	Hint string `json:"hint"`
}

// jsonError returns one object: the first error, and where there are several, all of them.
func jsonError(err error) string {
	var list []oneError
	for _, e := range scenarioErrors(err) {
		text := e.Text
		if e.Value != "" {
			text = e.Value + ": " + text
		}
		list = append(list, oneError{e.File, e.Line, e.Key, text, e.Hint})
	}
	var usage *usageError
	if len(list) == 0 && errors.As(err, &usage) {
		list = []oneError{{File: usage.File, Text: usage.Text, Hint: usage.Hint}}
	}
	var missing *unavailableError
	if len(list) == 0 && errors.As(err, &missing) {
		list = []oneError{{Text: missing.what, Hint: missing.hint}}
	}
	if len(list) == 0 {
		list = []oneError{{Text: err.Error()}}
	}
	object := struct {
		Error  oneError   `json:"error"`
		Errors []oneError `json:"errors,omitempty"`
	}{Error: list[0]}
	if len(list) > 1 {
		object.Errors = list
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil {
		panic(err) // strings and numbers can be encoded
	}
	return b.String()
}

// bug reports a panic.
func (a *app) bug(p any, stack []byte) {
	seed := a.seed
	if seed == "" {
		seed = "none yet"
	}
	a.print(a.err, fmt.Sprintf("collsim: a bug in collsim: %v\n"+
		"  please report it, with the scenario and all of this\n"+
		"  version  %s (%s %s/%s)\n  command  collsim %s\n  seed     %s\n\n%s", p,
		run.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		strings.Join(a.args, " "), seed, stack))
}

// bare reports whether an argument looks like a command: a file has a dot or a slash.
func bare(arg string) bool {
	return arg != "-" && !strings.ContainsAny(arg, "./\\:")
}

// unknownCommand refuses an argument that is no command and is never taken for a file.
func unknownCommand(root *cobra.Command, arg string) error {
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	e := &usageError{Text: fmt.Sprintf("unknown command %q", arg)}
	switch near := nearest.To(arg, names, 1); {
	case slices.Contains(scenarios.Examples(), arg):
		e.Hint = "did you mean example:" + arg + "?"
	case len(near) > 0:
		e.Hint = "did you mean " + near[0] + "?"
	}
	if _, err := os.Stat(arg); err == nil {
		e.Hint = "for the file of that name, write ./" + arg
	}
	if e.Hint == "" {
		e.Hint = "commands are " + strings.Join(names, ", ") + "; a file's name has a dot or a slash"
	}
	return e
}

const noSuchFile = "no such file"

// fileError words what the operating system says of a file, and suggests one that is there.
func fileError(name string, err error) error {
	e := &usageError{File: name}
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Text = noSuchFile
		ext := filepath.Ext(name)
		if e.Hint = nearFile(name, ext); e.Hint == "" {
			e.Hint = nearFile(name, ".toml")
		}
		if e.Hint == "" {
			_, e.Hint = notScenario(name, nil)
		}
		if e.Hint == "" && (ext == "" || ext == ".toml") {
			e.Hint = "examples are in the program: collsim list examples"
		}
	case errors.As(err, &path):
		if e.Text = path.Err.Error(); errors.Is(err, syscall.EISDIR) {
			e.Hint = "name a file in it"
		}
		var kind *input.KindError
		if errors.As(err, &kind) && kind.Mode&fs.ModeNamedPipe != 0 {
			e.Hint = "- reads standard input, which may be a pipe"
		}
	default:
		e.Text = err.Error()
	}
	if long := (*input.LongError)(nil); errors.As(err, &long) {
		e.Hint = long.Hint()
	}
	return e
}

// withoutCommand returns the error for a file given without the command that takes such files.
func withoutCommand(name string, err error) error {
	var e *usageError
	if _, hint := notScenario(name, nil); errors.As(err, &e) && e.Hint == hint {
		e.Hint = ""
	}
	return err
}

// nearFile suggests a file of an extension that is there; empty if none has nearly that name.
func nearFile(name, ext string) string {
	if strings.ContainsAny(ext, `*?[\`) {
		return ""
	}
	there, err := filepath.Glob(filepath.Join(filepath.Dir(name), "*"+ext))
	if err != nil || len(there) == 0 {
		return ""
	}
	if near := nearest.To(filepath.Clean(name), there, 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return ""
}
