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

// writeHead writes the line that names the scenario.
func writeHead(b *strings.Builder, s *run.Scenario) {
	comment(b, "collsim "+run.Version, s.Name, seedText(run.AllPoints(s)))
	for _, set := range s.Set {
		comment(b, "set "+set)
	}
}

// writeMachine writes the lines that name network, device and rules of time.
func writeMachine(b *strings.Builder, r *run.Result) {
	comment(b, append(halves(r.Network), deviceText(r.Point.Device), simText(r.Point.Sim),
		benchmarkText(r.Point))...)
}

// comment writes parts behind a #, on one line if they fit, else one a line.
func comment(b *strings.Builder, parts ...string) {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	writeLines(b, "", prose.Fill(parts, "   ", prose.Columns, "# ", "#   "))
}

// writeLines writes lines, each behind start.
func writeLines(b *strings.Builder, start string, lines []string) {
	for _, line := range lines {
		b.WriteString(start + line + "\n")
	}
}

// writeHeading writes the heading of a group of rows behind a #. A long one is broken behind its
// colon, if it has one, and between words.
func writeHeading(b *strings.Builder, text string) {
	start := "# "
	for _, part := range halves(text) {
		writeLines(b, "", prose.Wrap(part, prose.Columns, start, "#   "))
		start = "#   "
	}
}

// halves breaks a text that is too long for a line behind its colon.
func halves(text string) []string {
	head, tail, ok := strings.Cut(text, ": ")
	if !ok || utf8.RuneCountInString("# "+text) <= prose.Columns {
		return []string{text}
	}
	return []string{head + ":", tail}
}

// split groups results by key, in the order in which the keys first appear.
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

// sectionOf names network, device and rules of time.
func sectionOf(r *run.Result) string {
	p := r.Point
	return strings.Join([]string{axesText(p, true), r.Network, deviceText(p.Device),
		simText(p.Sim), benchmarkText(p)}, "\n")
}

// variant names everything that distinguishes results besides section, algorithm and columns.
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

// headingPicked names a group of rows with what the algorithm has picked.
func headingPicked(r *run.Result) string {
	if r.Picked.What == "" {
		return heading(r)
	}
	return heading(r) + ", as " + r.Picked.String()
}

// choice says from how many algorithms that can do it one was chosen; empty if it was not chosen.
func choice(r *run.Result) string {
	if r.Candidates == nil {
		return ""
	}
	var names []string
	for _, c := range r.Candidates {
		can := c.Time >= 0 || c.AtLeast > 0
		if can && !slices.Contains(names, c.Algorithm.Name) {
			names = append(names, c.Algorithm.Name)
		}
	}
	return fmt.Sprintf(", the fastest of %d", len(names))
}

// extras names whatever else distinguishes results: in place, swept keys, the gradient.
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

// axesText lists the swept keys of the machine, or those of the collective, without those that have
// a column.
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

// hasColumn reports whether a swept key is shown by a column of the table or by the heading.
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

// deviceText names a device, and its figures that differ from its preset.
func deviceText(d *device.Device) string {
	text := "device " + d.Name
	preset, err := device.Lookup(d.Name)
	if err != nil {
		return text
	}
	for _, f := range device.Figures() {
		if strings.HasPrefix(f.Key, "device.") && !f.Same(d, &preset) {
			text += fmt.Sprintf(", %s %s", f.Name, f.Print(d))
		}
	}
	if n := len(d.Ranges); n > 0 {
		text += ", " + prose.Plural(n, "range") + " of messages"
	}
	return text
}

// simText names the rules of time; empty for the default, fluid sharing.
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

// benchmarkText describes the timed loop of calls and which process issues them.
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
