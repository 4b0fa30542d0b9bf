package formats

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"collsim/internal/input"
)

// HeadSize is the number of bytes of a file from which its format is recognised.
const HeadSize = 4096

// IsSchedule reports whether a file is a schedule rather than a scenario, by its beginning or its
// extension.
func IsSchedule(name string, head []byte) bool {
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		return false
	}
	_, ok := Sniff(name, head)
	return ok
}

// Sniff returns the format of a file by its beginning, gzipped or not, or by its extension. JSON
// that begins like none is taken for a profile, whose reader knows it by its keys.
func Sniff(name string, head []byte) (Format, bool) {
	if input.Gzipped(head) {
		head, name = input.Opening(head, HeadSize), strings.TrimSuffix(name, ".gz")
	}
	start := opening(head)
	for _, f := range Table() {
		if f.is != nil && f.is(start) {
			return f, true
		}
	}
	extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
	if extension == "json" && (bytes.HasPrefix(start, []byte("{")) || isEvents(start)) {
		return Lookup(Profile)
	}
	for _, f := range Table() {
		if extension != "json" && slices.Contains(f.Extensions, extension) {
			return f, true
		}
	}
	return Format{}, false
}

// opening skips blanks and comments at the beginning of a file: those of XML (and its declaration),
// of GOAL, and lines that begin with #, as in our text form.
func opening(head []byte) []byte {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for {
		head = bytes.TrimLeft(head, " \t\r\n")
		skipped := false
		for _, c := range []struct{ from, to string }{{"<!--", "-->"}, {"<?", "?>"},
			{"#", "\n"}, {"//", "\n"}, {"/*", "*/"}} {
			if !bytes.HasPrefix(head, []byte(c.from)) {
				continue
			}
			_, rest, closed := bytes.Cut(head, []byte(c.to))
			if !closed {
				return nil
			}
			head, skipped = rest, true
			break
		}
		if !skipped {
			return head
		}
	}
}

// isEvents reports whether a file is an array of the events that Chrome's trace viewer reads.
func isEvents(head []byte) bool {
	return bytes.HasPrefix(head, []byte("[")) && bytes.Contains(head, []byte(`"ph"`))
}

// beginsWith makes a test of a file's first word.
func beginsWith(word string) func([]byte) bool {
	return func(head []byte) bool {
		rest, ok := bytes.CutPrefix(head, []byte(word))
		return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n>/"), rest[0]) >= 0)
	}
}

// hasKey makes a test for a JSON object with one of these keys near its beginning.
func hasKey(keys ...string) func([]byte) bool {
	return func(head []byte) bool {
		if !bytes.HasPrefix(head, []byte("{")) {
			return false
		}
		return slices.ContainsFunc(keys, func(key string) bool {
			return bytes.Contains(head, []byte(`"`+key+`"`))
		})
	}
}
