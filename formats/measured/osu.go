package measured

import (
	"bytes"
	"regexp"
	"strings"

	"collsim/collective"
	"collsim/formats/internal/loglines"
	"collsim/unit"
)

// readOSU reads the output of the OSU micro-benchmarks, within any log: of MPI and of NCCL or RCCL
// (osu_xccl_…). A heading has library and test; the names of the columns follow, then rows of size
// and average latency in microseconds. With -f they have minimum, maximum (over ranks, of averages)
// and iterations too, which are not used; with --validation "Pass" or "Fail".
//
// Tests of two processes are send_recv between 2 ranks: a latency is half a round trip, and of a
// bandwidth, in MB/s of 10⁶, the time is that in which a message passes in each direction. Others
// do not state their ranks, and count the block of a rank where MPI does: Of.PerRank.
func readOSU(file string, text []byte) (*Data, error) {
	o := osuReader{reading: reading{file: file}, heading: osuHeading()}
	c := loglines.New()
	for line := range strings.Lines(string(text)) {
		o.line++
		for _, p := range c.Pieces(line) {
			o.read(p.Text)
		}
	}
	o.number()
	o.noteRuns()
	return o.done(o.line, "no row of size and latency follows a heading of OSU's")
}

// osuHeading matches a heading: library and name of a test.
func osuHeading() *regexp.Regexp {
	return regexp.MustCompile(`(OSU ((?:MPI|[A-Z]CCL)(?:-\w+)?|\S+) ?(.*?) Test)(?: v[\d.]+)?\s*$`)
}

func isOSU(text []byte) bool {
	return bytes.Contains(text, []byte("OSU ")) &&
		regexp.MustCompile(`\bOSU \S+ .*Test v\d`).Match(text)
}

type osuReader struct {
	reading
	heading *regexp.Regexp
	line    int
	of      Of
	prefix  []word
	times   func(size unit.Bytes, value float64) float64 // in microseconds; nil for tests not read
}

// read reads a line.
func (o *osuReader) read(line string) {
	if m := o.heading.FindStringSubmatch(line); m != nil {
		before, _, _ := strings.Cut(line, "OSU")
		o.prefix = words(o.line, strings.TrimSuffix(strings.TrimRight(before, " \t"), "#"))
		o.begin(m[1], m[2], m[3])
		return
	}
	all := words(o.line, line)
	if samePrefix(o.prefix, all) {
		all = all[len(o.prefix):]
	}
	switch {
	case len(all) > 2 && all[0].text == "#" && all[1].text == "Datatype:":
		o.of.Type = strings.TrimSuffix(all[2].text, ".")
	case len(all) >= 2 && o.times != nil && digits(all[0].text) && isNumber(all[1].text):
		o.row(all)
	}
}

// begin starts a table.
func (o *osuReader) begin(heading, library, test string) {
	o.of = Of{File: o.file, Heading: heading}
	o.times = func(_ unit.Bytes, value float64) float64 { return value }
	loop := func(messages float64) func(unit.Bytes, float64) float64 {
		return func(size unit.Bytes, rate float64) float64 { return messages * float64(size) / rate }
	}
	collectively, isLatency := strings.CutSuffix(test, " Latency")
	kind := kindOf(strings.TrimSuffix(collectively, " Personalized Exchange"))
	switch {
	case strings.Contains(library, "_"), kind == collective.Barrier:
		o.times = nil
	case isLatency && kind != 0:
		o.of.Kind, o.of.PerRank = kind, perRank(kind)
		return
	case test == "Latency":
	case test == "Bandwidth":
		o.times = loop(1)
	case test == "Bi-Directional Bandwidth":
		o.times = loop(2)
	default:
		o.times = nil
	}
	o.of.Kind, o.of.Ranks = collective.SendRecv, 2
	if o.times == nil {
		o.note(o.line, heading+" is left out: it times no call of a collective")
	}
}

// row parses a row.
func (o *osuReader) row(line []word) {
	size, err := whole64(line[0].text)
	if err != nil {
		o.refuse(o.problem(o.line, columnName(line[0].column), line[0].text, err.Error()))
		return
	}
	r := Row{Of: o.of, Line: o.line, Size: unit.Bytes(size), Root: -1, Wrong: -1}
	value, err := number(line[1].text)
	if err == nil {
		r.Time, err = inMicroseconds(o.times(r.Size, value))
	}
	if err != nil {
		o.refuse(o.problem(o.line, columnName(line[1].column), line[1].text, err.Error()))
		return
	}
	switch line[len(line)-1].text {
	case "Pass":
		r.Wrong = 0
	case "Fail":
		r.Wrong = 1
	}
	o.Rows = append(o.Rows, r)
}
