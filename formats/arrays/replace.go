package arrays

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// replace puts a file in its place when it is complete: nobody sees half of it. What is no ordinary
// file is written to as it is; a symbolic link goes on to point to where it did.
func replace(path string, write func(io.Writer) error) error {
	err := place(path, func(f *os.File) error {
		b := bufio.NewWriter(f)
		if err := write(b); err != nil {
			return err
		}
		return b.Flush()
	})
	if err != nil {
		e := systemError(path, err)
		e.Text = "cannot be written: " + e.Text
		return e
	}
	return nil
}

func place(path string, write func(*os.File) error) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		if !info.Mode().IsRegular() {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return finish(f, write)
		}
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = finish(f, func(f *os.File) error {
		if err := write(f); err != nil {
			return err
		}
		return f.Chmod(mode)
	})
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// finish writes to a file and closes it; the first error counts.
func finish(f *os.File, write func(*os.File) error) error {
	err := write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
