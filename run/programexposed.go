package run

import (
	"cmp"
	"slices"
	"sort"

	"collsim/program"
	"collsim/sim"
	"collsim/unit"
)

// Usage divides up the time of a rank in a program:
//
//	time = Compute + Moving + Waiting + Idle
//
// Kernels run during Compute. In the rest, a call is Moving while its bytes are under way to the
// rank or from it. It is Moving, too, while the rank adds, copies or hands them over. A call is
// Waiting while its rank could go on but nothing moves, as a peer has not begun. Else the rank is
// Idle. Hidden is the time in which calls move while kernels run.
type Usage struct {
	Rank                                   int
	Compute, Moving, Waiting, Idle, Hidden unit.Time
}

// Exposed returns how long calls run on the rank while no kernel does.
func (u *Usage) Exposed() unit.Time { return u.Moving + u.Waiting }

// Calls returns how long calls move, hidden or not, or wait.
func (u *Usage) Calls() unit.Time { return u.Hidden + u.Moving + u.Waiting }

// lost returns how long neither kernels run nor calls move: the bubble of a pipeline's stage.
func (u *Usage) lost() unit.Time { return u.Waiting + u.Idle }

// CallWait holds how long a call on a rank has waited until a peer had sent something or had room
// for more. Op is an index into Lowered.Ops. Peer −1 is the rank itself, whose own steps began no
// sooner.
type CallWait struct {
	Op   int
	Peer int32
	Time unit.Time
}

// Stage is a stage of a pipeline, of so many ranks. Lost is that of all of them together.
type Stage struct {
	Name  string
	Ranks int
	Lost  unit.Time
}

// span is from a time to another.
type span = sim.Span

// account works out when each op is carried out, and what the time of ranks goes into.
func (result *ProgramResult) account(parts []sim.Busy) {
	result.Ops = make([]OpTime, len(result.Lowered.Ops))
	result.Iterations = make([]unit.Time, max(result.Point.Iterations, 1))
	ops := result.opOfParts()
	for n := range result.Ops {
		result.Ops[n].Start = unit.Forever
	}
	for i := range parts {
		b, n := &parts[i], ops[parts[i].Part]
		t, iteration := &result.Ops[n], result.Lowered.Ops[n].Iteration
		t.Start, t.End = min(t.Start, b.From), max(t.End, b.To)
		result.Iterations[iteration] = max(result.Iterations[iteration], t.End)
	}
	for n := range result.Ops {
		if t := &result.Ops[n]; t.Start == unit.Forever {
			t.Start = 0
		}
	}
	ranks := result.onRanks(parts, ops)
	most := 0
	for n := range ranks {
		if ranks[n].Exposed() > ranks[most].Exposed() {
			most = n
		}
	}
	result.Usage = ranks[most].Usage
	defer result.unfoldRanks()
	for _, b := range ranks[most].parts {
		result.Ops[ops[b.Part]].IsOnRank = true
	}
	result.attribute(&ranks[most], ops)
	for _, s := range result.Lowered.Stages {
		times := result.standsFor()
		stage := Stage{Name: s.Name, Ranks: len(s.Ranks) * times}
		for _, rank := range s.Ranks {
			stage.Lost += ranks[rank].lost() * unit.Time(times)
		}
		result.Stages = append(result.Stages, stage)
	}
}

// onRank holds the work of one rank in a program.
type onRank struct {
	Usage
	kernels []span      // in order, none overlaps the next
	calls   []*sim.Busy // in the order of their parts
	parts   []*sim.Busy // likewise, with those of kernels
}

// onRanks works out what each rank does.
func (result *ProgramResult) onRanks(parts []sim.Busy, ops []int) []onRank {
	low := result.Lowered
	registers := make([]bool, len(ops)) // what their kernels do is no computing
	for _, part := range low.Registering {
		registers[part] = true
	}
	ranks := make([]onRank, low.Schedule.Spec.Ranks)
	for i := range parts {
		b := &parts[i]
		r := &ranks[b.Rank]
		r.parts = append(r.parts, b)
		if !registers[b.Part] {
			r.kernels = append(r.kernels, b.Kernels...)
		}
		if communicates(&low.Ops[ops[b.Part]]) {
			r.calls = append(r.calls, b)
		}
	}
	for n := range ranks {
		r := &ranks[n]
		r.kernels = union(r.kernels)
		var moves, begun []span
		for _, b := range r.calls {
			moves = append(moves, b.Moves...)
			begun = append(begun, span{From: b.Ready, To: b.To})
		}
		moves, begun = union(moves), union(begun)
		r.Rank, r.Compute, r.Hidden = n, length(r.kernels), 0
		for _, s := range moves {
			r.Hidden += covered(s, r.kernels)
		}
		exposed := length(begun)
		for _, s := range begun {
			exposed -= covered(s, r.kernels)
		}
		r.Moving = length(moves) - r.Hidden
		r.Waiting = exposed - r.Moving
		r.Idle = result.Time - r.Compute - exposed
	}
	return ranks
}

// communicates reports whether an op is a call, or has one in it.
func communicates(o *program.LoweredOp) bool { return o.IsCall || len(o.Names) > 1 }

// union joins spans that overlap or touch; they come back in order.
func union(spans []span) (joined []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.From, b.From) })
	for _, s := range spans {
		if n := len(joined); n > 0 && s.From <= joined[n-1].To {
			joined[n-1].To = max(joined[n-1].To, s.To)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// length returns the total time of spans that do not overlap.
func length(spans []span) (total unit.Time) {
	for _, s := range spans {
		total += s.To - s.From
	}
	return total
}

// covered returns how much of a span is covered by others, which are in order and do not overlap.
func covered(s span, by []span) (total unit.Time) {
	i := sort.Search(len(by), func(i int) bool { return by[i].To > s.From })
	for ; i < len(by) && by[i].From < s.To; i++ {
		total += min(s.To, by[i].To) - max(s.From, by[i].From)
	}
	return total
}

// gaps returns the times from 0 to end that spans leave free. The spans are in order and do not
// overlap.
func gaps(spans []span, end unit.Time) (left []span) {
	from := unit.Time(0)
	for _, s := range spans {
		if s.From > from {
			left = append(left, span{From: from, To: s.From})
		}
		from = s.To
	}
	if from < end {
		left = append(left, span{From: from, To: end})
	}
	return left
}
