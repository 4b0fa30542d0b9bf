// Package output is the one way in which collsim writes files. A file is written beside its place
// under another name, and takes the place when all of it has reached the disk: whatever ends the
// program or fills the disk, nobody finds half a file under its final name, and what was there
// before stays until then. A Plan says before anything is run what cannot be written.
//
// It knows nothing of what is written, and prints nothing. Nothing else opens a file for writing
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

// Write puts into a file what a function writes. A symbolic link goes on to point to where it did;
// a file that was there keeps its permissions; what is no ordinary file (a device, a pipe) is
// written to as it is. Errors are the function's, or *fs.PathError with this name.
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

// Bytes is Write for what is there already.
func Bytes(name string, text []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// place is where the content of a file is to be.
type place struct {
	real    string      // its name, without symbolic links; empty if it is special
	info    fs.FileInfo // of what is there, nil for nothing
	special bool        // neither a file nor a directory
}

// find follows a name to where it leads.
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

// maxLinks is how many symbolic links may follow each other.
const maxLinks = 40

// follow returns the absolute name of a file, or of one that could be made, without symbolic links.
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

// put writes beside the place, and then moves there.
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
	// Some file systems find out only now that they are full.
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

// flushed has a function write to a file, through a buffer.
func flushed(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// maxTemporary is how many files of one process may be on their way to a directory.
const maxTemporary = 1 << 16

// temporary makes a file that nobody else has, with the permissions of a new one. Its name is short
// whatever the final name is, and hidden.
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

// failed gives an error of the operating system the name that the caller knows, in place of that of
// a temporary file. What is no such error stays as it is.
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
