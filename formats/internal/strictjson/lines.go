package strictjson

import (
	"bytes"
	"io"
)

// Lines counts the lines of a stream while a decoder reads ahead. Queries must have ascending
// offsets.
type Lines struct {
	R      io.Reader
	read   int64
	ends   []int64 // offsets after line ends that no query has passed
	passed int     // number of line ends before those
}

// Read reads from R and records line ends.
func (l *Lines) Read(p []byte) (int, error) {
	n, err := l.R.Read(p)
	for rest, off := p[:n], l.read; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		off += int64(i) + 1
		rest = rest[i+1:]
		l.ends = append(l.ends, off)
	}
	l.read += int64(n)
	return n, err
}

// At returns the line of an offset, counted from 1. REQUIRES: the offset is not less than that of
// the last call.
func (l *Lines) At(offset int64) int {
	i := 0
	for i < len(l.ends) && l.ends[i] <= offset {
		i++
	}
	l.ends, l.passed = l.ends[i:], l.passed+i
	return l.passed + 1
}

// Last returns the line of the last byte that was read.
func (l *Lines) Last() int { return l.At(l.read - 1) }
