package output

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Plan knows the files that a command reads, and those that it is going to write. Its zero value
// knows none.
type Plan struct {
	kept  []kept
	taken map[string]string // by real name: what for
	tried map[string]error  // by directory
}

// kept is a file that must stay as it is.
type kept struct {
	info fs.FileInfo
	what string
}

// Clash is a file that is wanted for two things.
type Clash struct {
	Name        string
	What, Other string // what it was to be now, and what it is already
	Kept        bool   // Other was told to Keep
}

// Error says which file is wanted for which two.
func (e *Clash) Error() string {
	if e.Kept {
		return fmt.Sprintf("%s: %s would overwrite %s", e.Name, e.What, e.Other)
	}
	return fmt.Sprintf("%s and %s would both be written to %s", e.Other, e.What, e.Name)
}

// Keep says that a file must not be overwritten under any of its names: "an input", say. What is
// no ordinary file cannot be.
func (p *Plan) Keep(info fs.FileInfo, what string) {
	if info.Mode().IsRegular() {
		p.kept = append(p.kept, kept{info, what})
	}
}

// Take says that a file is going to be written, and what it is to be. It is a *Clash if it is to be
// something else too, or must not be overwritten, whatever names it has; and an *fs.PathError if it
// cannot be written: its directory is tried, and a file that is there must be open to writing.
// Nothing is changed. A device or a pipe may be taken several times.
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

// try tries whether a place takes a file.
func (p *Plan) try(name string, at *place) error {
	if at.info != nil && at.info.Mode()&fs.ModeNamedPipe == 0 { // which would wait for a reader
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

// tryDirectory makes a file and takes it away.
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

// Below reports whether a file is in a directory or below it, whatever symbolic links are on the
// way. Both may be relative.
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
