package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"collsim/formats/arrays"
	"collsim/internal/input"
	"collsim/internal/output"
	"collsim/run"
	"collsim/unit"
)

// lostError is an output that could not be written when what belongs there was known. What else
// there is has been written.
type lostError struct{ *usageError }

func (e *lostError) Unwrap() error { return e.usageError }

// writeFile puts a file in its place when it is complete.
func writeFile(name string, text []byte) error {
	if err := output.Bytes(name, text); err != nil {
		return &lostError{writeError(name, err)}
	}
	return nil
}

func writeError(name string, err error) *usageError {
	e := fileError(name, err).(*usageError)
	if errors.Is(err, fs.ErrNotExist) {
		e.Text = "there is no such directory"
	}
	e.Text, e.Hint = "cannot be written: "+e.Text, ""
	return e
}

// wasRead remembers a file that was read: nothing is to be written there.
func (a *app) wasRead(name string) {
	if info, err := os.Stat(name); err == nil {
		a.plan.Keep(info, "the input "+name)
	}
}

// readTakes is the memory for reading a schedule's file, as a multiple of its size: measured, 4
// (GOAL) to 5 (MSCCL).
const readTakes = 6

// fitsFile refuses a file that takes more memory to be read than there is.
func fitsFile(name string, free run.Memory) error {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || free.Bytes == 0 ||
		unit.Bytes(info.Size()) <= free.Bytes/readTakes {
		return nil // reading it reports what is wrong
	}
	return &usageError{File: name, Text: fmt.Sprintf("has %d MiB, and takes about %d times that of "+
		"memory to be read: %s has %v left", info.Size()>>20, readTakes, free.Of, free.Bytes)}
}

// limit bounds the bytes that are read of an input: by the flag, else by what is asked for, and
// never by more than there is memory to read it.
func (a *app) limit(asked unit.Bytes) input.Limit {
	l := input.Limit{Bytes: cmp.Or(unit.Bytes(a.inputLimit), asked, input.Usual)}
	free := freeMemory()
	if most := max(free.Bytes/readTakes>>20<<20, unit.MiB); free.Bytes > 0 && most < l.Bytes {
		l = input.Limit{Bytes: most, Of: fmt.Sprintf("%s has %d MiB left, and it takes about %d times "+
			"its size to be read", free.Of, free.Bytes>>20, readTakes)}
	}
	return l
}

// sizeFlag is the value of a flag that is a size.
type sizeFlag unit.Bytes

// Set implements pflag.Value.
func (s *sizeFlag) Set(text string) error {
	n, err := unit.ParseBytes(text)
	if err == nil && n < 1 {
		err = errors.New("more than nothing is expected")
	}
	if err != nil {
		return err
	}
	*s = sizeFlag(n)
	return nil
}

// String implements pflag.Value.
func (s *sizeFlag) String() string {
	if *s == 0 {
		return ""
	}
	return unit.Bytes(*s).String()
}

// Type implements pflag.Value.
func (s *sizeFlag) Type() string { return "SIZE" }

// readFile reads what an argument or a flag names.
func (a *app) readFile(name string) ([]byte, error) { return a.readWithin(name, 0) }

// readWithin reads a regular file, and remembers it.
func (a *app) readWithin(name string, limit unit.Bytes) ([]byte, error) {
	if err := fitsFile(name, freeMemory()); err != nil {
		return nil, err
	}
	text, err := a.limit(limit).File(name)
	if err == nil {
		a.wasRead(name)
	}
	return text, err
}

// readArrays reads inputs by arrays.ReadRanks.
func (a *app) readArrays(path string, w arrays.Want) ([]arrays.Array, error) {
	if a.inputLimit > 0 {
		w.Limit = unit.Bytes(a.inputLimit)
	}
	ranks, err := arrays.ReadRanks(path, w)
	if err == nil {
		for _, name := range ofRanks(path, len(ranks)) {
			a.wasRead(name)
		}
	}
	return ranks, err
}

// ofRanks returns the files that a name of arrays stands for: one a rank with {rank} in it.
func ofRanks(path string, ranks int) []string {
	if !strings.Contains(path, rankInName) {
		return []string{path}
	}
	var names []string
	for r := range ranks {
		names = append(names, strings.ReplaceAll(path, rankInName, strconv.Itoa(r)))
	}
	return names
}

const rankInName = "{rank}"

// reading has package run read its files so that they are remembered, and know what memory there
// is.
func (a *app) reading(o run.LoadOptions) run.LoadOptions {
	o.Read, o.ReadArrays, o.Free = a.readWithin, a.readArrays, freeMemory()
	o.Open = func(name string, limit unit.Bytes) (io.ReadCloser, error) {
		if err := fitsFile(name, freeMemory()); err != nil {
			return nil, err
		}
		f, _, err := a.limit(limit).Open(name)
		if err == nil {
			a.wasRead(name)
		}
		return f, err
	}
	o.Limit, o.Executors = unit.Bytes(a.inputLimit), executorNames()[1:]
	return o
}

// take says, before anything is run, that a file is going to be written, and refuses what cannot
// be: a clash is a *output.Clash, all else a *usageError.
func (a *app) take(name, what string) error {
	if name == "" || name == "-" {
		return nil
	}
	a.keepStreams()
	err := a.plan.Take(name, what)
	var clash *output.Clash
	switch {
	case err == nil:
		return nil
	case errors.As(err, &clash):
		return clash
	}
	return writeError(name, err)
}

// keepStreams has files that are standard input or output stay as they are.
func (a *app) keepStreams() {
	if a.kept {
		return
	}
	a.kept = true
	for _, s := range []struct {
		stream any
		what   string
	}{{a.in, "standard input"}, {a.stdout.w, "standard output"}} {
		if f, ok := s.stream.(*os.File); ok {
			if info, err := f.Stat(); err == nil {
				a.plan.Keep(info, s.what)
			}
		}
	}
}

// takeOne claims the one output of a command: take, as an error of usage.
func (a *app) takeOne(name, flag string) error { return usage(a.take(name, flag)) }

// usage words a clash for a reader.
func usage(err error) error {
	var clash *output.Clash
	if !errors.As(err, &clash) {
		return err
	}
	if clash.Kept {
		return &usageError{File: clash.Name, Text: clash.What + " would overwrite " + clash.Other}
	}
	return &usageError{Text: clash.Error()}
}
