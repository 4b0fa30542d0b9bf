package run

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/internal/prose"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/unit"
)

// Calls holds the times of a benchmark of a collective: a loop of calls, one directly after the
// other.
type Calls struct {
	// Time is the time of the loop over the number of its calls, as nccl-tests prints it. It
	// includes the extra time that the first call takes.
	Time unit.Time
	// Period is the time from the end of a call to the end of the next, of the rank that takes
	// longest: Time, of a loop without end.
	Period  unit.Time
	Repeats bool // it was found to be the same twice; else it is the mean of the last calls
	Calls   int  // that were simulated
	// Floor is the least time between two calls that one process issues for several GPUs; 0 where
	// each GPU has its own process.
	Floor unit.Time
	Off   string // why nothing of all this is known; else empty
}

// mostCalled bounds the messages that are simulated for calls in a row, over all calls together.
// That takes a few seconds.
const mostCalled = 1 << 22

// timeCalls simulates calls in a row of the schedule that a point is carried out as, and sets
// result.Calls. alone is the simulation of one call by itself.
func (r *runner) timeCalls(s *schedule.Schedule, result *Result, alone *sim.Result) {
	b := &result.Point.Benchmark
	if b.Calls == 0 || r.critical {
		return
	}
	result.Calls = &Calls{Floor: floorOf(result)}
	if result.Calls.Off = r.simulateCalls(s, result, alone); result.Calls.Off != "" {
		result.Warnings = append(result.Warnings, "the time of a call in a row is not known: "+
			result.Calls.Off)
	}
}

// simulateCalls simulates the calls of a point's benchmark and fills in result.Calls. It returns
// why no time is known, or "".
func (r *runner) simulateCalls(s *schedule.Schedule, result *Result,
	alone *sim.Result) (off string) {
	if result.passes() > 1 {
		return "the backward pass takes two passes"
	}
	b, c := &result.Point.Benchmark, result.Calls
	env := r.fresh(result.Point, s)
	row, err := sim.Calls(s, env, sim.CallsOptions{Calls: b.Calls, Messages: mostCalled},
		&alone.Totals)
	if err != nil {
		return err.Error()
	}
	if row == nil {
		return fmt.Sprintf("%s of a call are too many to simulate three that overlap",
			prose.Plural(int(alone.Messages), "message"))
	}
	c.Period, c.Repeats, c.Calls = max(row.Period, c.Floor), row.Repeats, len(row.Ends)
	loop := max(row.Loop(b.Calls), row.Ends[0]+c.Floor*unit.Time(b.Calls-1))
	c.Time = loop / unit.Time(b.Calls)
	if !row.Repeats && c.Calls < b.Calls {
		result.Warnings = append(result.Warnings, fmt.Sprintf("calls in a row were simulated %d times, "+
			"until that took too long, and do not repeat yet: the others are taken to be as the last",
			c.Calls))
	}
	return ""
}

// floorOf returns the least time between two calls that one process issues for all GPUs of a
// node. It is 0 where each GPU has its own process, and where calls are replayed from a graph.
func floorOf(r *Result) unit.Time {
	p := r.Point
	b := &p.Benchmark
	if b.Processes != scenarios.OneProcess || b.Graph {
		return 0
	}
	gpus := p.Topology.InNode()
	floor := b.Issue * unit.Time(gpus)
	if a, err := find(p.Spec.Kind, r.Algorithm.Name); err == nil && a.Grouped {
		skipsEmpty := slices.Contains(r.Algorithm.Params, scenarios.Param{Name: "empty", Value: "skip"})
		floor += b.IssueMessage * unit.Time(messagesIssued(p.Spec, gpus, skipsEmpty))
	}
	return floor
}

// messagesIssued returns the number of sends and receives in a group call that one process issues
// for so many GPUs: those of the node that has the most, or of the root's. Each rank's send to
// itself counts.
func messagesIssued(spec collective.Spec, gpus int, skipsEmpty bool) int {
	switch {
	case spec.Kind == collective.AllToAllV && skipsEmpty:
		most := 0
		for first := 0; first < spec.Ranks; first += gpus {
			n := 0
			for rank := first; rank < min(first+gpus, spec.Ranks); rank++ {
				for other := range spec.Ranks {
					n += int(min(spec.Splits[rank][other], 1) + min(spec.Splits[other][rank], 1))
				}
			}
			most = max(most, n)
		}
		return most
	case spec.Kind == collective.AllToAll, spec.Kind == collective.AllToAllV:
		return 2 * spec.Ranks * gpus
	case spec.Kind == collective.Gather, spec.Kind == collective.Scatter:
		return spec.Ranks + gpus
	}
	return 2 * gpus
}

// PerCall returns the time from which bandwidths are computed: that of one call alone or, in a
// benchmark, of a call of its loop. It is 0 where that is not known.
func (r *Result) PerCall() unit.Time {
	if r.Calls != nil {
		return r.Calls.Time
	}
	return r.Time
}

// callsInRow returns how many calls a repetition of a measurement makes: those of the benchmark's
// loop where a library does them, which takes one after the other as nccl-tests has it; else one.
func (r *Result) callsInRow() int {
	if r.Point.Hardware.Executor != scenarios.NCCL || r.Calls == nil || r.Calls.Off != "" {
		return 1
	}
	return r.Point.Benchmark.Calls
}

// measurable returns the simulated time of what a measurement takes the time of: of a call in a
// loop, or of one call.
func (r *Result) measurable() unit.Time {
	if r.callsInRow() > 1 {
		return r.PerCall()
	}
	return r.Time
}
