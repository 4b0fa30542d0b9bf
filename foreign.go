package collsim

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/schedule/chakra"
	"collsim/schedule/foreign"
	"collsim/schedule/forestcoll"
	"collsim/schedule/goal"
	"collsim/schedule/msccl"
	"collsim/schedule/mscclpp"
	"collsim/schedule/sccl"
	"collsim/schedule/teccl"
)

// Format is a way to write a schedule down.
type Format struct {
	Name       string   // "msccl"
	About      string   // what it is
	Extensions []string // that its files usually have, without the dot

	dataless  bool // it tells sizes of messages, not what they hold
	protocol  bool // it has a protocol, that may be replaced
	strictNop bool
	runtimes  []string // whose limits it may be held to

	is   func(head []byte) bool // whether a file begins like one; nil: its extension says so
	read func(io.Reader, foreign.Options) (*foreign.File, error)
}

// textFormat is the name of our own text form.
const textFormat = "schedule"

// Formats lists what ReadSchedule reads. The first whose beginning a file has is its format.
func Formats() []Format {
	return []Format{
		{Name: textFormat, About: "collsim's own text form (docs/schedule.md)",
			Extensions: []string{"schedule"}, is: beginsWith("schedule"), read: readText},
		{Name: "msccl", About: "MSCCL XML, of Microsoft's and AMD's runtimes, and the compact dialect",
			Extensions: []string{"xml"}, protocol: true, runtimes: []string{"msccl", "rccl", "none"},
			is: beginsWith("<algo"), read: msccl.Read},
		{Name: "mscclpp", About: "MSCCL++ JSON execution plans", Extensions: []string{"json"},
			protocol: true, strictNop: true, runtimes: []string{"none"},
			is: hasKey("gpus", "num_threads_per_block", "reuse_resources"), read: mscclpp.Read},
		{Name: "goal", About: "GOAL text of LogGOPSim and ATLAHS: messages without data",
			Extensions: []string{"goal"}, dataless: true, is: beginsWith("num_ranks"),
			read: goal.Read},
		{Name: "sccl", About: "JSON algorithms of SCCL, msccl-tools and TACCL",
			Extensions: []string{"json"}, runtimes: []string{"none"},
			is: hasKey("msccl_type", "sccl_type"), read: sccl.Read},
		{Name: "teccl", About: "JSON schedules of TE-CCL", Extensions: []string{"json"},
			is:   hasKey("1-Epoch_Duration", "7-Flows", "8-Chunk paths", "TopologyParams"),
			read: teccl.Read},
		{Name: traceFormat, About: "Chakra execution traces of MLCommons, a file a rank: messages and " +
			"requests without data", Extensions: []string{"et"}, dataless: true,
			is: hasKey("ctrl_deps", "comm_type", "workload_graph"), read: readTraceFile},
		{Name: "forestcoll", About: "XML spanning trees of ForestColl", Extensions: []string{"xml"},
			is: beginsWith("<Algo"), read: forestcoll.Read},
	}
}

// headSize is how much of a file is looked at to tell its format.
const headSize = 4096

// ReadSchedule reads a schedule in any of Formats. name is what errors call it, and its extension
// counts where the beginning does not tell the format. What is wrong with the content is a
// *scenarios.Error with its line.
func ReadSchedule(name string, r io.Reader, o foreign.Options) (*foreign.File, error) {
	b := bufio.NewReaderSize(r, headSize)
	head, err := b.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("collsim: %s: %w", name, err)
	}
	f, ok := formatOf(name, head)
	if !ok {
		return nil, &scenarios.Error{File: name, Text: "of no known format", Hint: formatHint()}
	}
	o.File = name
	if text := f.refuses(&o); text != "" {
		return nil, &scenarios.Error{File: name, Text: text}
	}
	file, err := f.read(b, o)
	if err != nil {
		return nil, located(name, err)
	}
	file.Format = f.Name
	return file, nil
}

// ReadTrace reads a schedule that is in several files, one a rank: a Chakra trace. The files are in
// the order of their ranks; see chakra.Sort.
func ReadTrace(name string, files []chakra.Input, o foreign.Options) (*foreign.File, error) {
	f, _ := formatNamed(traceFormat)
	o.File = name
	if text := f.refuses(&o); text != "" {
		return nil, &scenarios.Error{File: name, Text: text}
	}
	file, err := chakra.Read(files, o)
	if err != nil {
		return nil, located(name, err)
	}
	file.Format = f.Name
	return file, nil
}

// RankInName stands for the rank in the name of a trace of a file a rank: "trace.{rank}.et".
const RankInName = "{rank}"

// traceFormat is the name of the format that has a file a rank.
const traceFormat = "chakra"

func rankName(name string, rank int) string {
	return strings.ReplaceAll(name, RankInName, strconv.Itoa(rank))
}

// ReadRanks reads the files that a name with RankInName stands for, from rank 0 up to the last that
// there is.
func ReadRanks(name string, read func(string) ([]byte, error)) (parts [][]byte, err error) {
	for rank := 0; ; rank++ {
		text, err := read(rankName(name, rank))
		if rank > 0 && errors.Is(err, fs.ErrNotExist) {
			return parts, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rankName(name, rank), unreadable(err))
		}
		parts = append(parts, text)
	}
}

// readTraceFile reads a trace of a single rank.
func readTraceFile(r io.Reader, o foreign.Options) (*foreign.File, error) {
	return chakra.Read([]chakra.Input{{Name: o.File, Reader: r}}, o)
}

// formatNamed is one of Formats.
func formatNamed(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// refuses says which option is not for a format; empty for none.
func (f *Format) refuses(o *foreign.Options) string {
	switch {
	case o.Protocol != "" && !f.protocol:
		return fmt.Sprintf("protocol %q cannot be chosen: %s files have none", o.Protocol, f.Name)
	case o.StrictNop && !f.strictNop:
		return "strict-nop is for mscclpp plans; this is " + f.Name
	case o.Runtime != "" && len(f.runtimes) == 0:
		return fmt.Sprintf("runtime %q cannot be chosen: %s files are for none", o.Runtime, f.Name)
	case o.Runtime != "" && !slices.Contains(f.runtimes, o.Runtime):
		return fmt.Sprintf("runtime %q: %s is expected of %s files", o.Runtime,
			strings.Join(f.runtimes, ", "), f.Name)
	case f.dataless && (o.Type != 0 || o.Op != 0):
		return "type and operator cannot be chosen: " + f.Name + " tells the sizes of messages alone"
	}
	return ""
}

// IsSchedule reports whether a file is a schedule, by its beginning or its extension: a scenario is
// not.
func IsSchedule(name string, head []byte) bool {
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		return false
	}
	_, ok := formatOf(name, head)
	return ok
}

// formatOf is the format of a file that begins so.
func formatOf(name string, head []byte) (Format, bool) {
	start := opening(head)
	for _, f := range Formats() {
		if f.is != nil && f.is(start) {
			return f, true
		}
	}
	extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
	for _, f := range Formats() {
		if extension != "json" && slices.Contains(f.Extensions, extension) {
			return f, true
		}
	}
	return Format{}, false
}

// opening is the beginning of a file behind blanks and comments: of XML (with its declaration), of
// GOAL, and lines that begin with # as our text form has them.
func opening(head []byte) []byte {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for {
		head = bytes.TrimLeft(head, " \t\r\n")
		skipped := false
		for _, c := range []struct{ from, to string }{{"<!--", "-->"}, {"<?", "?>"},
			{"#", "\n"}, {"//", "\n"}, {"/*", "*/"}} {
			if !bytes.HasPrefix(head, []byte(c.from)) {
				continue
			}
			_, rest, closed := bytes.Cut(head, []byte(c.to))
			if !closed {
				return nil
			}
			head, skipped = rest, true
			break
		}
		if !skipped {
			return head
		}
	}
}

// beginsWith makes a test for a first word.
func beginsWith(word string) func([]byte) bool {
	return func(head []byte) bool {
		rest, ok := bytes.CutPrefix(head, []byte(word))
		return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n>/"), rest[0]) >= 0)
	}
}

// hasKey makes a test for a JSON object that has one of these keys near its beginning.
func hasKey(keys ...string) func([]byte) bool {
	return func(head []byte) bool {
		if !bytes.HasPrefix(head, []byte("{")) {
			return false
		}
		return slices.ContainsFunc(keys, func(key string) bool {
			return bytes.Contains(head, []byte(`"`+key+`"`))
		})
	}
}

// formatHint lists the formats.
func formatHint() string {
	var list []string
	for _, f := range Formats() {
		list = append(list, fmt.Sprintf("%s (.%s)", f.Name, strings.Join(f.Extensions, ", .")))
	}
	return "formats are " + strings.Join(list, ", ")
}

// located is what is wrong with a file, with its line.
func located(name string, err error) error {
	var wrong *foreign.Error
	if errors.As(err, &wrong) {
		if wrong.File != "" {
			name = wrong.File // one of several
		}
		return &scenarios.Error{File: name, Line: wrong.Line, Text: wrong.Text, Hint: wrong.Hint}
	}
	return &scenarios.Error{File: name, Text: unprefixed(err)}
}

// readText reads our own text form. Options of the problem take the place of what the text says.
func readText(r io.Reader, o foreign.Options) (*foreign.File, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	s, err := schedule.Parse(string(text))
	var wrong *schedule.ParseError
	if errors.As(err, &wrong) {
		return nil, &foreign.Error{File: o.File, Line: wrong.Line, Text: wrong.Text}
	}
	if err != nil {
		return nil, err
	}
	spec, changed, err := respecified(s.Spec, o)
	if err != nil {
		return nil, err
	}
	if changed {
		if s, err = refit(s, spec); err != nil {
			return nil, err
		}
	}
	where := func(_, _, _ int) foreign.Place { return foreign.Place{Block: -1, Step: -1} }
	return &foreign.File{Name: s.Name, Schedule: s, Where: where}, nil
}

// respecified is a problem with what options ask for instead, and whether that is another one.
func respecified(spec collective.Spec, o foreign.Options) (collective.Spec, bool, error) {
	changed := o.As != 0 || o.Root != 0 || o.Type != 0 || o.Op != 0 || o.Count != 0 ||
		o.Bytes != 0 || o.Place != foreign.AsFile
	if o.As != 0 {
		spec.Kind = o.As
	}
	if o.Root != 0 {
		spec.Root = o.Root
	}
	if spec.Kind != collective.Barrier {
		spec.Type = orElse(o.Type, orElse(spec.Type, dtype.Float32))
	}
	switch {
	case !spec.Kind.Reduces() && spec.Kind != collective.Custom:
		spec.Op, spec.Avg, spec.Factor = 0, 0, 0
	case o.Op != 0:
		spec.Op, spec.Avg, spec.Factor = o.Op, o.Avg, o.Factor
	default:
		spec.Op = orElse(spec.Op, collective.Sum)
	}
	if o.Place != foreign.AsFile {
		spec.InPlace = o.Place == foreign.InPlace
	}
	switch {
	case (o.Count != 0 || o.Bytes != 0) && spec.Kind.Splits():
		return spec, changed, fmt.Errorf("the sizes of %v are in the file, block by block", spec.Kind)
	case o.Count != 0:
		spec.Count = o.Count
	case o.Bytes != 0:
		spec = spec.WithBytes(o.Bytes)
	}
	return spec, changed, nil
}

func orElse[T comparable](value, other T) T {
	var zero T
	if value == zero {
		return other
	}
	return value
}
