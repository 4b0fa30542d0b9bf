package report

import (
	"fmt"
	"slices"
	"strings"

	"collsim/internal/prose"
	"collsim/run"
	"collsim/scenarios"
)

// Stream prints the table of reports piece by piece. It prints a group of rows once no point to
// come can belong to the group or to anything above it. A group is the smallest unit that can be
// final, since columns are as wide as its widest cell. The pieces together equal the output of
// Table.
type Stream struct {
	layout Layout
	print  func(string)

	reports []*run.Report // finished reports

	scenario *run.Scenario  // the scenario in progress
	came     int            // number of its points that are here or left out
	left     map[string]int // number of points to come, by each place they may belong to
	whole    *part          // the results so far
	programs int            // number of programs printed
}

// part is a node of the tree of headings: a scenario, a network with device and axes, a collective,
// or its results by one algorithm.
type part struct {
	level   int
	place   string // facts of its heading that the points alone determine
	results []*run.Result
	parts   []*part
	byKey   map[string]*part
	ended   int  // number of parts that have been printed
	begun   bool // its heading has been printed
}

// The levels of a table.
const (
	ofScenario = iota
	ofSection
	ofVariant
	ofGroup
)

// NewStream makes a stream of the usual columns; it passes each printed piece to a function.
func NewStream(print func(string)) *Stream { return Columns().Stream(print) }

// Stream makes a stream of the columns of l.
func (l Layout) Stream(print func(string)) *Stream {
	l = slices.DeleteFunc(slices.Clone(l), func(c Column) bool { return c.Heading == "" })
	return &Stream{layout: l, print: print}
}

// Begin begins a scenario, with all of its points to come. It prints nothing.
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

// count adds n to the number of points to come, at every place where a point may belong.
func (s *Stream) count(p *scenarios.Point, n int) {
	for _, place := range places(p) {
		s.left[place] += n
	}
}

// places returns a point's place at each level: the facts of its headings that are known before its
// result. Parameters of an algorithm's name may be added later. The network follows from the keys
// that are here.
func places(p *scenarios.Point) [ofGroup + 1]string {
	section := strings.Join([]string{axesText(p, true), deviceText(p.Device), simText(p.Sim),
		benchmarkText(p)}, "\n")
	variant := fmt.Sprintf("%s\n%v\n%s\n%v\n%s", section, p.Spec.Kind, p.Collective, p.Spec.InPlace,
		axesText(p, false))
	return [...]string{"", section, variant, variant + "\n" + p.Algorithm.Name}
}

// Take takes the next result of the scenario, in the order of run.RunOptions.Done. Points before it
// that have not come were left out.
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
		// A point is settled once its backward pass, if it has one, is here, too.
		if of.Gradient == scenarios.NoGradient || r.Gradient != nil {
			s.settle(of)
			s.came++
		}
	}
	s.flush()
}

// settle removes a point from the counts of points to come.
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

// flush prints all groups that are final.
func (s *Stream) flush() {
	var b strings.Builder
	s.write(&b, s.whole, 0)
	if b.Len() > 0 {
		s.print(b.String())
	}
}

// write prints the final parts of a part and reports whether that was all of it. index is its
// position among its siblings.
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

// begin prints the heading of a part, or all of a group.
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

// End ends the scenario in progress with its report. No more results may come.
func (s *Stream) End(r *run.Report) {
	s.left = nil
	s.flush()
	s.reports = append(s.reports, r)
	for _, p := range r.Programs[s.programs:] {
		s.TakeProgram(p)
	}
}

// TakeProgram takes the next program of the scenario, after all of its results.
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

// Close prints the summary of all reports.
func (s *Stream) Close() {
	var b strings.Builder
	writeSummary(&b, s.reports)
	if b.Len() > 0 {
		s.print(b.String())
	}
}

// writeSummary writes the numerics, if they were asked for, the outcome of the checks, and a
// suggestion of what to look at next.
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
		writeLines(b, "# ", append(append(summary(results), loggedLines(reports)...),
			skipLines(reports)...))
	}
	for _, r := range reports {
		if line := nextLine(r); line != "" {
			b.WriteString("# " + line + "\n")
		}
	}
}
