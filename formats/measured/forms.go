package measured

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/unit"
)

// form is a form that tables have.
type form struct {
	name string
	is   func(text []byte) bool // text is trimmed
	read func(file string, text []byte) (*Data, error)
}

// forms lists all forms; a text has the first that recognises it.
func forms() []form {
	return []form{
		{"collsim's JSON", begins(`^{\s*"(collsim"\s*:|scenario"\s*:\s*"[^"]*"\s*,\s*` +
			`"(digest|result)"\s*:)`),
			readOurJSON},
		{"NCCL Inspector's JSON", isInspector, readInspector},
		{"rccl-tests' JSON", begins(`^\[?\s*{[^{}]*"busBw"\s*:`), readFlat},
		{"nccl-tests' JSON", begins(`^({|\[\s*[{\]])`), readJSON},
		{"collsim's CSV", begins(`^scenario,seed,topology,id,kind,`), readOurCSV},
		{"CSV with a header", isCSV, readCSV},
		{"OSU micro-benchmarks", isOSU, readOSU},
		{"a log of nccl-tests or rccl-tests", func([]byte) bool { return true }, readLog},
	}
}

// begins returns a function that matches the beginning of texts.
func begins(pattern string) func([]byte) bool {
	of := regexp.MustCompile(pattern)
	return func(text []byte) bool { return of.Match(text[:min(len(text), 1<<12)]) }
}

// formNames lists the forms for an error.
func formNames() string {
	var names []string
	for _, f := range forms() {
		names = append(names, f.name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Read returns what a file has, in the form that its text has. Rows that cannot be read are notes,
// unless no row can. Errors are *ParseError.
func Read(file string, text []byte) (*Data, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	trimmed := bytes.TrimSpace(text)
	all := forms()
	i := 0
	for !all[i].is(trimmed) {
		i++
	}
	return all[i].read(file, text)
}

// reading collects what a reader finds in a file.
type reading struct {
	Data
	file  string
	first *ParseError // of rows that cannot be read
	bad   int
	hint  string // where there is no row at all
}

// mostRefused bounds the rows that cannot be read and have a note each.
const mostRefused = 5

// refuse leaves a row out.
func (r *reading) refuse(err *ParseError) {
	if r.first == nil {
		r.first = err
	}
	if r.bad++; r.bad <= mostRefused {
		why := *err
		why.Line, why.Hint = 0, ""
		r.note(err.Line, "a row is left out: "+why.Within())
	}
}

// problem returns the error of a value.
func (r *reading) problem(line int, key, value, text string) *ParseError {
	return &ParseError{File: r.file, Line: line, Key: key, Value: quoted(value), Text: text}
}

func (r *reading) note(line int, text string) {
	r.Notes = append(r.Notes, Note{r.file, line, text})
}

// number counts how often a size has been measured.
func (r *reading) number() {
	type measured struct {
		Of
		size    unit.Bytes
		root    int
		inPlace bool
	}
	runs := map[measured]int{}
	for i := range r.Rows {
		row := &r.Rows[i]
		m := measured{row.Of, row.Size, row.Root, row.InPlace}
		runs[m]++
		row.Run = runs[m]
	}
}

// noteRuns notes where a second run begins.
func (r *reading) noteRuns() {
	isSecond := func(row Row) bool { return row.Run > 1 }
	if i := slices.IndexFunc(r.Rows, isSecond); i >= 0 {
		r.note(r.Rows[i].Line, "sizes start again: a second run, whose rows count as those of the first")
	}
}

// done returns what was found; an error where there is no row, which is the first row's or has this
// text.
func (r *reading) done(line int, text string) (*Data, error) {
	switch {
	case len(r.Rows) > 0:
	case r.first != nil:
		return nil, r.first
	default:
		err := r.problem(line, "", "", text)
		err.Hint = r.hint
		return nil, err
	}
	if more := r.bad - mostRefused; more > 0 {
		r.note(line, prose.Plural(more, "more row")+" left out up to here")
	}
	slices.SortStableFunc(r.Notes, func(a, b Note) int { return cmp.Compare(a.Line, b.Line) })
	return &r.Data, nil
}
