package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile puts a file in its place when it is complete: nobody sees half of it. What is no
// ordinary file (a device, a pipe) is written to as it is.
func writeFile(name string, text []byte) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return writeError(name, err)
		}
		return nil
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return writeError(name, err)
	}
	_, err = f.Write(text)
	for _, step := range []func() error{
		func() error { return f.Chmod(mode) },
		f.Close,
		func() error { return os.Rename(f.Name(), name) },
	} {
		if failed := step(); err == nil {
			err = failed
		}
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return writeError(name, err)
	}
	return nil
}

func writeError(name string, err error) error {
	e := fileError(name, err).(*usageError)
	if errors.Is(err, fs.ErrNotExist) {
		e.text = "there is no such directory"
	}
	e.text, e.hint = "cannot be written: "+e.text, ""
	return e
}
