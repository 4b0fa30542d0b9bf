package strictjson

import (
	"bytes"
	"io"
)

// Lines counts the lines of what is read through it, for questions about rising offsets, while a
// decoder reads ahead.
type Lines struct {
	R      io.Reader
	read   int64
	ends   []int64 // offsets behind the line ends that nobody has asked about
	passed int     // line ends before those
}

// Read passes on what r has.
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

// At is the line, counted from 1, that an offset lies in, which must not be less than the last.
func (l *Lines) At(offset int64) int {
	i := 0
	for i < len(l.ends) && l.ends[i] <= offset {
		i++
	}
	l.ends, l.passed = l.ends[i:], l.passed+i
	return l.passed + 1
}

// Last is the line in which ends what was read.
func (l *Lines) Last() int { return l.At(l.read - 1) }
