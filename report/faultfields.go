package report

import (
	"collsim/run"
	"collsim/unit"
)

// faultsField makes the field of what came of faults, and arrivalField that of late arrivals; there
// is none where the scenario has none.
func faultsField[T any](at func(*T) **run.Faulted) field[T] {
	return objectField("faults", faultedFields(), at).ifAny()
}
func arrivalField[T any](at func(*T) **run.Arrived) field[T] {
	return objectField("arrival", arrivedFields(), at).ifAny()
}

// toldColumn makes the column of the outcomes for ranks.
func toldColumn(column func(key string, form Form, of fact) Column) Column {
	return column("told", anArray(toldFields().form()), measured(func(m *run.Measured) Value {
		return known(m.Told != nil, toldFields().all(m.Told))
	}))
}

// faultedFields lists the members of what came of faults.
func faultedFields() fields[run.Faulted] {
	type f = run.Faulted
	type s = run.Strike
	type w = run.HungLane
	strikes := fields[s]{
		wholeField("rank", func(s *s) *int { return &s.Rank }),
		textField("does", func(s *s) *string { return &s.Does }),
		wholeField("late_ps", func(s *s) *unit.Time { return &s.Late }).ifSet(),
		naturalField("step", func(s *s) *int { return &s.Step }),
		textField("op", func(s *s) *string { return &s.Op }).ifSet(),
		wholeField("from_ps", func(s *s) *unit.Time { return &s.Fault.At }),
		naturalField("at_ps", func(s *s) *unit.Time { return &s.At }),
		boolField("struck", func(s *s) *bool { return &s.Struck }),
	}
	waits := fields[w]{
		wholeField("rank", func(w *w) *int { return &w.Rank }),
		wholeField("lane", func(w *w) *int { return &w.Lane }),
		wholeField("step", func(w *w) *int { return &w.Step }),
		textField("does", func(w *w) *string { return &w.Name }),
		naturalField("chunk", func(w *w) *int { return &w.Chunk }),
		textField("for", func(w *w) *string { return &w.For }),
		wholeField("on_rank", func(w *w) *int { return &w.OnRank }),
		wholeField("on_lane", func(w *w) *int { return &w.OnLane }),
		wholeField("since_ps", func(w *w) *unit.Time { return &w.Since }),
	}
	return fields[f]{
		listField("faults", strikes, func(f *f) *[]s { return &f.Faults }),
		wholeField("without_ps", func(f *f) *unit.Time { return &f.Without }),
		boolField("hangs", func(f *f) *bool { return &f.Hangs }),
		ownField("verdicts", anArray(aText()), func(f *f) Value {
			return known(f.Hangs, listOf(verdictsOf(f), Text))
		}, func(f *f, v Value) {
			for _, one := range v.list {
				f.Verdicts = append(f.Verdicts, one.text)
			}
		}).ifAny(),
		wholesField("ended", func(f *f) *[]int { return &f.Ended }),
		listField("waits", waits, func(f *f) *[]w { return &f.Waits }),
		textsField("watchdog", func(f *f) *[]string { return &f.Watchdog }),
	}
}

// arrivedFields lists the members of what late arrivals cost.
func arrivedFields() fields[run.Arrived] {
	type a = run.Arrived
	return fields[a]{
		wholeField("first_ps", func(a *a) *unit.Time { return &a.First }),
		wholeField("last_ps", func(a *a) *unit.Time { return &a.Last }),
		wholeField("last_rank", func(a *a) *int { return &a.LastRank }),
		wholeField("waits_ps", func(a *a) *unit.Time { return &a.Waits }),
		wholeField("together_ps", func(a *a) *unit.Time { return &a.Together }),
	}
}

// toldFields lists the members of the outcome for a rank.
func toldFields() fields[run.Told] {
	type t = run.Told
	return fields[t]{
		wholeField("rank", func(t *t) *int { return &t.Rank }),
		wholeField("times", func(t *t) *int { return &t.Times }),
		textField("error", func(t *t) *string { return &t.Err }).ifSet(),
		textField("differs", func(t *t) *string { return &t.Why }).ifSet(),
	}
}

// verdictsOf says why a run hangs.
func verdictsOf(f *run.Faulted) []string {
	if f.Dump == nil { // it was read back
		return f.Verdicts
	}
	texts, _ := HangVerdicts(f.Dump, f.Dump.Judge())
	return texts
}
