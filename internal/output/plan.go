package output

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Plan records the files that a command reads, and those that it will write. Its zero value is
// empty.
type Plan struct {
	kept  []kept
	taken map[string]string // use, by real name
	tried map[string]error  // by directory
}

// A kept file must not be overwritten.
type kept struct {
	info fs.FileInfo
	what string
}

// A Clash is the error of a file with two uses.
type Clash struct {
	Name        string
	What, Other string // new use, existing use
	Kept        bool   // Other is an argument of Keep
}

// Error formats the file and both uses.
func (e *Clash) Error() string {
	if e.Kept {
		return fmt.Sprintf("%s: %s would overwrite %s", e.Name, e.What, e.Other)
	}
	return fmt.Sprintf("%s and %s would both be written to %s", e.Other, e.What, e.Name)
}

// Keep protects a file from being overwritten under any of its names; what is its use, such as "an
// input". Devices and pipes are not protected.
func (p *Plan) Keep(info fs.FileInfo, what string) {
	if info.Mode().IsRegular() {
		p.kept = append(p.kept, kept{info, what})
	}
}

// Take registers a file to be written, and its use. It returns a *Clash if the file, under any
// name, has another use or is kept. It returns an *fs.PathError if the file cannot be written: it
// tries the directory, and an existing file must be writable. Nothing is changed. A device or a
// pipe may be taken several times.
func (p *Plan) Take(name, what string) error {
	at, err := find(name)
	if err != nil {
		return failed(name, err)
	}
	for _, k := range p.kept {
		if at.info != nil && os.SameFile(at.info, k.info) {
			return &Clash{Name: name, What: what, Other: k.what, Kept: true}
		}
	}
	if !at.special {
		if other, taken := p.taken[at.real]; taken {
			return &Clash{Name: name, What: what, Other: other}
		}
		if p.taken == nil {
			p.taken = map[string]string{}
		}
		p.taken[at.real] = what
	}
	return failed(name, p.try(name, &at))
}

// Any reports whether a file has been taken.
func (p *Plan) Any() bool { return len(p.taken) > 0 }

// try tests whether a place can be written.
func (p *Plan) try(name string, at *place) error {
	if at.info != nil && at.info.Mode()&fs.ModeNamedPipe == 0 { // a pipe would block
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if at.special {
		return nil
	}
	dir := filepath.Dir(at.real)
	err, known := p.tried[dir]
	if !known {
		if p.tried == nil {
			p.tried = map[string]error{}
		}
		err = tryDirectory(dir)
		p.tried[dir] = err
	}
	return err
}

// tryDirectory creates and removes a file.
func tryDirectory(dir string) error {
	f, err := temporary(dir)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(f.Name())
}

// Below reports whether a file is in a directory or below it, with all symbolic links resolved.
// Both may be relative.
func Below(dir, name string) (bool, error) {
	top, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false, failed(dir, err)
	}
	if top, err = filepath.Abs(top); err != nil {
		return false, err
	}
	real, err := follow(name)
	if err != nil {
		return false, failed(name, err)
	}
	inside, err := filepath.Rel(top, real)
	return err == nil && filepath.IsLocal(inside), nil
}
