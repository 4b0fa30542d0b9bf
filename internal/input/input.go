// Package input is the only way in which collsim reads foreign data. A file name must be that of a
// regular file. Files, streams and their unpacked contents are bounded by a limit. Longer input is
// an error with the name and the limit.
//
// It knows no format. No other package opens, reads or unpacks files (asserted by internal/tidy).
package input

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"collsim/unit"
)

// Usual is the default limit.
const Usual = unit.GiB

// A Limit is the maximal size of an input in bytes, unpacked; Usual if 0.
type Limit struct {
	Bytes unit.Bytes
	// reason of the limit for the error, such as "this machine has 2 GiB left"; or empty
	Of string
}

// A LongError is the error of an input beyond its limit.
type LongError struct{ Limit Limit }

// Error formats the limit.
func (e *LongError) Error() string {
	text := fmt.Sprintf("has more than %v unpacked, which is the limit of an input", e.Limit.Bytes)
	if e.Limit.Of != "" {
		text += ": " + e.Limit.Of
	}
	return text
}

// Hint says how to raise the limit; empty if there is too little memory.
func (e *LongError) Hint() string {
	if e.Limit.Of != "" {
		return ""
	}
	return "--input-limit raises it, and input.limit in a scenario for the files that it names"
}

// A KindError is the error of a name that is no regular file.
type KindError struct{ Mode fs.FileMode }

// Error formats the kind of the file.
func (e *KindError) Error() string {
	is := "no regular file"
	switch {
	case e.Mode&fs.ModeNamedPipe != 0:
		is = "a pipe"
	case e.Mode&fs.ModeSocket != 0:
		is = "a socket"
	case e.Mode&fs.ModeDevice != 0:
		is = "a device"
	}
	return "is " + is + "; a regular file is expected"
}

// orUsual returns the limit, or Usual if there is none.
func (l Limit) orUsual() Limit {
	if l.Bytes <= 0 {
		l.Bytes = Usual
	}
	return l
}

// Open opens a regular file and returns its size. Errors are *fs.PathError: of the system, a
// *KindError, or a *LongError if the file is too large. It checks a name before it opens it:
// opening a pipe may block, and opening a device may have effects.
func (l Limit) Open(name string) (*os.File, int64, error) {
	fail := func(err error) (*os.File, int64, error) {
		return nil, 0, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, 0, err
	}
	if err := regular(info); err != nil {
		return fail(err)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err = f.Stat()
	if err == nil {
		err = regular(info) // it may have been replaced
	}
	if l = l.orUsual(); err == nil && info.Size() > int64(l.Bytes) {
		err = &LongError{l}
	}
	if err != nil {
		_ = f.Close()
		return fail(err)
	}
	return f, info.Size(), nil
}

// regular returns an error for anything but a regular file.
func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return syscall.EISDIR
	case !info.Mode().IsRegular():
		return &KindError{info.Mode()}
	}
	return nil
}

// File reads a regular file as a whole. Errors are those of Open.
func (l Limit) File(name string) ([]byte, error) {
	f, size, err := l.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read only
	text, err := l.collect(f, size)
	if err != nil {
		if _, named := err.(*fs.PathError); !named {
			err = &fs.PathError{Op: "read", Path: name, Err: err}
		}
		return nil, err
	}
	return text, nil
}

// InFS reads a file of a file system, of any kind.
func (l Limit) InFS(root fs.FS, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read only
	return l.All(f)
}

// All reads a stream to its end. A longer one is a *LongError.
func (l Limit) All(r io.Reader) ([]byte, error) { return l.collect(r, 0) }

// collect reads to the end; size is the expected number of bytes.
func (l Limit) collect(r io.Reader, size int64) ([]byte, error) {
	r = l.Reader(r)
	text := make([]byte, 0, size+512) // as os.ReadFile: files of the system have 0 bytes and a text
	for len(text) < cap(text) {
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
	}
	rest, err := io.ReadAll(r)
	return append(text, rest...), err
}

// Reader returns a reader that fails with a *LongError beyond the limit.
func (l Limit) Reader(r io.Reader) *Reader {
	l = l.orUsual()
	return &Reader{in: r, left: int64(l.Bytes), limit: l}
}

// Unpacked returns a Reader that unpacks a gzipped stream, and passes others through. Packed and
// unpacked bytes are both bounded by the limit.
func (l Limit) Unpacked(r io.Reader) (*Reader, error) {
	b := bufio.NewReader(r)
	if head, _ := b.Peek(2); !Gzipped(head) {
		return l.Reader(b), nil
	}
	packed := l.Reader(b)
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	plain := l.Reader(z)
	plain.packed = packed
	return plain, nil
}

// Opening unpacks the beginning of gzipped data, as far as head allows, at most size bytes.
func Opening(head []byte, size int) []byte {
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil
	}
	text := make([]byte, size)
	n, _ := io.ReadFull(z, text) // head ends anywhere
	return text[:n]
}

// Gzipped reports whether data begins with gzip's magic number (RFC 1952).
func Gzipped(head []byte) bool { return len(head) > 1 && head[0] == 0x1f && head[1] == 0x8b }

// Archive reads the directory of a zip archive of size bytes. It unpacks nothing: callers check the
// sizes of members by Allows.
func Archive(r io.ReaderAt, size int64) (*zip.Reader, error) { return zip.NewReader(r, size) }

// Allows returns an error for more bytes than the limit.
func (l Limit) Allows(bytes uint64) error {
	if l = l.orUsual(); bytes > uint64(l.Bytes) {
		return &LongError{l}
	}
	return nil
}

// A Reader bounds what it reads by a limit.
type Reader struct {
	in     io.Reader
	left   int64
	limit  Limit
	packed *Reader    // packed data, if any
	long   *LongError // set once it has failed
}

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	if r.long != nil {
		return 0, r.long
	}
	// one more byte shows whether there is more
	n, err := r.in.Read(b[:min(int64(len(b)), r.left+1)])
	if int64(n) > r.left {
		r.long = &LongError{r.limit}
		n, err = int(r.left), r.long
	}
	r.left -= int64(n)
	return n, err
}

// Long returns the error of an exceeded limit, else nil. A parser may have reported it as another
// error.
func (r *Reader) Long() *LongError {
	if r.long == nil && r.packed != nil {
		return r.packed.Long()
	}
	return r.long
}
