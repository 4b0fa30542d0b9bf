package formats

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"collsim/internal/input"
)

// HeadSize is how much of a file is looked at to tell its format.
const HeadSize = 4096

// IsSchedule reports whether a file is a schedule, by its beginning or its extension: a scenario is
// not.
func IsSchedule(name string, head []byte) bool {
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		return false
	}
	_, ok := Sniff(name, head)
	return ok
}

// Sniff is the format of a file that begins so, or gzipped so.
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
	for _, f := range Table() {
		if extension != "json" && slices.Contains(f.Extensions, extension) {
			return f, true
		}
	}
	return Format{}, false
}

// opening is the beginning of a file behind blanks and comments: of XML (with its declaration), of
// GOAL, and lines that begin with # as our text form has them.
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

// beginsWith makes a test for a first word.
func beginsWith(word string) func([]byte) bool {
	return func(head []byte) bool {
		rest, ok := bytes.CutPrefix(head, []byte(word))
		return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n>/"), rest[0]) >= 0)
	}
}

// hasKey makes a test for a JSON object that has one of these keys near its beginning.
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
