// Package input is the one way in which collsim reads what others wrote. Where a file is named it
// reads regular files alone, and of files, streams and what is packed in either no more than a
// limit, counted after unpacking. What goes on beyond it is an error with the name and the limit.
//
// It knows no format. Nothing else opens, reads whole or unpacks (asserted by internal/tidy).
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

// Usual is the limit where nobody asks for another.
const Usual = unit.GiB

// Limit is how many bytes an input may have, unpacked; Usual if that is 0.
type Limit struct {
	Bytes unit.Bytes
	Of    string // who leaves no more, for the error: "this machine has 2 GiB left"; or empty
}

// LongError is the error of an input that goes on beyond its limit.
type LongError struct{ Limit Limit }

// Error says how much was expected at most.
func (e *LongError) Error() string {
	text := fmt.Sprintf("has more than %v unpacked, which is the limit of an input", e.Limit.Bytes)
	if e.Limit.Of != "" {
		text += ": " + e.Limit.Of
	}
	return text
}

// Hint says how the limit is raised; empty where the memory is too little.
func (e *LongError) Hint() string {
	if e.Limit.Of != "" {
		return ""
	}
	return "--input-limit raises it, and input.limit in a scenario for the files that it names"
}

// KindError is the error of a name that stands for something else than a regular file.
type KindError struct{ Mode fs.FileMode }

// Error names what it is.
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

// orUsual is the limit itself, or Usual in place of none.
func (l Limit) orUsual() Limit {
	if l.Bytes <= 0 {
		l.Bytes = Usual
	}
	return l
}

// Open opens a regular file, and returns its size. Errors are *fs.PathError: of the system, a
// *KindError, or a *LongError if its size is beyond the limit. A name is looked at before it is
// opened, since opening a pipe waits and opening a device may do something.
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

// regular refuses what is no regular file.
func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return syscall.EISDIR
	case !info.Mode().IsRegular():
		return &KindError{info.Mode()}
	}
	return nil
}

// File reads a regular file whole. Errors are those of Open.
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

// InFS is File of a file in a file system, which may be of any kind.
func (l Limit) InFS(root fs.FS, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read only
	return l.All(f)
}

// All reads a stream to its end. What is beyond the limit is a *LongError.
func (l Limit) All(r io.Reader) ([]byte, error) { return l.collect(r, 0) }

// collect reads to the end what has, by its own account, so many bytes.
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

// Reader reads from another no more than the limit, and then fails with a *LongError.
func (l Limit) Reader(r io.Reader) *Reader {
	l = l.orUsual()
	return &Reader{in: r, left: int64(l.Bytes), limit: l}
}

// Unpacked is Reader of what a stream has, if it may be gzipped: both what it has and what comes of
// it keep the limit.
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

// Opening is the beginning of what is gzipped, at most size bytes, as far as head tells.
func Opening(head []byte, size int) []byte {
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil
	}
	text := make([]byte, size)
	n, _ := io.ReadFull(z, text) // the beginning of a file ends somewhere
	return text[:n]
}

// Gzipped reports whether something begins as gzip writes it (RFC 1952).
func Gzipped(head []byte) bool { return len(head) > 1 && head[0] == 0x1f && head[1] == 0x8b }

// Archive reads the directory of a zip archive of size bytes. Nothing is unpacked: what its members
// claim is for the caller to judge, by Allows.
func Archive(r io.ReaderAt, size int64) (*zip.Reader, error) { return zip.NewReader(r, size) }

// Allows is nil for a number of bytes within the limit.
func (l Limit) Allows(bytes uint64) error {
	if l = l.orUsual(); bytes > uint64(l.Bytes) {
		return &LongError{l}
	}
	return nil
}

// Reader is what keeps a limit.
type Reader struct {
	in     io.Reader
	left   int64
	limit  Limit
	packed *Reader    // what it is unpacked from; or nil
	long   *LongError // once it has failed
}

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	if r.long != nil {
		return 0, r.long
	}
	n, err := r.in.Read(b[:min(int64(len(b)), r.left+1)]) // one more tells the end from more
	if int64(n) > r.left {
		r.long = &LongError{r.limit}
		n, err = int(r.left), r.long
	}
	r.left -= int64(n)
	return n, err
}

// Long is the error of the limit, if that was met: a parser that met it may call it something else.
func (r *Reader) Long() *LongError {
	if r.long == nil && r.packed != nil {
		return r.packed.Long()
	}
	return r.long
}
