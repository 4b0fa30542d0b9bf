package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	r, err := read(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(2)
	}
	if !r.judge(os.Stdout, table(), lacking) {
		os.Exit(1)
	}
}

// An event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// A skip is a skipped test.
type skip struct{ test, reason string } // "hw/mpi.TestErrors"

// results holds the results of the tests.
type results struct {
	skips  []skip
	failed bool
}

// module is the prefix of every package's path.
const module = "collsim/"

// read reads the events, and prints what go test prints: a line for each package, and the output of
// failed tests.
func read(in io.Reader, out io.Writer) (r results, err error) {
	said := map[[2]string][]string{} // of tests that have not ended
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return r, nil
		}
		if err != nil && err != io.EOF {
			return r, err
		}
		var e event
		if json.Unmarshal(line, &e) != nil { // a message of go itself
			fmt.Fprintf(out, "%s", line)
			continue
		}
		r.take(&e, said, out)
	}
}

// take handles an event.
func (r *results) take(e *event, said map[[2]string][]string, out io.Writer) {
	test := [2]string{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(out, e.Output)
	case "output":
		if e.Test == "" {
			if !strings.HasSuffix(e.Output, "[no test files]\n") && e.Output != "PASS\n" {
				fmt.Fprint(out, e.Output)
			}
			return
		}
		said[test] = append(said[test], e.Output)
	case "pass":
		delete(said, test)
	case "skip":
		if e.Test != "" {
			name := strings.TrimPrefix(e.Package, module) + "." + e.Test
			r.skips = append(r.skips, skip{name, reason(said[test])})
		}
		delete(said, test)
	case "fail", "build-fail":
		r.failed = true
		var tests []string
		for of := range said { // if a package fails, its unfinished tests have panicked
			if of[0] == e.Package && (e.Test == "" || of[1] == e.Test) {
				tests = append(tests, of[1])
			}
		}
		slices.Sort(tests)
		for _, of := range tests {
			fmt.Fprint(out, strings.Join(said[[2]string{e.Package, of}], ""))
			delete(said, [2]string{e.Package, of})
		}
	}
}

// reason returns a skipped test's reason from its output.
func reason(said []string) string {
	var words []string
	for _, line := range said {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if at := strings.Index(line, ".go:"); at >= 0 { // file.go:12: reason
			if _, text, found := strings.Cut(line[at+4:], ": "); found {
				line = text
			}
		}
		words = append(words, line)
	}
	return strings.Join(words, " ")
}

// judge lists the skipped tests, and reports whether all were allowed and no test failed.
func (r *results) judge(out io.Writer, table []row, lacks func(need) bool) bool {
	good := !r.failed
	for _, s := range r.skips {
		why := s.unexpected(table, lacks)
		fmt.Fprintf(out, "left out: %s: %s\n", s.test, s.reason)
		if why != "" {
			good = false
			fmt.Fprintf(out, "  NOT EXPECTED: %s\n", why)
		}
	}
	fmt.Fprintf(out, "%d tests were left out\n", len(r.skips))
	return good
}

// unexpected returns why a test should not have been skipped; empty if it may be.
func (s *skip) unexpected(table []row, lacks func(need) bool) string {
	if s.reason == "" {
		return "it gives no reason"
	}
	why := "no row of internal/skips/table.go is of this test and this reason"
	for _, row := range table {
		if !row.is(s) {
			continue
		}
		if row.need == nothing || lacks(row.need) {
			return ""
		}
		why = "this machine has " + string(row.need) + " (go clean -testcache, if that is new)"
	}
	return why
}
