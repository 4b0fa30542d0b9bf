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

// Calls is what a benchmark measures of a collective: a loop of calls, one behind the other.
type Calls struct {
	// Time is that of the loop over the number of its calls: what nccl-tests prints. In it is what
	// the first call takes longer than those that follow it.
	Time unit.Time
	// Period is the time from the end of a call to the end of the next, of the rank that takes
	// longest: Time, of a loop without end.
	Period  unit.Time
	Repeats bool // it was found to be the same twice; else it is the mean of the last calls
	Calls   int  // that were simulated
	// Floor is how far apart a process issues calls, where one does so for several GPUs; else 0.
	Floor unit.Time
	Off   string // why nothing of all this is known; else empty
}

// mostCalled is how many messages are simulated of calls in a row at most, of all of them together:
// a few seconds.
const mostCalled = 1 << 22

// timeCalls simulates calls in a row of what a point is carried out as, of which one took so long
// alone.
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

// simulateCalls is the rest of that. It returns why nothing is known.
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

// floorOf is how far apart calls are issued by one process for all GPUs of a node.
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

// messagesIssued is how many sends and receives there are in the group of a call, of so many GPUs
// and those of the root among them, or of the node that has the most; each sends to itself as well.
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

// PerCall is the time by which bandwidths are counted: of one call alone, or of a benchmark that of
// a call of its loop; 0 where that is not known.
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
