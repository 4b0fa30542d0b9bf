// Package dumps reads what a job that hangs has left: which calls each rank has made, and how far
// they have come. It recognises the form of a file by its contents:
//
//   - PyTorch's flight recorder, as JSON and as a pickle, a file a rank;
//   - the answer of NCCL's RAS subsystem (ncclras), as text and as JSON;
//   - lines of NCCL's log about calls (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=COLL);
//   - what the watchdog of PyTorch writes when a call has timed out;
//   - traces of PyTorch's profiler and of Chakra, a file a rank.
//
// A pickle is read without executing anything. Logs may have whatever launchers and loggers write
// around their lines. A form is a file with its reader, and a line in the table of forms.
package dumps

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"collsim/collective/calls"
	"collsim/internal/diag"
)

// File is a file of one rank, or of several. Rank is −1 if it is not known.
type File struct {
	Name string
	Rank int
	Text []byte
}

// Dump holds what files have of the calls of a job.
type Dump struct {
	calls.Log
	Form  string
	Notes []string
}

// ParseError describes an error in a file: its line or, in a pickle, the place as the key.
type ParseError = diag.Problem

// form is a form that dumps have.
type form struct {
	name string
	is   func(text []byte) bool
	read func(b *builder, files []File) error
}

// forms lists all forms; a file has the first that recognises it.
func forms() []form {
	return []form{
		{"PyTorch's flight recorder (pickle)", isPickle, each(readPickle)},
		{"NCCL RAS (JSON)", isObject("communicators"), each(readRASJSON)},
		{"traces of ranks", isTrace, readTraces},
		{"PyTorch's flight recorder (JSON)", isRecorder, each(readJSON)},
		{"NCCL RAS", isRAS, each(readRAS)},
		{"NCCL's log of calls", isCollLog, readCollLogs},
		{"PyTorch's watchdog", isWatchdog, each(readWatchdog)},
	}
}

// Read reads files, all of one form. Errors are *ParseError.
func Read(files []File) (*Dump, error) {
	var of form
	for i, f := range files {
		one, known := formOf(f.Text)
		switch {
		case !known:
			return nil, &ParseError{File: f.Name, Text: "no calls of ranks are in it", Hint: "forms " +
				"that are read: " + formNames()}
		case i > 0 && one.name != of.name:
			return nil, &ParseError{File: f.Name, Text: fmt.Sprintf("this is of %s; %s is of %s",
				one.name, files[0].Name, of.name)}
		}
		of = one
	}
	b := newBuilder()
	if err := of.read(b, files); err != nil {
		return nil, err
	}
	b.Form = of.name
	if b.empty() {
		return nil, &ParseError{File: files[0].Name, Text: "no call of a rank is in it"}
	}
	slices.SortFunc(b.Ranks, func(x, y calls.Rank) int { return x.Number - y.Number })
	return &b.Dump, nil
}

// empty reports whether the files have no call, and no answer from which none is missing.
func (b *builder) empty() bool {
	return !b.Apart && !slices.ContainsFunc(b.Ranks, func(r calls.Rank) bool {
		return len(r.Calls) > 0 || len(r.Marks) > 0
	})
}

// formOf returns the form of a text.
func formOf(text []byte) (form, bool) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\uFEFF")))
	for _, f := range forms() {
		if f.is(text) {
			return f, true
		}
	}
	return form{}, false
}

// formNames lists the forms for an error.
func formNames() string {
	var names []string
	for _, f := range forms() {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// each makes a reader of files that are read one by one.
func each(read func(*builder, File) error) func(*builder, []File) error {
	return func(b *builder, files []File) error {
		for _, f := range files {
			if err := read(b, f); err != nil {
				return err
			}
		}
		return nil
	}
}

// builder collects calls.
type builder struct {
	Dump
	groups map[string]int
	ranks  map[int]int // place in Ranks
	files  map[int]string
}

func newBuilder() *builder {
	return &builder{groups: map[string]int{}, ranks: map[int]int{}, files: map[int]string{}}
}

// group returns the index of a group, which is new if there is none of that name and those ranks.
func (b *builder) group(name, about string, ranks []int) int {
	key := fmt.Sprint(name, ranks)
	g, known := b.groups[key]
	if !known {
		g = len(b.Groups)
		b.groups[key] = g
		b.Groups = append(b.Groups, calls.Group{Name: name, About: about, Ranks: ranks})
	}
	return g
}

// rank returns a rank, which is new if there is none of that number.
func (b *builder) rank(number int) *calls.Rank {
	i, known := b.ranks[number]
	if !known {
		i = len(b.Ranks)
		b.ranks[number] = i
		b.Ranks = append(b.Ranks, calls.Rank{Number: number})
	}
	return &b.Ranks[i]
}

// note appends a note, once.
func (b *builder) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(b.Notes, text) {
		b.Notes = append(b.Notes, text)
	}
}

// own returns the rank that a file of one rank is of. Two files of one rank are an error.
func (b *builder) own(f File) (*calls.Rank, error) {
	if f.Rank < 0 {
		return nil, &ParseError{File: f.Name, Text: "which rank it is of is not in it",
			Hint: "give it a name with the rank, such as dump.3.json"}
	}
	if other, known := b.files[f.Rank]; known {
		return nil, &ParseError{File: f.Name, Text: fmt.Sprintf("it is of rank %d, as %s is", f.Rank,
			other)}
	}
	b.files[f.Rank] = f.Name
	return b.rank(f.Rank), nil
}
