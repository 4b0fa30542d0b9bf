package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"collsim/internal/diag"
)

// Error is one thing that is wrong with a scenario: file, line, key, value, text and hint.
type Error = diag.Problem

// MaxErrors is the most errors of one scenario that are reported.
const MaxErrors = 10

// Errors are all errors of a scenario by line, at least one and at most MaxErrors.
type Errors struct {
	List []*Error
	More int // how many further ones were found
}

// Error prints the errors one after the other.
func (e *Errors) Error() string {
	lines := make([]string, 0, len(e.List)+1)
	for _, one := range e.List {
		lines = append(lines, one.Error())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more", e.List[0].File, e.More))
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find an *Error.
func (e *Errors) Unwrap() []error {
	list := make([]error, len(e.List))
	for i, one := range e.List {
		list[i] = one
	}
	return list
}

// problem is an error whose place the caller knows: what is wrong, and how to put it right.
type problem struct{ text, hint string }

// collector gathers errors; the same one is kept once, however many points run into it.
type collector struct {
	list []*Error
	seen map[Error]bool
}

func (c *collector) add(e *Error) {
	if c.seen[*e] {
		return
	}
	if c.seen == nil {
		c.seen = map[Error]bool{}
	}
	c.seen[*e] = true
	c.list = append(c.list, e)
}

// err returns what was gathered as one *Errors sorted by line (those of other files, --set and
// --only last), or nil.
func (c *collector) err(file string) error {
	if len(c.list) == 0 {
		return nil
	}
	slices.SortStableFunc(c.list, func(a, b *Error) int {
		if (a.File == file) != (b.File == file) {
			if a.File == file {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	n := min(len(c.list), MaxErrors)
	return &Errors{List: c.list[:n:n], More: len(c.list) - n}
}

// maxShown is the most characters of a value that an error repeats.
const maxShown = 48

// shown makes what a user wrote fit for one line of an error.
func shown(raw string) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range raw {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			n, space = n+1, false
		}
		if n >= maxShown {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(r) {
			r = '\uFFFD'
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// quoted puts what shown returns in quotes, for a word inside a sentence.
func quoted(s string) string { return `"` + shown(s) + `"` }
