package report

import (
	"slices"
	"strings"

	"collsim/collective"
	"collsim/fidelity"
	"collsim/run"
	"collsim/scenarios"
)

// JSON writes reports: an object for one, an array of them for several. It ends with a newline.
// Names and meanings are a contract: keys may be added, never renamed.
func JSON(reports ...*run.Report) ([]byte, error) { return Columns().JSON(reports...) }

// JSON is the same with the results in these columns.
func (l Layout) JSON(reports ...*run.Report) ([]byte, error) {
	return encode(oneOrAll(reports, l.report))
}

// JSONLine is a result of a scenario as JSON has it, in a line of its own: "scenario", "result".
func JSONLine(s *run.Scenario, r *run.Result) ([]byte, error) {
	return encodeLine(object(members{{"scenario", Text(s.File)}, {"result", Columns().result(r)}}))
}

// JSONProgramLine is the same of a program: "scenario", "program".
func JSONProgramLine(s *run.Scenario, r *run.ProgramResult) ([]byte, error) {
	return encodeLine(object(members{{"scenario", Text(s.File)}, {"program", programValue(r)}}))
}

// JSONSummary is what follows the lines of all results: in one line "summary", a list of what JSON
// has of each scenario, but with the numbers of its results and programs in place of them.
func JSONSummary(reports ...*run.Report) ([]byte, error) {
	l := Columns()
	return encodeLine(object(members{{"summary", listOf(reports, func(r *run.Report) Value {
		v := l.report(r)
		for i := range v.members {
			switch v.members[i].name {
			case "results":
				v.members[i].value = Int(len(r.Results))
			case "programs":
				v.members[i].value = Int(len(r.Programs))
			}
		}
		return v
	})}}))
}

// oneOrAll is the value of one item, or a list of those of several.
func oneOrAll[T any](items []T, value func(T) Value) Value {
	if len(items) == 1 {
		return value(items[0])
	}
	return listOf(items, value)
}

// preamble is how every object begins that is about a scenario.
func preamble(s *run.Scenario) members {
	return append(version(), member{"scenario", Text(s.File)}, member{"name", Text(s.Name)})
}

// version is how every object begins.
func version() members { return members{{"collsim", Text(run.Version)}, {"schema", Int(1)}} }

func (l Layout) report(r *run.Report) Value {
	s := r.Scenario
	same := func(of func(*scenarios.Point) Value) Value { return shared(run.AllPoints(s), of) }
	all := append(preamble(s), members{
		{"seed", same(func(p *scenarios.Point) Value { return Int(p.Seed) })},
		{"set", listOf(s.Set, Text)},
		{"topology", object(members{
			{"preset", same(func(p *scenarios.Point) Value { return Text(p.Topology.Preset) })},
			{"nodes", same(func(p *scenarios.Point) Value { return Int(p.Topology.Nodes) })},
			{"ranks", same(func(p *scenarios.Point) Value { return Int(p.Topology.Ranks) })},
		})},
		{"device", same(func(p *scenarios.Point) Value { return Text(p.Device.Name) })},
		{"sharing", same(func(p *scenarios.Point) Value { return Text(p.Sim.Sharing.String()) })},
		{"results", listOf(r.Results, l.result)},
		{"skipped", listOf(r.Skipped, skipValue)},
		{"warnings", listOf(r.Warnings, Text)},
	}...)
	if len(r.Programs) > 0 {
		all = append(all, member{"programs", listOf(r.Programs, programValue)})
	}
	if slices.ContainsFunc(r.Results, func(r *run.Result) bool { return r.Measured != nil }) {
		all = append(all, member{"fidelity", fidelityValue(r)})
	}
	return object(all)
}

// shared is what all points have, nothing if they differ.
func shared(points []*scenarios.Point, of func(*scenarios.Point) Value) Value {
	for _, p := range points {
		if of(p).String() != of(points[0]).String() {
			return Value{}
		}
	}
	if len(points) == 0 {
		return Value{}
	}
	return of(points[0])
}

func (l Layout) result(r *run.Result) Value { return object(l.members(r)) }

// members are the columns that have a key.
func (l Layout) members(r *run.Result) (all members) {
	for _, c := range l {
		if c.Key == "" {
			continue
		}
		if v := c.Value(r); v.kind != isNull || !c.Optional {
			all = all.put(strings.Split(c.Key, "."), v)
		}
	}
	return all
}

// identity is how an object begins that is about a point.
func identity(p *scenarios.Point, algorithm scenarios.Algorithm) members {
	return members{{"id", Text(p.ID)}, {"point", axesOf(p)}, {"kind", Text(p.Spec.Kind.String())},
		{"algorithm", Text(algorithm.String())}, {"ranks", Int(p.Spec.Ranks)},
		{"bytes", Int(p.Spec.Bytes())}}
}

func skipValue(s run.Skip) Value {
	return object(append(identity(s.Point, s.Point.Algorithm), member{"why", Text(s.Why)}))
}

// violationValue says where a schedule is wrong: −1 stands for none in particular.
func violationValue(v run.Violation) Value {
	all := members{{"kind", Text(v.Kind)}, {"rank", Int(v.Rank)}, {"lane", Int(v.Lane)},
		{"step", Int(v.Step)}, {"chunk", Int(v.Chunk)}, {"text", Text(v.Text)}}
	if p := v.Place; p != nil { // in a file of another format
		all = append(all, members{{"file", Text(p.File)}, {"line", Int(p.Line)},
			{"block", Int(p.Block)}, {"file_step", Int(p.FileStep)}, {"what", Text(p.What)},
			{"places", listOf(p.Places, placedValue)}}...)
	}
	return object(all)
}

func placedValue(s run.PlacedStep) Value {
	return object(members{{"rank", Int(s.Rank)}, {"lane", Int(s.Lane)}, {"step", Int(s.Step)},
		{"line", Int(s.Line)}, {"block", Int(s.Block)}, {"file_step", Int(s.FileStep)},
		{"what", Text(s.What)}})
}

// fidelityValue sums up what was measured.
func fidelityValue(r *run.Report) Value {
	cases := r.Cases()
	summary := fidelity.Summarize(cases)
	return object(members{
		{"algorithms", listOf(summary.Groups, func(g fidelity.Row) Value {
			names := members{{"executor", Text(g.Executor)}, {"kind", Text(g.Kind)},
				{"algorithm", Text(g.Algorithm)}}
			return object(append(names, qualityMembers(&g.Quality, cases)...))
		})},
		{"all", object(qualityMembers(&summary.All, cases))},
		{"misses", listOf(r.Misses, Text)}, // what is outside of the tolerance
	})
}

// qualityMembers are errors without their signs, nothing if there is none, and the ID of the result
// with the largest.
func qualityMembers(q *fidelity.Quality, cases []fidelity.Case) members {
	worst := ""
	if q.Worst >= 0 {
		worst = cases[q.Worst].ID
	}
	return members{{"cases", Int(q.Cases)}, {"bits_equal", Int(q.Equal)},
		{"bits_differ", Int(q.Differ)}, {"error_median", rate(q.Median, q.Timed > 0)},
		{"error_p90", rate(q.P90, q.Timed > 0)}, {"worst", Text(worst)}}
}

// rootOf is −1 for kinds without a root, as in nccl-tests.
func rootOf(spec collective.Spec) int {
	if !spec.Kind.Rooted() {
		return -1
	}
	return spec.Root
}
