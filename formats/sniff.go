package formats

import (
	"bytes"
	"compress/gzip"
	"io"
	"path/filepath"
	"slices"
	"strings"
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
	if isGzip(head) {
		head, name = unzipped(head), strings.TrimSuffix(name, ".gz")
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

// isGzip reports whether a file begins as gzip writes one (RFC 1952).
func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// unzipped is what can be told of a gzipped file's text by its beginning.
func unzipped(head []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil
	}
	text := make([]byte, HeadSize)
	n, _ := io.ReadFull(z, text) // the beginning of a file ends somewhere
	return text[:n]
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
