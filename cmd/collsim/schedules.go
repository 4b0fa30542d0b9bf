package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
	"collsim/formats/chakra"
	"collsim/internal/input"
	"collsim/internal/nearest"
	"collsim/scenarios"
	"collsim/unit"
)

// fileFlags say how a schedule from a file is taken.
type fileFlags struct {
	as, dtype, op, bytes, protocol, runtime, order string
	root                                           int
	count                                          int64
	strictNop, inPlace, outOfPlace                 bool

	flags *pflag.FlagSet
}

func (o *fileFlags) register(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.as, "as", "",
		"judge a file as this `KIND` of collective, whatever it calls itself")
	f.IntVar(&o.root, "root", 0, "root `RANK` of a kind that has one")
	f.StringVar(&o.bytes, "bytes", "", "`SIZE` as in nccl-tests; without it, the least that every "+
		"part of the file can do")
	f.Int64Var(&o.count, "count", 0, "instead of that, `N` elements as in the NCCL call")
	f.StringVar(&o.dtype, "dtype", "", "`TYPE` of an element (float32)")
	f.StringVar(&o.op, "op", "", "operator `OP` of a kind that reduces (sum)")
	f.StringVar(&o.protocol, "protocol", "", "replace the file's protocol by `NAME`: Simple, LL, "+
		"LL128")
	f.BoolVar(&o.strictNop, "strict-nop", false, "hold that nop alone orders the operations of an "+
		"MSCCL++ thread block")
	f.StringVar(&o.runtime, "runtime", "", "hold the file to the limits of `NAME`: msccl, rccl, none")
	f.StringVar(&o.order, "order", "", "take calls of a trace that nothing orders in the order of "+
		"their `KEY`: id, time")
	f.BoolVar(&o.inPlace, "in-place", false, "take input and output as one buffer")
	f.BoolVar(&o.outOfPlace, "out-of-place", false, "take them as two")
	f.SortFlags = false
}

// given returns the first of these flags that is given, empty for none.
func (o *fileFlags) given() string {
	return changed(o.flags, "as", "root", "bytes", "count", "dtype", "op", "protocol",
		"strict-nop", "runtime", "order", "in-place", "out-of-place")
}

// changed returns the first of some flags that is given, empty for none.
func changed(flags *pflag.FlagSet, names ...string) string {
	for _, name := range names {
		if flags.Changed(name) {
			return name
		}
	}
	return ""
}

// options returns the flags as options of package formats.
func (o *fileFlags) options() (f formats.Options, err error) {
	f = formats.Options{Root: o.root, Count: o.count, StrictNop: o.strictNop}
	if o.as != "" {
		if f.As, err = collective.ParseKind(o.as); err != nil {
			e := kindError(o.as).(*usageError)
			e.Text = strings.Replace(e.Text, "--kind", "--as", 1)
			return f, e
		}
	}
	if o.dtype != "" {
		if f.Type, err = dtype.Parse(o.dtype); err != nil {
			return f, flagValue("dtype", o.dtype, err)
		}
	}
	if o.op != "" {
		if f.Op, f.Factor, err = collective.ParseOp(o.op); err != nil {
			return f, flagValue("op", o.op, err)
		}
	}
	if o.bytes != "" {
		if f.Bytes, err = unit.ParseBytes(o.bytes); err != nil {
			return f, flagValue("bytes", o.bytes, err)
		}
	}
	if f.Protocol, err = oneOf("protocol", o.protocol, "Simple", "LL", "LL128"); err != nil {
		return f, err
	}
	if f.Runtime, err = oneOf("runtime", o.runtime, "msccl", "rccl", "none"); err != nil {
		return f, err
	}
	if f.Order, err = oneOf("order", o.order, "id", "time"); err != nil {
		return f, err
	}
	switch {
	case o.bytes != "" && o.flags.Changed("count"):
		return f, &usageError{Text: "--bytes and --count are both given; one of the two is expected"}
	case o.inPlace && o.outOfPlace:
		return f, &usageError{Text: "--in-place and --out-of-place are both given"}
	case o.flags.Changed("count") && o.count < 1:
		return f, &usageError{Text: fmt.Sprintf("--count %d: at least 1 is expected", o.count)}
	case o.bytes != "" && f.Bytes < 1:
		return f, &usageError{Text: "--bytes " + o.bytes + ": more than nothing is expected"}
	case o.root < 0:
		return f, &usageError{Text: fmt.Sprintf("--root %d: a rank is expected", o.root)}
	case o.inPlace:
		f.Place = formats.InPlace
	case o.outOfPlace:
		f.Place = formats.OutOfPlace
	}
	return f, nil
}

// flagValue returns the error of a flag's value.
func flagValue(flag, value string, err error) error {
	_, text, found := strings.Cut(err.Error(), ": ") // without the package
	if !found {
		text = err.Error()
	}
	text = strings.TrimPrefix(text, fmt.Sprintf("%q: ", value))
	return &usageError{Text: fmt.Sprintf("--%s %q: %s", flag, value, text)}
}

// oneOf returns the name among some that a flag gives, whatever its case.
func oneOf(flag, value string, names ...string) (string, error) {
	if value == "" {
		return "", nil
	}
	for _, name := range names {
		if strings.EqualFold(name, value) {
			return name, nil
		}
	}
	e := &usageError{Text: fmt.Sprintf("--%s %q: %s is expected", flag, value,
		strings.Join(names, ", "))}
	if near := nearest.To(value, names, 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "?"
	}
	return "", e
}

// opened is a file that an argument names, opened; or the files of a trace, one a rank.
type opened struct {
	io.Reader
	name  string
	head  []byte
	limit input.Limit
	ranks []chakra.Input // of a trace; else nil
	close func() error
}

// open opens what an argument names: a file, an example, standard input.
func (a *app) open(name string) (*opened, error) {
	in := &opened{name: name, limit: a.limit(0), close: func() error { return nil }}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return in, in.directory(a.readFile)
	case strings.Contains(name, formats.RankInName):
		return in, in.numbered(a.readFile)
	}
	var r io.Reader
	if name == "-" {
		r = a.in
	} else if strings.HasPrefix(name, "example:") {
		text, err := a.read(name)
		if err != nil {
			return nil, err
		}
		r = bytes.NewReader(text)
	} else {
		if err := fitsFile(name, freeMemory()); err != nil {
			return nil, err
		}
		f, _, err := a.limit(0).Open(name)
		if err != nil {
			return nil, withoutCommand(name, fileError(name, err))
		}
		a.wasRead(name)
		r, in.close = f, f.Close
	}
	const enough = 4096 // to recognise a format
	b := bufio.NewReaderSize(r, enough)
	head, err := b.Peek(enough)
	if err != nil && err != io.EOF {
		_ = in.close()
		return nil, fileError(name, err)
	}
	in.Reader, in.head = b, head
	return in, nil
}

// directory takes in the trace that a directory holds, one file a rank: those that end in .et, or
// else in .json or .json.gz.
func (in *opened) directory(read func(string) ([]byte, error)) (err error) {
	var names []string
	for _, pattern := range []string{"*.et", "*.json", "*.json.gz"} {
		if err == nil && len(names) == 0 {
			names, err = filepath.Glob(filepath.Join(in.name, pattern)) // the pattern is right
		}
	}
	if err == nil && len(names) == 0 {
		return &usageError{File: in.name, Text: "a directory without files of a trace (NAME.RANK.et, " +
			".json or .json.gz)", Hint: "name a File: collsim list formats"}
	}
	if err == nil {
		names, err = chakra.Sort(names)
	}
	if err != nil {
		return &usageError{File: in.name, Text: err.Error()}
	}
	for _, name := range names {
		text, err := read(name)
		if err != nil {
			return fileError(name, err)
		}
		in.ranks = append(in.ranks, chakra.Input{Name: name, Reader: bytes.NewReader(text)})
	}
	return nil
}

// numbered takes in the files that a name with {rank} stands for.
func (in *opened) numbered(read func(string) ([]byte, error)) error {
	parts, err := formats.ReadParts(in.name, read)
	if err != nil {
		return &usageError{Text: err.Error()}
	}
	for rank, part := range parts {
		name := strings.ReplaceAll(in.name, formats.RankInName, fmt.Sprint(rank))
		in.ranks = append(in.ranks, chakra.Input{Name: name, Reader: bytes.NewReader(part)})
	}
	return nil
}

// isSchedule reports whether it is to be read as a schedule. A scenario is called .toml, or begins
// like none of the formats.
func (in *opened) isSchedule() bool {
	if in.ranks != nil || formats.IsSchedule(in.name, in.head) {
		return true
	}
	extension := strings.TrimPrefix(filepath.Ext(in.name), ".")
	return in.name != "-" && !strings.HasPrefix(in.name, "example:") &&
		!slices.Contains([]string{"", "toml"}, extension)
}

// readSchedule reads a schedule of any format.
func (in *opened) readSchedule(o formats.Options) (f *formats.File, err error) {
	o.Limit = in.limit.Bytes
	if filepath.Ext(in.name) == ".toml" {
		return nil, notSchedule(in.name)
	}
	if in.ranks != nil {
		f, err = formats.ReadTrace(in.name, in.ranks, o)
	} else {
		f, err = formats.Read(in.name, in, o)
	}
	if what, hint := foreign(in.head); err != nil && what != "" {
		return nil, &usageError{File: in.name, Text: what, Hint: hint}
	}
	if err != nil && bytes.Contains(in.head, []byte("busbw")) {
		return nil, &usageError{File: in.name, Text: "a log of nccl-tests is no schedule",
			Hint: "it is for collsim calibrate --from, compare and diagnose"}
	}
	return f, err
}

// exampleFile returns the content of a file beside the examples: "example:allpairs.xml".
func exampleFile(name string) ([]byte, bool) {
	text, err := scenarios.ExampleFile(name)
	return text, err == nil && filepath.Ext(name) != ".toml"
}
