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

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// skip is a test that was left out.
type skip struct{ test, reason string } // "hw/mpi.TestErrors"

// results is what became of the tests.
type results struct {
	skips  []skip
	failed bool
}

// module begins the path of every package.
const module = "collsim/"

// read follows the tests, and prints what go test prints of them: a line for each package, and all
// that a test has said that failed.
func read(in io.Reader, out io.Writer) (r results, err error) {
	said := map[[2]string][]string{} // by tests that have not ended
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
		if json.Unmarshal(line, &e) != nil { // what go itself has to say
			fmt.Fprintf(out, "%s", line)
			continue
		}
		r.take(&e, said, out)
	}
}

// take notes an event.
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
		for of := range said { // of a package, all that have not ended: it has panicked
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

// reason is what a test has said before it was left out.
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

// judge lists what was left out, and reports whether that is all as it may be.
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

// unexpected says why a test should not have been left out, empty if it may be.
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
