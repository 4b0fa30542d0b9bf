package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"collsim/formats/chakra"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/opgraph"
	"collsim/internal/input"
)

// Read reads a schedule in any format of Table, gzipped or not. name appears in errors; its
// extension decides the format if the beginning of the file does not. Errors in the content are
// *Error with the line.
func Read(name string, r io.Reader, o Options) (*File, error) {
	b := bufio.NewReaderSize(r, HeadSize)
	head, err := b.Peek(HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f, ok := Sniff(name, head)
	if !ok {
		return nil, &Error{File: name, Text: foreign.Unknown, Hint: Hint()}
	}
	plain, err := input.Limit{Bytes: o.Limit}.Unpacked(b)
	if err != nil {
		return nil, &Error{File: name, Text: err.Error()}
	}
	o.File = name
	if text := f.refuses(&o); text != "" {
		return nil, &Error{File: name, Text: text}
	}
	file, err := f.read(plain, o)
	if long := plain.Long(); long != nil {
		return nil, foreign.Long(name, long, err)
	}
	if err != nil {
		return nil, located(name, err)
	}
	file.Format = f.Name
	return file, nil
}

// HeldTo returns a file of a dataless format as if it had been read with o: checked against o.As
// and o.Root. No other option applies to such a file.
func HeldTo(f *File, o Options) (*File, error) {
	held, err := opgraph.HeldTo(f, &o)
	if err != nil {
		return nil, located(o.File, err)
	}
	return held, nil
}

// ReadTrace reads a schedule that has a file for each rank: a trace of Chakra, or of PyTorch's
// profiler. The files are in the order of their ranks; see chakra.Sort.
func ReadTrace(name string, files []Part, o Options) (*File, error) {
	f, _ := Lookup(Trace)
	if len(files) > 0 { // the first decides between the two formats
		files = slices.Clone(files)
		b := bufio.NewReaderSize(files[0].Reader, HeadSize)
		files[0].Reader = b
		head, err := b.Peek(HeadSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", files[0].Name, err)
		}
		if of, known := Sniff(files[0].Name, head); known && of.Name == Profile {
			f = of
		}
	}
	o.File = name
	if text := f.refuses(&o); text != "" {
		return nil, &Error{File: name, Text: text}
	}
	file, err := chakra.Read(files, o)
	if err != nil {
		return nil, located(name, err)
	}
	return file, nil
}

// Part is one rank's file of a trace.
type Part = chakra.Input

// RankInName stands for the rank in the name of a trace with a file for each rank:
// "trace.{rank}.et".
const RankInName = "{rank}"

// PartName returns the name of a rank's file.
func PartName(name string, rank int) string {
	return strings.ReplaceAll(name, RankInName, strconv.Itoa(rank))
}

// ReadParts reads the files of a name with RankInName, from rank 0 up to the last that exists.
func ReadParts(name string, read func(string) ([]byte, error)) (parts [][]byte, err error) {
	for rank := 0; ; rank++ {
		text, err := read(PartName(name, rank))
		if rank > 0 && errors.Is(err, fs.ErrNotExist) {
			return parts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", PartName(name, rank), Unreadable(err))
		}
		parts = append(parts, text)
	}
}

// Unreadable returns the reason why a file cannot be read, without its name.
func Unreadable(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if long := (*input.LongError)(nil); errors.As(err, &long) && long.Hint() != "" {
		return fmt.Errorf("cannot be read: %w; %s", err, long.Hint())
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// located makes an error about a file an *Error with the file's name.
func located(name string, err error) error {
	var wrong *Error
	if errors.As(err, &wrong) {
		at := *wrong
		if at.File == "" { // else one of several
			at.File = name
		}
		if strings.HasPrefix(at.Text, foreign.Unknown) {
			at.Hint = Hint()
		}
		return &at
	}
	return &Error{File: name, Text: err.Error()}
}

// readTraceFile reads a trace of one rank.
func readTraceFile(r io.Reader, o Options) (*File, error) {
	return chakra.Read([]Part{{Name: o.File, Reader: r}}, o)
}
