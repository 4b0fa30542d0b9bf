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

// JSONSummary writes the line that follows the lines of all results. Its "summary" lists what JSON
// has of each scenario, with the numbers of results and programs in place of these.
func JSONSummary(reports ...*run.Report) ([]byte, error) {
	return encodeLine(object(members{{"summary", listOf(reports, func(r *run.Report) Value {
		return summaryFields().write(r)
	})}}))
}

// summaryFields lists the members of a report with the numbers of results and programs in place of
// these.
func summaryFields() fields[run.Report] {
	list := columns().reportFields()
	for i, f := range list {
		switch f.name {
		case "results":
			list[i] = derivedField(f.name, aWhole(), func(r *run.Report) Value {
				return Int(len(r.Results) + r.Dropped)
			})
		case "programs":
			list[i] = derivedField(f.name, aWhole(), func(r *run.Report) Value {
				return Int(len(r.Programs))
			}).ifSet()
		}
	}
	return list
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

func (l Layout) report(r *run.Report) Value { return l.reportFields().write(r) }

// reportFields lists the members of a report. What points differ in is null.
func (l Layout) reportFields() fields[run.Report] {
	type r = run.Report
	same := func(name string, form Form, of func(*scenarios.Point) Value) field[r] {
		return derivedField(name, form.orNull(), func(r *r) Value {
			return shared(run.AllPoints(r.Scenario), of)
		})
	}
	topology := fields[r]{
		same("preset", aText(), func(p *scenarios.Point) Value { return Text(p.Topology.Preset) }),
		same("nodes", aWhole(), func(p *scenarios.Point) Value { return Int(p.Topology.Nodes) }),
		same("ranks", aWhole(), func(p *scenarios.Point) Value { return Int(p.Topology.Ranks) }),
	}
	return fields[r]{
		derivedField("collsim", aText(), func(*r) Value { return Text(run.Version) }),
		derivedField("schema", aWhole(), func(*r) Value { return Int(1) }),
		derivedField("scenario", aText(), func(r *r) Value { return Text(r.Scenario.File) }),
		derivedField("name", aText(), func(r *r) Value { return Text(r.Scenario.Name) }),
		same("seed", aWhole(), func(p *scenarios.Point) Value { return Int(p.Seed) }),
		derivedField("set", anArray(aText()), func(r *r) Value { return listOf(r.Scenario.Set, Text) }),
		derivedField("topology", topology.form(), topology.write),
		same("device", aText(), func(p *scenarios.Point) Value { return Text(p.Device.Name) }),
		same("sharing", aText(), func(p *scenarios.Point) Value { return Text(p.Sim.Sharing.String()) }),
		derivedField("results", anArray(l.form()), func(r *r) Value {
			return listOf(r.Results, l.result)
		}),
		listField("skipped", skipFields(), func(r *r) *[]run.Skip { return &r.Skipped }),
		textsField("warnings", func(r *r) *[]string { return &r.Warnings }),
		derivedField("programs", anArray(programFields().form()), func(r *r) Value {
			return known(len(r.Programs) > 0, listOf(r.Programs, programFields().write))
		}).ifAny(),
		derivedField("fidelity", fidelityFields(nil).form(), func(r *r) Value {
			isMeasured := func(r *run.Result) bool { return r.Measured != nil }
			if !slices.ContainsFunc(r.Results, isMeasured) {
				return Value{}
			}
			return fidelityFields(r.Cases()).write(r)
		}).ifAny(),
	}
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

// skipFields lists the members of a point that was skipped.
func skipFields() (list fields[run.Skip]) {
	type s = run.Skip
	forms := map[string]Form{"point": anObject(), "ranks": aWhole(), "bytes": aWhole()}
	for i, name := range []string{"id", "point", "kind", "algorithm", "ranks", "bytes"} {
		form, is := forms[name]
		if !is {
			form = aText()
		}
		list = append(list, derivedField(name, form, func(s *s) Value {
			return identity(s.Point, s.Point.Algorithm)[i].value
		}))
	}
	return append(list, textField("why", func(s *s) *string { return &s.Why }))
}

// violationFields lists the members of a violation. −1 stands for no particular rank, lane, step or
// chunk. Those from file on are of one in a file of another format.
func violationFields() fields[run.Violation] {
	type v = run.Violation
	list := fields[v]{
		textField("kind", func(v *v) *string { return &v.Kind }),
		wholeField("rank", func(v *v) *int { return &v.Rank }),
		wholeField("lane", func(v *v) *int { return &v.Lane }),
		wholeField("step", func(v *v) *int { return &v.Step }),
		wholeField("chunk", func(v *v) *int { return &v.Chunk }),
		textField("text", func(v *v) *string { return &v.Text }),
	}
	placed := partOf(placeFields(), func(v *v) *run.Place { return v.Place }, func(v *v) *run.Place {
		if v.Place == nil {
			v.Place = &run.Place{}
		}
		return v.Place
	})
	for _, f := range placed {
		list = append(list, f.ifAny())
	}
	return list
}

func placeFields() fields[run.Place] {
	type p = run.Place
	return fields[p]{
		textField("file", func(p *p) *string { return &p.File }),
		wholeField("line", func(p *p) *int { return &p.Line }),
		wholeField("block", func(p *p) *int { return &p.Block }),
		wholeField("file_step", func(p *p) *int { return &p.FileStep }),
		textField("what", func(p *p) *string { return &p.What }),
		listField("places", placedFields(), func(p *p) *[]run.PlacedStep { return &p.Places }),
	}
}

func placedFields() fields[run.PlacedStep] {
	type s = run.PlacedStep
	return fields[s]{
		wholeField("rank", func(s *s) *int { return &s.Rank }),
		wholeField("lane", func(s *s) *int { return &s.Lane }),
		wholeField("step", func(s *s) *int { return &s.Step }),
		wholeField("line", func(s *s) *int { return &s.Line }),
		wholeField("block", func(s *s) *int { return &s.Block }),
		wholeField("file_step", func(s *s) *int { return &s.FileStep }),
		textField("what", func(s *s) *string { return &s.What }),
	}
}

// fidelityFields lists the members that sum up measurements. misses names what is outside of the
// tolerance.
func fidelityFields(cases []fidelity.Case) fields[run.Report] {
	summary := fidelity.Summarize(cases)
	group := fields[fidelity.Row]{
		textField("executor", func(g *fidelity.Row) *string { return &g.Executor }),
		textField("kind", func(g *fidelity.Row) *string { return &g.Kind }),
		textField("algorithm", func(g *fidelity.Row) *string { return &g.Algorithm }),
	}
	quality := qualityFields(cases)
	part := func(g *fidelity.Row) *fidelity.Quality { return &g.Quality }
	for i, f := range partOf(quality, part, part) {
		f.form = quality[i].form // it is always there
		group = append(group, f)
	}
	return fields[run.Report]{
		derivedField("algorithms", anArray(group.form()), func(*run.Report) Value {
			return group.all(summary.Groups)
		}),
		derivedField("all", quality.form(), func(*run.Report) Value {
			return quality.write(&summary.All)
		}),
		textsField("misses", func(r *run.Report) *[]string { return &r.Misses }),
	}
}

// qualityFields lists absolute errors, null if nothing was timed, and the ID of the result with the
// largest.
func qualityFields(cases []fidelity.Case) fields[fidelity.Quality] {
	type q = fidelity.Quality
	isTimed := func(q *q) bool { return q.Timed > 0 }
	return fields[q]{
		wholeField("cases", func(q *q) *int { return &q.Cases }),
		wholeField("bits_equal", func(q *q) *int { return &q.Equal }),
		wholeField("bits_differ", func(q *q) *int { return &q.Differ }),
		numberField("error_median", func(q *q) *float64 { return &q.Median }).when(isTimed),
		numberField("error_p90", func(q *q) *float64 { return &q.P90 }).when(isTimed),
		derivedField("worst", aText(), func(q *q) Value {
			if q.Worst < 0 {
				return Text("")
			}
			return Text(cases[q.Worst].ID)
		}),
	}
}

// rootOf returns the root of a collective, −1 for kinds without one, as in nccl-tests.
func rootOf(spec collective.Spec) int {
	if !spec.Kind.Rooted() {
		return -1
	}
	return spec.Root
}
