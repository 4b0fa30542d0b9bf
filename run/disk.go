package run

import (
	"io"

	"collsim/internal/input"
	"collsim/unit"
)

// disk reads the files that a scenario names, each once.
type disk struct {
	resolve func(name string) string // relative to the scenario
	read    func(path string, limit unit.Bytes) ([]byte, error)
	open    func(path string, limit unit.Bytes) (io.ReadCloser, error) // nil: read alone
	limit   unit.Bytes
	seen    map[string]content // by path
}

// content holds the text of a file, or the error of reading it.
type content struct {
	text []byte
	err  error
}

// file returns the content of a file.
func (d *disk) file(path string) ([]byte, error) {
	c, seen := d.seen[path]
	if !seen {
		c.text, c.err = d.read(path, d.limit)
		d.seen[path] = c
	}
	return c.text, c.err
}

// readFile reads a regular file of no more bytes than the limit.
func readFile(name string, limit unit.Bytes) ([]byte, error) {
	return input.Limit{Bytes: limit}.File(name)
}

// openFile opens a regular file of no more bytes than the limit.
func openFile(name string, limit unit.Bytes) (io.ReadCloser, error) {
	f, _, err := input.Limit{Bytes: limit}.Open(name)
	return f, err
}
