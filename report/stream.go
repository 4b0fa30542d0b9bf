package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
	"collsim/scenarios"
)

// Stream prints the table of reports piece by piece. A group of rows under a heading is printed as
// soon as none of the points that are still to come can belong to it or to what stands before it:
// columns are as wide as the widest cell of the group, so that is the least that can be told for
// good. What it has printed in the end is what Table gives.
type Stream struct {
	layout Layout
	print  func(string)

	reports []*run.Report // that have ended

	scenario *run.Scenario  // that has begun
	came     int            // of its points, how many are here or left out
	left     map[string]int // how many are still to come, by where they may belong
	whole    *part          // what is here
	programs int            // how many are printed
}

// part is what stands under one heading: a scenario, a network with device and axes, a collective,
// its results by one algorithm.
type part struct {
	level   int
	place   string // what its results have in common, as far as their points alone determine it
	results []*run.Result
	parts   []*part
	byKey   map[string]*part
	ended   int  // of parts, how many have been printed
	begun   bool // what stands before them has been
}

// The levels of a table.
const (
	ofScenario = iota
	ofSection
	ofVariant
	ofGroup
)

// NewStream is a stream of the usual columns, which hands what it prints to a function.
func NewStream(print func(string)) *Stream { return Columns().Stream(print) }

// Stream is the same with these columns.
func (l Layout) Stream(print func(string)) *Stream {
	l = slices.DeleteFunc(slices.Clone(l), func(c Column) bool { return c.Heading == "" })
	return &Stream{layout: l, print: print}
}

// Begin begins a scenario, of which all points are still to come. Nothing is printed.
func (s *Stream) Begin(of *run.Scenario) {
	s.scenario, s.came, s.left = of, 0, map[string]int{}
	s.whole, s.programs = newPart(ofScenario, ""), 0
	for _, p := range of.Points {
		s.count(p, 1)
		if p.Gradient != scenarios.NoGradient {
			s.count(p.Backward(), 1)
		}
	}
}

// count counts a point, or takes it away, wherever it may belong.
func (s *Stream) count(p *scenarios.Point, n int) {
	for _, place := range places(p) {
		s.left[place] += n
	}
}

// places are those of a point by level: what its result's headings are made of, but for what only
// the result knows. A name may come with parameters then; the network follows from what is there.
func places(p *scenarios.Point) [ofGroup + 1]string {
	section := strings.Join([]string{axesText(p, true), deviceText(p.Device), simText(p.Sim),
		benchmarkText(p)}, "\n")
	variant := fmt.Sprintf("%s\n%v\n%s\n%v\n%s", section, p.Spec.Kind, p.Collective, p.Spec.InPlace,
		axesText(p, false))
	return [...]string{"", section, variant, variant + "\n" + p.Algorithm.Name}
}

// Take takes the next result of the scenario, in the order of run.RunOptions.Done: what is before
// it and has not come was left out.
func (s *Stream) Take(r *run.Result) {
	s.add(r)
	of := r.Point
	if of.Forward != nil {
		of = of.Forward
	}
	if at := slices.Index(s.scenario.Points[s.came:], of); at >= 0 {
		for _, p := range s.scenario.Points[s.came : s.came+at] {
			s.settle(p)
		}
		s.came += at
		// Of a point that is here, nothing is to come once its backward pass is here as well.
		if of.Gradient == scenarios.NoGradient || r.Gradient != nil {
			s.settle(of)
			s.came++
		}
	}
	s.flush()
}

// settle takes away a point of which nothing is to come.
func (s *Stream) settle(p *scenarios.Point) {
	s.count(p, -1)
	if p.Gradient != scenarios.NoGradient {
		s.count(p.Backward(), -1)
	}
}

// add puts a result under its headings.
func (s *Stream) add(r *run.Result) {
	p := s.whole
	at := places(r.Point)
	keys := [...]string{"", sectionOf(r), variant(r), heading(r)}
	for level := ofSection; level <= ofGroup; level++ {
		if p.byKey[keys[level]] == nil {
			p.parts = append(p.parts, newPart(level, at[level]))
			p.byKey[keys[level]] = p.parts[len(p.parts)-1]
		}
		p = p.byKey[keys[level]]
		p.results = append(p.results, r)
	}
}

func newPart(level int, place string) *part {
	return &part{level: level, place: place, byKey: map[string]*part{}}
}

// flush prints what can be printed.
func (s *Stream) flush() {
	var b strings.Builder
	s.write(&b, s.whole, 0)
	if b.Len() > 0 {
		s.print(b.String())
	}
}

// write prints a part as far as that can be, and reports whether that is all of it. index is its
// place among its like.
func (s *Stream) write(b *strings.Builder, p *part, index int) (ended bool) {
	open := s.left[p.place] > 0
	if p.level == ofGroup && open {
		return false
	}
	if !p.begun {
		p.begun = true
		s.begin(b, p, index)
	}
	for p.ended < len(p.parts) && s.write(b, p.parts[p.ended], p.ended) {
		p.ended++
	}
	if p.ended < len(p.parts) || open {
		return false
	}
	if p.level == ofVariant {
		writeMatrix(b, p.results)
	}
	return true
}

// begin prints what stands before the parts of a part, or all of a group.
func (s *Stream) begin(b *strings.Builder, p *part, index int) {
	switch p.level {
	case ofScenario:
		if len(s.reports) > 0 {
			b.WriteString("\n")
		}
		writeHead(b, s.scenario)
	case ofSection:
		axes := axesText(p.results[0].Point, true)
		if index > 0 || axes != "" {
			b.WriteString("#\n")
		}
		if axes != "" {
			comment(b, axes)
		}
		writeMachine(b, p.results[0])
	case ofGroup:
		b.WriteString("#\n")
		same := samePick(p.results)
		if same {
			writeHeading(b, headingPicked(p.results[0]))
		} else {
			writeHeading(b, heading(p.results[0]))
		}
		table := s.layout.table(p.results)
		table.Marked, table.Total = 2, prose.Columns
		b.WriteString(table.String())
		if !same {
			writePicks(b, p.results)
		}
	}
}

// End ends the scenario that has begun with its report: nothing is to come.
func (s *Stream) End(r *run.Report) {
	s.left = nil
	s.flush()
	s.reports = append(s.reports, r)
	for _, p := range r.Programs[s.programs:] {
		s.TakeProgram(p)
	}
}

// TakeProgram takes the next program of the scenario, behind all of its results.
func (s *Stream) TakeProgram(r *run.ProgramResult) {
	var b strings.Builder
	s.left = nil // no result is to come
	s.write(&b, s.whole, 0)
	if s.programs > 0 || len(s.whole.parts) > 0 {
		b.WriteString("#\n")
	}
	s.programs++
	programText(&b, r)
	s.print(b.String())
}

// Close prints what sums up all reports.
func (s *Stream) Close() {
	var b strings.Builder
	writeSummary(&b, s.reports)
	if b.Len() > 0 {
		s.print(b.String())
	}
}

// writeSummary says what rounding does, if that was asked for, what the checks have found, and what
// to look at next.
func writeSummary(b *strings.Builder, reports []*run.Report) {
	var results []*run.Result
	programs := 0
	for _, r := range reports {
		results = append(results, r.Results...)
		programs += len(r.Programs)
	}
	numericsTable(b, results)
	if len(results) > 0 || programs == 0 {
		b.WriteString("#\n")
		writeLines(b, "# ", append(summary(results), skipLines(reports)...))
	}
	for _, r := range reports {
		if line := nextLine(r); line != "" {
			b.WriteString("# " + line + "\n")
		}
	}
}
