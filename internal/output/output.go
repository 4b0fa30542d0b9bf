// Package output is the only way in which collsim writes files. A file is written to a temporary
// name beside its final one, and renamed once it is on the disk. So a crash or a full disk leaves
// no partial file, and the previous file stays until then. A Plan reports files that cannot be
// written before anything is run.
//
// It knows nothing of the contents, and prints nothing. No other package opens a file for writing
// (asserted by internal/tidy).
package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write writes a file with a function. A symbolic link keeps its target; an existing file keeps its
// permissions; a device or a pipe is written directly. Errors are the function's, or *fs.PathError
// with this name.
func Write(name string, write func(io.Writer) error) error {
	at, err := find(name)
	if err != nil {
		return failed(name, err)
	}
	if at.special {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err == nil {
			err = errors.Join(flushed(f, write), f.Close())
		}
		return failed(name, err)
	}
	return failed(name, at.put(write))
}

// Bytes writes text to a file, as Write does.
func Bytes(name string, text []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// A place is the destination of a file.
type place struct {
	real    string      // name without symbolic links; empty if special
	info    fs.FileInfo // of the existing file, nil for none
	special bool        // neither a file nor a directory
}

// find resolves a name.
func find(name string) (at place, err error) {
	at.info, err = os.Stat(name)
	switch {
	case err == nil && at.info.IsDir():
		return at, syscall.EISDIR
	case err == nil && !at.info.Mode().IsRegular():
		at.special = true
		return at, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return at, err
	case err != nil:
		at.info = nil
	}
	at.real, err = follow(name)
	return at, err
}

// maxLinks bounds chains of symbolic links.
const maxLinks = 40

// follow returns the absolute name of an existing or future file, without symbolic links.
func follow(name string) (string, error) {
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err != nil {
			return "", err
		}
		name = filepath.Join(dir, filepath.Base(name))
		link, err := os.Readlink(name)
		if err != nil { // it is no link
			return filepath.Abs(name)
		}
		if name = link; !filepath.IsAbs(link) {
			name = filepath.Join(dir, link)
		}
	}
	return "", syscall.ELOOP
}

// put writes a temporary file beside the place, and renames it.
func (at *place) put(write func(io.Writer) error) (err error) {
	f, err := temporary(filepath.Dir(at.real))
	if err != nil {
		return err
	}
	done := false
	defer func() { // also when write panics
		if !done {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := flushed(f, write); err != nil {
		return err
	}
	if at.info != nil {
		if err := f.Chmod(at.info.Mode().Perm()); err != nil {
			return err
		}
	}
	// Some file systems report only here that they are full.
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) &&
		!errors.Is(err, syscall.EINVAL) {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), at.real); err != nil {
		return err
	}
	done = true
	return nil
}

// flushed calls write with a buffer on a file.
func flushed(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// maxTemporary bounds the temporary files of a process in a directory.
const maxTemporary = 1 << 16

// temporary creates a file with a new name and default permissions. The name is hidden, and short
// whatever the final name is.
func temporary(dir string) (*os.File, error) {
	for i := range maxTemporary {
		name := filepath.Join(dir, fmt.Sprintf(".collsim-%d-%d", os.Getpid(), i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fs.ErrExist
}

// failed returns an error of the system with the caller's name instead of a temporary file's. Other
// errors stay.
func failed(name string, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var number syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	case !errors.As(err, &number) && !errors.Is(err, fs.ErrExist):
		return err
	}
	return &fs.PathError{Op: "write", Path: name, Err: err}
}
