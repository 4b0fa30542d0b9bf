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

// JSON does what the function JSON does, with the columns of l.
func (l Layout) JSON(reports ...*run.Report) ([]byte, error) {
	return encode(oneOrAll(reports, l.report))
}

// JSONLine writes one result of a scenario in a line: an object with "scenario", "digest", what a
// reader might stumble over as "warnings" if there is anything, and "result".
func JSONLine(s *run.Scenario, r *run.Result) ([]byte, error) {
	line := members{{"scenario", Text(s.File)}, {"digest", Text(r.Point.Digest(run.Version))}}
	if len(r.Warnings) > 0 {
		line = append(line, member{"warnings", listOf(r.Warnings, Text)})
	}
	return encodeLine(object(append(line, member{"result", Columns().result(r)})))
}

// JSONSkipLine writes a point that was skipped in a line: an object with "scenario", "digest" and
// "skipped".
func JSONSkipLine(s *run.Scenario, skip run.Skip) ([]byte, error) {
	return encodeLine(object(members{{"scenario", Text(s.File)},
		{"digest", Text(skip.Point.Digest(run.Version))}, {"skipped", skipValue(skip)}}))
}

// JSONProgramLine writes one program of a scenario in a line: an object with "scenario" and
// "program".
func JSONProgramLine(s *run.Scenario, r *run.ProgramResult) ([]byte, error) {
	return encodeLine(object(members{{"scenario", Text(s.File)}, {"program", programValue(r)}}))
}

// JSONSummary writes the line that follows the lines of all results. Its "summary" lists what JSON
// has of each scenario, with the numbers of results and programs in place of these.
func JSONSummary(reports ...*run.Report) ([]byte, error) {
	return encodeLine(object(members{{"summary", listOf(reports, func(r *run.Report) Value {
		return summed(Columns().report(r), len(r.Results), len(r.Programs))
	})}}))
}

// JSONMerged writes the line that JSONSummary writes of a report with as many results.
func JSONMerged(r *run.Report, results int) ([]byte, error) {
	return encodeLine(object(members{{"summary", array(summed(Columns().report(r), results, 0))}}))
}

// summed puts numbers in place of the results and programs of a report.
func summed(report Value, results, programs int) Value {
	for i := range report.members {
		switch report.members[i].name {
		case "results":
			report.members[i].value = Int(results)
		case "programs":
			report.members[i].value = Int(programs)
		}
	}
	return report
}

// oneOrAll returns the value of a single item, or a list of the values of several.
func oneOrAll[T any](items []T, value func(T) Value) Value {
	if len(items) == 1 {
		return value(items[0])
	}
	return listOf(items, value)
}

// preamble lists the members that begin every object about a scenario.
func preamble(s *run.Scenario) members {
	return append(version(), member{"scenario", Text(s.File)}, member{"name", Text(s.Name)})
}

// version lists the members that begin every object.
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

// shared returns the value that all points have in common; null if they differ.
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

// members lists the columns that have a key, nested by their paths.
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

// identity lists the members that begin an object about a point.
func identity(p *scenarios.Point, algorithm scenarios.Algorithm) members {
	return members{{"id", Text(p.ID)}, {"point", axesOf(p)}, {"kind", Text(p.Spec.Kind.String())},
		{"algorithm", Text(algorithm.String())}, {"ranks", Int(p.Spec.Ranks)},
		{"bytes", Int(p.Spec.Bytes())}}
}

func skipValue(s run.Skip) Value {
	return object(append(identity(s.Point, s.Point.Algorithm), member{"why", Text(s.Why)}))
}

// violationValue makes the object of a violation. −1 stands for no particular rank, lane, step or
// chunk.
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

// fidelityValue makes the object that sums up measurements.
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

// qualityMembers lists absolute errors, null if nothing was timed, and the ID of the result with
// the largest.
func qualityMembers(q *fidelity.Quality, cases []fidelity.Case) members {
	worst := ""
	if q.Worst >= 0 {
		worst = cases[q.Worst].ID
	}
	return members{{"cases", Int(q.Cases)}, {"bits_equal", Int(q.Equal)},
		{"bits_differ", Int(q.Differ)}, {"error_median", rate(q.Median, q.Timed > 0)},
		{"error_p90", rate(q.P90, q.Timed > 0)}, {"worst", Text(worst)}}
}

// rootOf returns the root of a collective, −1 for kinds without one, as in nccl-tests.
func rootOf(spec collective.Spec) int {
	if !spec.Kind.Rooted() {
		return -1
	}
	return spec.Root
}
