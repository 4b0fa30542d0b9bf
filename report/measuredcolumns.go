package report

import (
	"collsim/hw"
	"collsim/run"
)

// measuredColumns lists the facts of a measurement; they have no value for a simulation. CSV has
// only measurements that succeeded.
func measuredColumns() Layout {
	return Layout{
		inJSON("hw.executor", measured(executorOf)),
		inCSV(7, "hw_executor", executed(executorOf)),
		// The algorithm of the library; empty where our steps were executed.
		inJSON("hw.algorithm", measured(func(m *run.Measured) Value { return Text(m.Algorithm) })),
		// What a library that chooses by itself reports to have chosen.
		inJSON("hw.chose", measured(func(m *run.Measured) Value { return Text(m.Chose) })),
		// Whether the library chose what the simulation assumed; null where either is silent.
		inJSON("hw.same_choice", func(r *run.Result) Value {
			same, isKnown := r.SameChoice()
			return known(isKnown, Bool(same))
		}),
		// What the library predicts by a model of its own.
		inJSON("hw.estimate_ps", executed(func(m *run.Measured) Value {
			return known(m.Estimate > 0, Int(m.Estimate))
		})),
		inJSON("hw.bits", measured(func(m *run.Measured) Value { return Text(m.Bits) })),
		inCSV(7, "hw_bits", executed(func(m *run.Measured) Value { return Text(m.Bits) })),
		inJSON("hw.why", measured(func(m *run.Measured) Value { return Text(m.Why) })),
		inJSON("hw.time_ps", executed(func(m *run.Measured) Value {
			return Int(m.Time)
		})).csv(7, "hw_time_ps"),
		inJSON("hw.time_spread_ps", executed(func(m *run.Measured) Value {
			return Int(m.Spread)
		})).csv(7, "hw_time_spread_ps"),
		inJSON("hw.time_fastest_ps", executed(func(m *run.Measured) Value { return Int(m.Fastest) })),
		// The largest difference between the clocks of two ranks; 0 where all share one.
		inJSON("hw.skew_ps", executed(func(m *run.Measured) Value { return Int(m.Skew) })),
		inJSON("hw.repetitions", measured(func(m *run.Measured) Value { return Int(m.Repetitions) })),
		inCSV(7, "hw_repetitions", executed(func(m *run.Measured) Value {
			return Int(m.Repetitions)
		})),
		// Simulated over measured, less 1.
		inJSON("hw.error", executed(func(m *run.Measured) Value { return rate(m.Error, m.Time > 0) })),
		inCSV(7, "hw_error", executed(func(m *run.Measured) Value { return Number(m.Error) })).inGo(),
		inJSON("hw.ran_on", executed(func(m *run.Measured) Value { return ranOnValue(&m.RanOn) })),
		// Why it was not executed.
		inJSON("hw.skipped", measured(func(m *run.Measured) Value { return Text(m.Skipped) })),
		inJSON("hw.failure", measured(func(m *run.Measured) Value { return failureValue(m.Failure) })),
		// How the bits differ, if they do.
		inJSON("hw.compare", measured(func(m *run.Measured) Value {
			return comparisonValue(m.Comparison)
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

func ranOnValue(on *hw.RanOn) Value {
	return object(members{{"executor", Text(on.Executor)}, {"transport", Text(on.Transport)},
		{"cpu", Text(on.CPU)}, {"cores", Int(on.Cores)}, {"os", Text(on.OS)}, {"go", Text(on.Go)},
		{"hosts", listOf(on.Hosts, Text)}})
}

// failureValue makes the object of an executor's error. −1 stands for no rank, lane or step.
func failureValue(e *hw.Error) Value {
	if e == nil {
		return Value{}
	}
	return object(members{{"call", Text(e.Call)}, {"code", Text(e.Code)}, {"rank", Int(e.Rank)},
		{"lane", Int(e.Lane)}, {"step", Int(e.Step)}, {"text", Text(e.Text)}})
}
