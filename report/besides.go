package report

import (
	"sync"

	"collsim/reference"
	"collsim/run"
	"collsim/sim"
	"collsim/unit"
)

// besides lists what tables and pictures say of a result and no column has. Lines carry it, so that
// they can be read back.
var besides = sync.OnceValue(func() fields[run.Result] {
	type r = run.Result
	list := fields[r]{
		textField("network", func(r *r) *string { return &r.Network }),
		textField("proven", func(r *r) *string { return &r.Proven }),
		wholeField("busy_ps", func(r *r) *unit.Time { return &r.Limit.Busy }),
		wholeField("rate", func(r *r) *unit.Rate { return &r.Limit.Rate }), // bytes per second
		objectField("held", heldFields(), func(r *r) **run.Held { return &r.Held }),
		wholeField("sampled", func(r *r) *int { return &r.Sampled }),
		boolField("unbounded", func(r *r) *bool { return &r.Unbounded }),
		textField("picked", func(r *r) *string { return &r.Picked.What }),
		textField("picked_why", func(r *r) *string { return &r.Picked.Why }),
		textField("picked_other", func(r *r) *string { return &r.Picked.Other }),
		boolField("rings_inferred", func(r *r) *bool { return &r.Picked.Inferred }),
		objectField("mismatch", mismatchFields(), func(r *r) **reference.Mismatch {
			return &r.Mismatch
		}),
		ownField("numerics", aBool(), func(r *r) Value { return Bool(r.Numerics != nil) },
			func(r *r, v Value) { makeNumerics(r) }),
		ownField("altered", aBool(), func(r *r) Value {
			return Bool(r.Comparison != nil && r.Comparison.Altered)
		}, func(r *r, v Value) {
			if r.Comparison != nil {
				r.Comparison.Altered = true
			}
		}),
		ownField("undefined", aBool(), func(r *r) Value {
			return Bool(r.Comparison != nil && r.Comparison.Undefined)
		}, func(r *r, v Value) {
			if r.Comparison != nil {
				r.Comparison.Undefined = true
			}
		}),
	}
	for i, f := range list {
		list[i] = f.ifSet()
	}
	return list
})

// heldFields lists the members of what delays a run.
func heldFields() fields[run.Held] {
	type h = run.Held
	return fields[h]{
		ownField("what", aText(), func(h *h) Value { return Text(h.What.String()) },
			func(h *h, v Value) {
				for w := sim.Start; w <= sim.EventLatency; w++ {
					if w.String() == v.text {
						h.What = w
					}
				}
			}),
		textField("link", func(h *h) *string { return &h.Link }),
		boolField("slots", func(h *h) *bool { return &h.Slots }),
		wholeField("time_ps", func(h *h) *unit.Time { return &h.Time }),
		wholeField("of_ps", func(h *h) *unit.Time { return &h.Of }),
	}
}

// mismatchFields lists the members of the first wrong element.
func mismatchFields() fields[reference.Mismatch] {
	type m = reference.Mismatch
	return fields[m]{
		textField("tensor", func(m *m) *string { return &m.Tensor }).ifSet(),
		wholeField("rank", func(m *m) *int { return &m.Rank }),
		wholeField("element", func(m *m) *int64 { return &m.Element }),
		textField("got", func(m *m) *string { return &m.Got }),
		textField("want", func(m *m) *string { return &m.Want }),
	}
}

// programBesides lists what tables say of a program and its members in JSON do not.
func programBesides() fields[run.ProgramResult] {
	type r = run.ProgramResult
	list := fields[r]{
		textField("network", func(r *r) *string { return &r.Network }),
		textField("numbers_why", func(r *r) *string { return &r.NumbersOff }),
		wholeField("wrong", func(r *r) *int64 { return &r.Wrong }),
		numberField("max_ulp", func(r *r) *float64 { return &r.MaxULP }),
		wholeField("scaled", func(r *r) *int64 { return &r.Scaled }),
		objectField("mismatch", mismatchFields(), func(r *r) **reference.Mismatch {
			return &r.Mismatch
		}),
		// By index, the ops that are calls, and those in which the rank of exposed_rank takes part.
		opsThat("calls", func(r *r, op int) *bool { return &r.Lowered.Ops[op].IsCall }),
		opsThat("on_rank", func(r *r, op int) *bool { return &r.Ops[op].IsOnRank }),
	}
	for i, f := range list {
		list[i] = f.ifSet()
	}
	return list
}

// opsThat makes a field of the indices of the ops for which something is true.
func opsThat(name string, at func(r *run.ProgramResult, op int) *bool) field[run.ProgramResult] {
	type r = run.ProgramResult
	return ownField[r](name, anArray(aWhole()), func(r *r) Value {
		v := array()
		for op := range r.Ops {
			if *at(r, op) {
				v.list = append(v.list, Int(op))
			}
		}
		return v
	}, func(r *r, v Value) {
		for _, op := range v.list {
			if op.whole >= 0 && op.whole < int64(len(r.Ops)) {
				*at(r, int(op.whole)) = true
			}
		}
	})
}
