package collsim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"collsim/device"
	"collsim/scenarios"
)

// Table prints reports as lines of 80 columns where that is possible: nccl-tests' first nine
// columns in its order, then %bound, the time that no schedule beats as a share of the time. All
// else is behind a #. With more than one algorithm a table of times follows, size × algorithm.
func Table(reports ...*Report) string {
	var b strings.Builder
	var results []*Result
	for i, r := range reports {
		if i > 0 {
			b.WriteString("\n")
		}
		r.table(&b)
		results = append(results, r.Results...)
	}
	numericsTable(&b, results)
	b.WriteString("#\n")
	for _, line := range append(summary(results), skipLines(reports)...) {
		b.WriteString("# " + line + "\n")
	}
	for _, r := range reports {
		if line := r.next(); line != "" {
			b.WriteString("# " + line + "\n")
		}
	}
	return b.String()
}

// columns is the width of a terminal.
const columns = 80

// table prints one report without what is summed up over all.
func (r *Report) table(b *strings.Builder) {
	s := r.Scenario
	comment(b, "collsim "+Version, s.Name, seedText(s.Points))
	for _, set := range s.Set {
		comment(b, "set "+set)
	}
	for i, section := range split(r.Results, sectionOf) {
		at := section[0].Point
		axes := axesText(at, true)
		if i > 0 || axes != "" {
			b.WriteString("#\n")
		}
		if axes != "" {
			comment(b, axes)
		}
		comment(b, append(halves(section[0].network), deviceText(at.Device), simText(at.Sim))...)
		for _, variant := range split(section, (*Result).variant) {
			for _, group := range split(variant, (*Result).heading) {
				b.WriteString("#\n")
				comment(b, group[0].heading())
				writeRows(b, group)
			}
			writeMatrix(b, variant)
		}
	}
}

// halves cuts a text that is too long for a line behind its colon.
func halves(text string) []string {
	head, tail, ok := strings.Cut(text, ": ")
	if !ok || utf8.RuneCountInString("# "+text) <= columns {
		return []string{text}
	}
	return []string{head + ":", tail}
}

// split makes parts of equal key, in the order in which the keys first appear.
func split(results []*Result, key func(*Result) string) (parts [][]*Result) {
	place := map[string]int{}
	for _, r := range results {
		k := key(r)
		i, ok := place[k]
		if !ok {
			i = len(parts)
			place[k] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], r)
	}
	return parts
}

// sectionOf names network, device and the way time is counted.
func sectionOf(r *Result) string {
	p := r.Point
	return strings.Join([]string{axesText(p, true), r.network, deviceText(p.Device),
		simText(p.Sim)}, "\n")
}

// variant names all by which results are told apart, but for section, algorithm and columns.
func (r *Result) variant() string {
	p := r.Point
	text := p.Spec.Kind.String()
	if p.Collective != "" {
		text = p.Collective + ": " + text
	}
	return text + "\n" + r.extras()
}

// heading names a group of rows.
func (r *Result) heading() string {
	name, extras, _ := strings.Cut(r.variant(), "\n")
	return name + " " + r.Algorithm.String() + r.choice() + extras
}

// choice says that an algorithm was chosen, and from how many.
func (r *Result) choice() string {
	if r.Candidates == nil {
		return ""
	}
	ran := 0
	for _, c := range r.Candidates {
		if c.Time >= 0 {
			ran++
		}
	}
	return fmt.Sprintf(", the fastest of %d", ran)
}

// extras are what else varies.
func (r *Result) extras() string {
	text := ""
	if r.Point.Spec.InPlace {
		text += ", in place"
	}
	if axes := axesText(r.Point, false); axes != "" {
		text += ", " + axes
	}
	return text + r.Gradient.words()
}

// axesText prints what [sweep] set: of the machine, or of the collective; not what has a column.
func axesText(p *scenarios.Point, machine bool) string {
	var list []string
	for _, a := range p.Axes {
		table, key, _ := strings.Cut(a.Path, ".")
		isMachine := table == "topology" || table == "device" || table == "sim"
		hasColumn := strings.HasPrefix(table, "collective") && slices.Contains([]string{"bytes",
			"count", "dtype", "op", "root", "kind", "algorithm", "in_place"}, key)
		if isMachine == machine && !hasColumn {
			list = append(list, fmt.Sprintf("%s = %v", a.Path, a.Value))
		}
	}
	return strings.Join(list, ", ")
}

func seedText(points []*scenarios.Point) string {
	seed := shared(points, func(p *scenarios.Point) int64 { return p.Seed })
	if seed == nil {
		return "several seeds"
	}
	return fmt.Sprintf("seed %d", seed)
}

// deviceText names a device, and what of it is not its preset's.
func deviceText(d device.Device) string {
	text := "device " + d.Name
	preset, err := device.Lookup(d.Name)
	if err != nil {
		return text
	}
	for _, figure := range []struct {
		name      string
		has, owns any
	}{
		{"overhead", d.Overhead, preset.Overhead},
		{"reduce_rate", d.ReduceRate, preset.ReduceRate},
		{"copy_rate", d.CopyRate, preset.CopyRate},
		{"lane_rate", d.LaneRate, preset.LaneRate},
		{"slot_latency", d.SlotLatency, preset.SlotLatency},
		{"offload", d.Offload, preset.Offload},
		{"queue", d.Queue, preset.Queue},
		{"send_buffer", d.SendBuffer, preset.SendBuffer},
		{"eager_limit", d.EagerLimit, preset.EagerLimit},
		{"receives_ahead", d.ReceivesAhead, preset.ReceivesAhead},
		{"launch", d.Launch, preset.Launch},
		{"latency", d.Own.Latency, preset.Own.Latency},
		{"efficiency", d.Own.Efficiency, preset.Own.Efficiency},
	} {
		if figure.has != figure.owns {
			text += fmt.Sprintf(", %s %v", figure.name, figure.has)
		}
	}
	if n := len(d.Ranges); n > 0 {
		text += ", " + plural(n, "range") + " of messages"
	}
	return text
}

// simText says how time is counted, where that is not the usual way.
func simText(s scenarios.Sim) string {
	if s.Sharing == "fluid" {
		return ""
	}
	text := "sharing " + s.Sharing
	if s.Segment > 0 {
		text += ", segments of " + s.Segment.String()
	}
	if s.Switching != "cut-through" {
		text += ", " + s.Switching
	}
	return text
}

// comment writes parts behind a #, on a line of their own where they do not fit beside each other.
func comment(b *strings.Builder, parts ...string) {
	line := "#"
	for i, part := range slices.DeleteFunc(parts, func(s string) bool { return s == "" }) {
		gap := "   "
		if i == 0 {
			gap = " "
		}
		if i > 0 && utf8.RuneCountInString(line+gap+part) > columns {
			b.WriteString(line + "\n")
			line, gap = "#", "   "
		}
		line += gap + part
	}
	b.WriteString(line + "\n")
}

// headings of the columns, with their units, and the width of each with the blank before it.
var (
	headings = []string{"size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong",
		"%bound"}
	units  = []string{"(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", ""}
	widths = []int{12, 11, 8, 6, 5, 9, 7, 7, 7, 8}
)

// writeRows prints results under their headings. A column that needs more room takes it from the
// first.
func writeRows(b *strings.Builder, results []*Result) {
	rows := make([][]string, 0, len(results))
	for _, r := range results {
		rows = append(rows, r.cells())
	}
	width := slices.Clone(widths)
	rest := columns
	for c := len(width) - 1; c >= 0; c-- {
		if c == 0 {
			width[0] = max(rest, 6)
		}
		for _, row := range rows {
			width[c] = max(width[c], 1+len(row[c]))
		}
		rest -= width[c]
	}
	writeLine(b, "#", headings, width)
	writeLine(b, "#", units, width)
	for _, row := range rows {
		writeLine(b, "", row, width)
	}
}

// writeLine prints cells flush right; the mark takes the first column's first place.
func writeLine(b *strings.Builder, mark string, cells []string, width []int) {
	line := mark
	for c, cell := range cells {
		w := width[c]
		if c == 0 {
			w -= len(mark)
		}
		line += fmt.Sprintf("%*s", w, cell)
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// missing stands where there is no value, as in nccl-tests.
const missing = "N/A"

// cells are a result's values by column.
func (r *Result) cells() []string {
	spec := r.Point.Spec
	cells := []string{fmt.Sprint(int64(spec.Bytes())), fmt.Sprint(r.count()), spec.Type.NCCL(),
		r.op(), fmt.Sprint(r.root()), r.microseconds()}
	for _, rate := range []func() (float64, bool){r.AlgBW, r.BusBW} {
		text := missing
		if bw, ok := rate(); ok {
			text = fmt.Sprintf("%.2f", bw)
		}
		cells = append(cells, text)
	}
	wrong, reached := missing, missing
	if r.Numbers != Off {
		wrong = fmt.Sprint(r.Wrong)
	}
	if share, ok := r.BoundReached(); ok {
		reached = percent(share)
	}
	return append(cells, wrong, reached)
}

// percent is a share with a decimal. What is not quite all is not called 100.
func percent(share float64) string {
	if tenths := math.Round(share * 1000); tenths != 1000 || share >= 1 {
		return fmt.Sprintf("%.1f", share*100)
	}
	return "99.9"
}

// microseconds is the time as nccl-tests prints it.
func (r *Result) microseconds() string {
	if !r.Timed {
		return missing
	}
	return fmt.Sprintf("%.2f", float64(r.Time)/1e6)
}
