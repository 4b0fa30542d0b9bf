package report

import (
	"math"

	"collsim/collective"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// furtherColumns lists columns that were added later: the order of JSON keys never changes.
func furtherColumns() Layout {
	type r = run.Result
	return Layout{
		// Why numbers were not computed though they were asked for.
		inJSON(textField("numbers_why", func(r *r) *string { return &r.NumbersOff }).ifSet()),
		// The algorithm as the scenario has it: "fastest" where one was chosen from candidates.
		inJSON(derivedField("asked", aText(), func(r *r) Value {
			return Text(r.Point.Algorithm.String())
		})).csv(4, "asked"),
		inJSON(listField("candidates", candidateFields(), func(r *r) *[]run.Candidate {
			return &r.Candidates
		}).when(func(r *r) bool { return len(r.Candidates) > 0 })),
		// What an algorithm that chooses by itself (NCCL's, Open MPI's) has picked, in words.
		inJSON(derivedField("picked", aText(), func(r *r) Value {
			return some(r.Picked.String())
		}).ifAny()),
		inJSON(wholeField("predicted_ps", func(r *r) *unit.Time { return &r.Picked.Time }).
			when(func(r *r) bool { return r.Picked.Time > 0 }).ifAny()),
		inJSON(wholeField("teams", func(r *r) *int { return &r.Teams })).csv(4, "teams"),
		// The shape of inputs, where they are tensors.
		tensor("shape", anArray(aWhole()), func(t *collective.Communication) Value {
			return known(len(t.Shape) > 0, listOf(t.Shape, Int[int64]))
		}),
		tensor("axis", aWhole(), func(t *collective.Communication) Value {
			return known(t.Axis != 0, Int(t.Axis))
		}),
		tensor("concat", aWhole(), func(t *collective.Communication) Value {
			return known(t.Concat != 0, Int(t.Concat))
		}),
		// The comparison with the file of the key compare.
		inJSON(objectField("compare", comparisonFields(), func(r *r) **run.Comparison {
			return &r.Comparison
		}).ifAny()),
		// What came of faults and late arrivals, where the scenario has some.
		inJSON(faultsField(func(r *r) **run.Faulted { return &r.Faulted })),
		inJSON(arrivalField(func(r *r) **run.Arrived { return &r.Arrived })),
		inJSON(objectField("gradient", gradientFields(), func(r *r) **run.Gradient {
			return &r.Gradient
		}).ifAny()),
		// Number of ranks that the proof has walked: 1 where one rank stands for all.
		inJSON(wholeField("ranks_walked", func(r *r) *int { return &r.Walked }).
			when(func(r *r) bool { return r.Walked > 0 })).csv(6, "ranks_walked"),
		// Channels of an algorithm that takes them; a library's are in picked_channels.
		inJSON(wholeField("channels", func(r *r) *int { return &r.Algorithm.Channels }).ifSet()).
			csv(6, "channels"),
		// What limits the run where no link is busy for most of the time: the key that would lift
		// the limit, and its share of the critical path; for slots the share of time that more
		// slots would save.
		heldColumn("by", aText(), func(h *run.Held) Value { return Text(heldName(h)) }),
		heldColumn("share", aNumber(), func(h *run.Held) Value {
			return Number(math.Round(float64(h.Time)/float64(h.Of)*1e4) / 1e4)
		}),
	}
}

// looped reports whether a result belongs to a benchmark's loop of calls.
func looped(r *run.Result) bool { return r.Point.Benchmark.Calls > 0 }

// alone reports whether a result is a single call.
func alone(r *run.Result) bool { return !looped(r) }

// inLoop makes a fact of a benchmark's calls, where they are known.
func inLoop(of func(*run.Calls) Value) fact {
	return func(r *run.Result) Value {
		if r.Calls == nil || r.Calls.Off != "" {
			return Value{}
		}
		return of(r.Calls)
	}
}

// perCall formats the time from which bandwidths are computed, as nccl-tests does.
func perCall(r *run.Result) string {
	if !r.Timed || r.Calls != nil && r.Calls.Off != "" {
		return missing
	}
	return us(r.PerCall())
}

// callColumns lists the measurements of a benchmark, where the scenario has one.
func callColumns() (l Layout) {
	type c = run.Calls
	known := func(c *c) bool { return c.Off == "" }
	list := fields[c]{
		wholeField("call_ps", func(c *c) *unit.Time { return &c.Time }).when(known),
		wholeField("call_period_ps", func(c *c) *unit.Time { return &c.Period }).when(known),
		// Whether two successive periods were equal, and how many calls were simulated.
		boolField("call_repeats", func(c *c) *bool { return &c.Repeats }).when(known),
		wholeField("calls_simulated", func(c *c) *int { return &c.Calls }).when(known),
		// The least time between calls that one process issues for several GPUs.
		wholeField("call_floor_ps", func(c *c) *unit.Time { return &c.Floor }).
			when(func(c *c) bool { return c.Off == "" && c.Floor > 0 }),
		textField("call_why", func(c *c) *string { return &c.Off }).
			when(func(c *c) bool { return c.Off != "" }),
	}
	get := func(r *run.Result) *c { return r.Calls }
	all := partOf(list, get, func(r *run.Result) *c {
		if r.Calls == nil {
			r.Calls = &c{}
		}
		return r.Calls
	})
	for _, f := range all {
		one := inJSON(f.ifAny())
		switch f.name {
		case "call_ps", "call_period_ps", "call_floor_ps":
			one = one.csv(7, f.name)
		}
		l = append(l, one)
	}
	return l
}

// heldColumn makes a column of what limits a run.
func heldColumn(name string, form Form, of func(*run.Held) Value) Column {
	return inJSON(derivedField("held."+name, form, func(r *run.Result) Value {
		if r.Held == nil {
			return Value{}
		}
		return of(r.Held)
	}).ifAny()).csv(6, "held_"+name)
}

// tensor makes a column of inputs that are tensors.
func tensor(name string, form Form, of func(*collective.Communication) Value) Column {
	return inJSON(derivedField(name, form, func(r *run.Result) Value {
		if r.Point.Tensor == nil {
			return Value{}
		}
		return of(r.Point.Tensor)
	}).ifAny())
}

// candidateFields lists the members of an algorithm that "fastest" tried. Its time is null where it
// was left out.
func candidateFields() fields[run.Candidate] {
	type c = run.Candidate
	return fields[c]{
		ownField("algorithm", aText(), func(c *c) Value { return Text(c.Algorithm.String()) },
			func(c *c, v Value) { c.Algorithm = algorithmOf(v.text) }),
		naturalField("time_ps", func(c *c) *unit.Time { return &c.Time }),
		textField("why", func(c *c) *string { return &c.Why }),
		wholeField("at_least_ps", func(c *c) *unit.Time { return &c.AtLeast }).ifSet(),
	}
}

// algorithmOf reads an algorithm's name. What is none stays what it is.
func algorithmOf(text string) scenarios.Algorithm {
	a, err := scenarios.ParseAlgorithm(text)
	if err != nil {
		return scenarios.Algorithm{Name: text, Slices: 1}
	}
	return a
}
