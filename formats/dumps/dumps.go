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

// Source is a file of one rank, or of several, which is read when its turn comes. Rank is −1 if it
// is not known.
type Source struct {
	Name string
	Rank int
	Read func() ([]byte, error)
}

// file is a source that has been read.
type file struct {
	name string
	rank int
	text []byte
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
	read func(*builder) reader
}

// reader takes in one file after the other.
type reader interface {
	read(f file) error
	end() error
}

// forms lists all forms; a file has the first that recognises it.
func forms() []form {
	return []form{
		{"PyTorch's flight recorder (pickle)", isPickle, each(readPickle)},
		{"NCCL RAS (JSON)", isObject("communicators"), each(readRASJSON)},
		{"PyTorch's profiler or Chakra", isTrace, newTraceReader},
		{"PyTorch's flight recorder (JSON)", isRecorder, each(readJSON)},
		{"NCCL RAS", isRAS, each(readRAS)},
		{"NCCL's log of calls", isCollLog, newCollReader},
		{"PyTorch's watchdog", isWatchdog, each(readWatchdog)},
	}
}

// Read reads files, all of one form. Errors are *ParseError, or those of a source.
func Read(sources []Source) (*Dump, error) {
	b := newBuilder(len(sources))
	var in reader
	for _, s := range sources {
		text, err := s.Read()
		if err != nil {
			return nil, err
		}
		of, known := formOf(text)
		switch {
		case !known:
			return nil, &ParseError{File: s.Name, Text: "no calls of ranks are in it", Hint: "forms " +
				"that are read: " + formNames() + "; a log of times takes a scenario"}
		case in == nil:
			b.Form, in = of.name, of.read(b)
		case of.name != b.Form:
			return nil, &ParseError{File: s.Name, Text: fmt.Sprintf("this is of %s; %s is of %s",
				of.name, sources[0].Name, b.Form)}
		}
		if err := in.read(file{s.Name, s.Rank, text}); err != nil {
			return nil, err
		}
	}
	if err := in.end(); err != nil {
		return nil, err
	}
	if b.empty() {
		return nil, &ParseError{File: sources[0].Name, Text: "no call of a rank is in it"}
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

// each makes readers of files that are read by themselves.
func each(read func(*builder, file) error) func(*builder) reader {
	return func(b *builder) reader { return &single{b, read} }
}

// single reads files by themselves.
type single struct {
	b    *builder
	with func(*builder, file) error
}

func (s *single) read(f file) error { return s.with(s.b, f) }
func (s *single) end() error        { return nil }

// builder collects calls.
type builder struct {
	Dump
	files  int // that are read in all
	groups map[string]int
	ranks  map[int]int    // place in Ranks
	names  map[int]string // of files, by rank
	texts  map[string]string
}

func newBuilder(files int) *builder {
	return &builder{files: files, groups: map[string]int{}, ranks: map[int]int{},
		names: map[int]string{}, texts: map[string]string{}}
}

// once returns a text that is stored once, however many calls have it.
func (b *builder) once(text string) string {
	if known, ok := b.texts[text]; ok {
		return known
	}
	text = strings.Clone(text)
	b.texts[text] = text
	return text
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
func (b *builder) own(f file) (*calls.Rank, error) {
	if f.rank < 0 {
		return nil, &ParseError{File: f.name, Text: "which rank it is of is not in it",
			Hint: "give it a name with the rank, such as dump.3.json"}
	}
	if other, known := b.names[f.rank]; known {
		return nil, &ParseError{File: f.name, Text: fmt.Sprintf("it is of rank %d, as %s is", f.rank,
			other)}
	}
	b.names[f.rank] = f.name
	return b.rank(f.rank), nil
}
