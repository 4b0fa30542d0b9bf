package report

import (
	"collsim/hw"
	"collsim/run"
)

// measuredColumns are what was measured: nothing of a simulation. CSV has only what went well.
func measuredColumns() Layout {
	return Layout{
		inJSON("hw.executor", measured(executorOf)),
		inCSV(7, "hw_executor", played(executorOf)),
		// Of the library; empty where our steps were played.
		inJSON("hw.algorithm", measured(func(m *run.Measured) Value { return Text(m.Algorithm) })),
		// How a library did it that chooses by itself, and says so.
		inJSON("hw.chose", measured(func(m *run.Measured) Value { return Text(m.Chose) })),
		// Whether that is what was picked for the simulation; null where one says nothing.
		inJSON("hw.same_choice", func(r *run.Result) Value {
			same, isKnown := r.SameChoice()
			return known(isKnown, Bool(same))
		}),
		// What the library predicts by a model of its own.
		inJSON("hw.estimate_ps", played(func(m *run.Measured) Value {
			return known(m.Estimate > 0, Int(m.Estimate))
		})),
		inJSON("hw.bits", measured(func(m *run.Measured) Value { return Text(m.Bits) })),
		inCSV(7, "hw_bits", played(func(m *run.Measured) Value { return Text(m.Bits) })),
		inJSON("hw.why", measured(func(m *run.Measured) Value { return Text(m.Why) })),
		inJSON("hw.time_ps", played(func(m *run.Measured) Value {
			return Int(m.Time)
		})).csv(7, "hw_time_ps"),
		inJSON("hw.time_spread_ps", played(func(m *run.Measured) Value {
			return Int(m.Spread)
		})).csv(7, "hw_time_spread_ps"),
		inJSON("hw.time_fastest_ps", played(func(m *run.Measured) Value { return Int(m.Fastest) })),
		// At most so far were the clocks of two ranks apart; 0 where all have the same.
		inJSON("hw.skew_ps", played(func(m *run.Measured) Value { return Int(m.Skew) })),
		inJSON("hw.repetitions", measured(func(m *run.Measured) Value { return Int(m.Repetitions) })),
		inCSV(7, "hw_repetitions", played(func(m *run.Measured) Value {
			return Int(m.Repetitions)
		})),
		// Simulated over measured, less 1.
		inJSON("hw.error", played(func(m *run.Measured) Value { return rate(m.Error, m.Time > 0) })),
		inCSV(7, "hw_error", played(func(m *run.Measured) Value { return Number(m.Error) })).inGo(),
		inJSON("hw.ran_on", played(func(m *run.Measured) Value { return ranOnValue(&m.RanOn) })),
		// Why it was not played.
		inJSON("hw.skipped", measured(func(m *run.Measured) Value { return Text(m.Skipped) })),
		inJSON("hw.failure", measured(func(m *run.Measured) Value { return failureValue(m.Failure) })),
		// Of the bits, where they differ.
		inJSON("hw.compare", measured(func(m *run.Measured) Value {
			return comparisonValue(m.Comparison)
		})),
	}
}

// executorOf is who played, by name.
func executorOf(m *run.Measured) Value { return Text(string(m.Executor)) }

// measured is a fact of what was to be played.
func measured(of func(*run.Measured) Value) fact {
	return func(r *run.Result) Value {
		if r.Measured == nil {
			return Value{}
		}
		return of(r.Measured)
	}
}

// played is a fact of what was played, and went well.
func played(of func(*run.Measured) Value) fact {
	return func(r *run.Result) Value {
		if !r.Measured.Played() {
			return Value{}
		}
		return of(r.Measured)
	}
}

func ranOnValue(on *hw.RanOn) Value {
	return object(members{{"executor", Text(on.Executor)}, {"transport", Text(on.Transport)},
		{"cpu", Text(on.CPU)}, {"cores", Int(on.Cores)}, {"os", Text(on.OS)}, {"go", Text(on.Go)},
		{"hosts", listOf(on.Hosts, Text)}})
}

// failureValue is an executor's error: −1 stands for no rank, lane or step.
func failureValue(e *hw.Error) Value {
	if e == nil {
		return Value{}
	}
	return object(members{{"call", Text(e.Call)}, {"code", Text(e.Code)}, {"rank", Int(e.Rank)},
		{"lane", Int(e.Lane)}, {"step", Int(e.Step)}, {"text", Text(e.Text)}})
}
