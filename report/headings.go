package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"collsim/device"
	"collsim/internal/prose"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// writeHead says which scenario it is.
func writeHead(b *strings.Builder, s *run.Scenario) {
	comment(b, "collsim "+run.Version, s.Name, seedText(run.AllPoints(s)))
	for _, set := range s.Set {
		comment(b, "set "+set)
	}
}

// writeMachine says on which network and device, and how time is counted.
func writeMachine(b *strings.Builder, r *run.Result) {
	comment(b, append(halves(r.Network), deviceText(r.Point.Device), simText(r.Point.Sim),
		benchmarkText(r.Point))...)
}

// comment writes parts behind a #, on a line of their own where they do not fit beside each other.
func comment(b *strings.Builder, parts ...string) {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	writeLines(b, "", prose.Fill(parts, "   ", prose.Columns, "# ", "#   "))
}

// writeLines writes lines, each behind a start.
func writeLines(b *strings.Builder, start string, lines []string) {
	for _, line := range lines {
		b.WriteString(start + line + "\n")
	}
}

// writeHeading writes the heading of a group of rows behind a #. A long one is cut behind a colon,
// if it has one, and between words.
func writeHeading(b *strings.Builder, text string) {
	start := "# "
	for _, part := range halves(text) {
		writeLines(b, "", prose.Wrap(part, prose.Columns, start, "#   "))
		start = "#   "
	}
}

// halves cuts a text that is too long for a line behind its colon.
func halves(text string) []string {
	head, tail, ok := strings.Cut(text, ": ")
	if !ok || utf8.RuneCountInString("# "+text) <= prose.Columns {
		return []string{text}
	}
	return []string{head + ":", tail}
}

// split makes parts of equal key, in the order in which the keys first appear.
func split(results []*run.Result, key func(*run.Result) string) (parts [][]*run.Result) {
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
func sectionOf(r *run.Result) string {
	p := r.Point
	return strings.Join([]string{axesText(p, true), r.Network, deviceText(p.Device),
		simText(p.Sim), benchmarkText(p)}, "\n")
}

// variant names all by which results are told apart, but for section, algorithm and columns.
func variant(r *run.Result) string {
	p := r.Point
	text := p.Spec.Kind.String()
	if p.Collective != "" {
		text = p.Collective + ": " + text
	}
	return text + "\n" + extras(r)
}

// heading names a group of rows.
func heading(r *run.Result) string {
	name, extras, _ := strings.Cut(variant(r), "\n")
	return name + " " + r.Algorithm.String() + choice(r) + extras
}

// headingPicked names a result, with what its algorithm has picked.
func headingPicked(r *run.Result) string {
	if r.Picked.What == "" {
		return heading(r)
	}
	return heading(r) + ", as " + r.Picked.String()
}

// choice says that an algorithm was chosen, and from how many.
func choice(r *run.Result) string {
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
func extras(r *run.Result) string {
	text := ""
	if r.Point.Spec.InPlace {
		text += ", in place"
	}
	if axes := axesText(r.Point, false); axes != "" {
		text += ", " + axes
	}
	return text + gradientWords(r.Gradient)
}

// axesText prints what [sweep] set: of the machine, or of the collective; not what has a column.
func axesText(p *scenarios.Point, machine bool) string {
	var list []string
	for _, a := range p.Axes {
		table, _, _ := strings.Cut(a.Path, ".")
		isMachine := slices.Contains([]string{"topology", "device", "sim", "benchmark"}, table)
		if isMachine == machine && !hasColumn(a.Path) {
			list = append(list, fmt.Sprintf("%s = %v", a.Path, a.Value))
		}
	}
	return strings.Join(list, ", ")
}

// hasColumn reports whether a swept key is a column of the table, or in the heading of its own.
func hasColumn(path string) bool {
	table, key, _ := strings.Cut(path, ".")
	return strings.HasPrefix(table, "collective") && slices.Contains([]string{"bytes",
		"count", "dtype", "op", "root", "kind", "algorithm", "in_place"}, key)
}

func seedText(points []*scenarios.Point) string {
	seed := shared(points, func(p *scenarios.Point) Value { return Int(p.Seed) })
	if seed.kind == isNull {
		return "several seeds"
	}
	return "seed " + seed.String()
}

// deviceText names a device, and what of it is not its preset's.
func deviceText(d device.Device) string {
	text := "device " + d.Name
	preset, err := device.Lookup(d.Name)
	if err != nil {
		return text
	}
	for _, f := range device.Figures() {
		if strings.HasPrefix(f.Key, "device.") && !f.Same(&d, &preset) {
			text += fmt.Sprintf(", %s %s", f.Name, f.Print(&d))
		}
	}
	if n := len(d.Ranges); n > 0 {
		text += ", " + prose.Plural(n, "range") + " of messages"
	}
	return text
}

// simText says how time is counted, where that is not the usual way.
func simText(s scenarios.Sim) string {
	if s.Sharing == scenarios.Fluid {
		return ""
	}
	text := "sharing " + s.Sharing.String()
	if s.Segment > 0 {
		text += ", segments of " + s.Segment.String()
	}
	if s.Switching != scenarios.CutThrough {
		text += ", " + s.Switching.String()
	}
	return text
}

// benchmarkText says what loop of calls is timed, and who issues them.
func benchmarkText(p *scenarios.Point) string {
	b := &p.Benchmark
	gpus := p.Topology.InNode()
	text := fmt.Sprintf("benchmark of %s in a row", prose.Plural(b.Calls, "call"))
	switch {
	case b.Calls == 0:
		return ""
	case b.Graph:
		return text + ", as a graph"
	case b.Processes == scenarios.OneProcess:
		return fmt.Sprintf("%s, issued by one process for %s: %v each", text,
			prose.Plural(gpus, "GPU"), b.Issue*unit.Time(gpus))
	}
	return text
}
