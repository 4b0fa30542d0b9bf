package report

import (
	"collsim/hw"
	"collsim/run"
)

// measuredColumns lists the facts of a measurement; they have no value for a simulation. CSV has
// only measurements that succeeded.
func measuredColumns() Layout {
	column := func(key string, form Form, of fact) Column {
		return inJSON(derivedField("hw."+key, form.orNull(), of))
	}
	return append(Layout{
		column("executor", aText(), measured(executorOf)),
		inCSV(7, "hw_executor", executed(executorOf)),
		// The algorithm of the library; empty where our steps were executed.
		column("algorithm", aText(), measured(func(m *run.Measured) Value { return Text(m.Algorithm) })),
		// What a library that chooses by itself reports to have chosen.
		column("chose", aText(), measured(func(m *run.Measured) Value { return Text(m.Chose) })),
		// Whether the library chose what the simulation assumed; null where either is silent.
		column("same_choice", aBool(), func(r *run.Result) Value {
			same, isKnown := r.SameChoice()
			return known(isKnown, Bool(same))
		}),
		// What the library predicts by a model of its own.
		column("estimate_ps", aWhole(), executed(func(m *run.Measured) Value {
			return known(m.Estimate > 0, Int(m.Estimate))
		})),
		column("bits", aText(), measured(func(m *run.Measured) Value { return Text(m.Bits) })),
		inCSV(7, "hw_bits", executed(func(m *run.Measured) Value { return Text(m.Bits) })),
		column("why", aText(), measured(func(m *run.Measured) Value { return Text(m.Why) })),
		column("time_ps", aWhole(), executed(func(m *run.Measured) Value {
			return Int(m.Time)
		})).csv(7, "hw_time_ps"),
		column("time_spread_ps", aWhole(), executed(func(m *run.Measured) Value {
			return Int(m.Spread)
		})).csv(7, "hw_time_spread_ps"),
		column("time_fastest_ps", aWhole(), executed(func(m *run.Measured) Value {
			return Int(m.Fastest)
		})),
		// The largest difference between the clocks of two ranks; 0 where all share one.
		column("skew_ps", aWhole(), executed(func(m *run.Measured) Value { return Int(m.Skew) })),
		column("repetitions", aWhole(), measured(func(m *run.Measured) Value {
			return Int(m.Repetitions)
		})),
		inCSV(7, "hw_repetitions", executed(func(m *run.Measured) Value {
			return Int(m.Repetitions)
		})),
		// Simulated over measured, less 1.
		column("error", aNumber(), executed(func(m *run.Measured) Value {
			return rate(m.Error, m.Time > 0)
		})),
		inCSV(7, "hw_error", executed(func(m *run.Measured) Value { return Number(m.Error) })).inGo(),
		column("ran_on", ranOnFields().form(), executed(func(m *run.Measured) Value {
			return ranOnFields().write(&m.RanOn)
		})),
	}, failureColumns(column)...)
}

// failureColumns lists why a result was not executed, or failed, and what is wrong with it.
func failureColumns(column func(key string, form Form, of fact) Column) Layout {
	return Layout{
		// Why it was not executed.
		column("skipped", aText(), measured(func(m *run.Measured) Value { return Text(m.Skipped) })),
		// The outcome of a run with faults for each rank.
		toldColumn(column),
		column("failure", failureFields().form(), measured(func(m *run.Measured) Value {
			return failureFields().writeAny(m.Failure)
		})),
		// How the bits differ, if they do.
		column("compare", comparisonFields().form(), measured(func(m *run.Measured) Value {
			return comparisonFields().writeAny(m.Comparison)
		})),
	}
}

// executorOf returns the name of the executor.
func executorOf(m *run.Measured) Value { return Text(string(m.Executor)) }

// measured makes a fact of results that were to be executed.
func measured(of func(*run.Measured) Value) fact {
	return func(r *run.Result) Value {
		if r.Measured == nil {
			return Value{}
		}
		return of(r.Measured)
	}
}

// executed makes a fact of results whose execution succeeded.
func executed(of func(*run.Measured) Value) fact {
	return func(r *run.Result) Value {
		if !r.Measured.Executed() {
			return Value{}
		}
		return of(r.Measured)
	}
}

func ranOnFields() fields[hw.RanOn] {
	type on = hw.RanOn
	return fields[on]{
		textField("executor", func(on *on) *string { return &on.Executor }),
		textField("transport", func(on *on) *string { return &on.Transport }),
		textField("cpu", func(on *on) *string { return &on.CPU }),
		wholeField("cores", func(on *on) *int { return &on.Cores }),
		textField("os", func(on *on) *string { return &on.OS }),
		textField("go", func(on *on) *string { return &on.Go }),
		textsField("hosts", func(on *on) *[]string { return &on.Hosts }),
	}
}

// failureFields lists the members of an executor's error. −1 stands for no rank, lane or step.
func failureFields() fields[hw.Error] {
	type e = hw.Error
	return fields[e]{
		textField("call", func(e *e) *string { return &e.Call }),
		textField("code", func(e *e) *string { return &e.Code }),
		wholeField("rank", func(e *e) *int { return &e.Rank }),
		wholeField("lane", func(e *e) *int { return &e.Lane }),
		wholeField("step", func(e *e) *int { return &e.Step }),
		textField("text", func(e *e) *string { return &e.Text }),
	}
}
