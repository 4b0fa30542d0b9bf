package run

import (
	"cmp"
	"slices"

	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/trace"
	"collsim/unit"
)

// ProgramExplanation divides up the time of a program.
type ProgramExplanation struct {
	Result *ProgramResult // without proof and numbers
	// Shares are of the critical path, by op and by what it spends its time on, the largest first;
	// Kinds are the same for all ops. The times of either sum up to the time.
	Shares, Kinds []OpShare
	// Spent divides up the time of the rank with the most exposed time: kernels, then calls, the
	// longest first, then the rest. The times sum up to the program's time, too.
	Spent  []Spent
	WhatIf []ProgramWhatIf
	// Cuts holds how the kernels are cut into blocks: one entry for each shape in an op, in the
	// order of ops.
	Cuts []KernelCut
}

// KernelCut holds how a kernel of an op is cut into blocks.
type KernelCut struct {
	Op string
	sim.Cut
}

// Spent holds how long a rank does one thing. Op is the call that moves or waits. Peer is the
// rank that the call waits for, −1 if it waits for no other rank.
type Spent struct {
	What RankDoes
	Op   string
	Peer int32
	Time unit.Time
}

// RankDoes names one thing that a rank spends time on.
type RankDoes string

// What a rank does.
const (
	OnComputing RankDoes = "kernels"
	OnMoving    RankDoes = "moving"
	OnWaiting   RankDoes = "waiting"
	OnNothing   RankDoes = "idle"
)

// OpShare holds how long an op holds up the critical path in one way. Op is empty for the time
// before any op begins.
type OpShare struct {
	Op   string
	Kind PathKind
	Time unit.Time
}

// PathKind names one way in which the critical path spends time.
type PathKind string

// The kinds.
const (
	OnKernels  PathKind = "kernels"
	OnMemory   PathKind = "memory" // of collectives and copies
	OnLinks    PathKind = "links"
	OnLanes    PathKind = "lanes"     // what a lane, or a copy engine, moves at most
	OnSums     PathKind = "additions" // of collectives
	OnCopies   PathKind = "copies"    // within a GPU
	OnSteps    PathKind = "steps"     // what a step costs before any byte moves
	OnBarriers PathKind = "barriers"
	OnLaunches PathKind = "launches"
	OnEvents   PathKind = "events" // from stream to stream
	OnSMs      PathKind = "waiting for SMs"
	OnEngines  PathKind = "waiting for a copy engine"
	// OnRegistering makes a buffer known to other ranks.
	OnRegistering PathKind = "registering"
	OnStart       PathKind = "ranks that begin late"
)

// ProgramWhatIf holds the time of a program in which one thing costs nothing: "kernels", "links"
// or "launches".
type ProgramWhatIf struct {
	Free string
	Time unit.Time
}

// ExplainProgram simulates a program and says what decides its time. Of the options Links is
// heeded.
func (s *Scenario) ExplainProgram(p *scenarios.ProgramPoint, o RunOptions) (
	_ *ProgramExplanation, err error) {
	defer func() { err = s.located(err) }()
	r := &runner{s: s, sound: true, options: RunOptions{Trace: true, Links: o.Links}}
	result := &ProgramResult{Point: p, Proof: Off, Numbers: Off}
	if result.Lowered, result.chosen, err = lowerFitting(r, p, simulates|logs); err != nil {
		return nil, err
	}
	if err := r.enter(p.Point); err != nil {
		return nil, err
	}
	result.Network = r.network.String()
	if err := r.timeProgram(result); err != nil {
		return nil, p.Refuse("program", err.Error(), "")
	}
	e := &ProgramExplanation{Result: result}
	e.Shares, e.Spent = result.shares(), result.spent()
	env := r.env(p.Point, result.Lowered.Schedule)
	e.Cuts = result.cuts(&env)
	e.Kinds = sumShares(e.Shares, func(s OpShare) OpShare { return OpShare{Kind: s.Kind} })
	for _, what := range []string{"kernels", "links", "launches"} {
		t, err := r.programWithout(what, result)
		if err != nil {
			return nil, err
		}
		e.WhatIf = append(e.WhatIf, ProgramWhatIf{what, t})
	}
	return e, nil
}

// cuts returns the cuts of all kernels, each once.
func (result *ProgramResult) cuts(env *sim.Env) (list []KernelCut) {
	seen := map[KernelCut]bool{}
	for i := range result.Lowered.Ops {
		op := &result.Lowered.Ops[i]
		for _, part := range op.Parts {
			schedule.PartOf(result.Lowered.Schedule, part).Schedule.AnyStep(func(step *schedule.Step) bool {
				cut, there := sim.CutOf(env, step)
				k := KernelCut{nameOf(op), cut}
				if there && !seen[k] {
					seen[k] = true
					list = append(list, k)
				}
				return false
			})
		}
	}
	return list
}

// spent divides up the time of the rank with the most exposed time, over all iterations.
func (result *ProgramResult) spent() []Spent {
	var calls []Spent
	at := map[Spent]int{}
	add := func(s Spent) {
		time := s.Time
		if s.Time = 0; time == 0 {
			return
		}
		n, known := at[s]
		if !known {
			n = len(calls)
			at[s] = n
			calls = append(calls, s)
		}
		calls[n].Time += time
	}
	for n := range result.Ops {
		add(Spent{OnMoving, nameOf(&result.Lowered.Ops[n]), -1, result.Ops[n].Moving})
	}
	for _, w := range result.Waits {
		add(Spent{OnWaiting, nameOf(&result.Lowered.Ops[w.Op]), w.Peer, w.Time})
	}
	slices.SortStableFunc(calls, func(a, b Spent) int { return cmp.Compare(b.Time, a.Time) })
	all := append([]Spent{{OnComputing, "", -1, result.Compute}}, calls...)
	return append(all, Spent{OnNothing, "", -1, result.Idle})
}

// programWithout returns the simulated time of a program in which one thing costs nothing.
func (r *runner) programWithout(what string, result *ProgramResult) (unit.Time, error) {
	p := result.Point
	env := r.fresh(p.Point, result.Lowered.Schedule)
	g := env.Graph
	switch what {
	case "kernels":
		env.FreeCompute = true
	case "links":
		for i := range g.Links() {
			g.Links()[i].Bandwidth, g.Links()[i].Latency = unit.Unlimited, 0
		}
	case "launches":
		gpu := &env.Device.GPU
		env.Device.Launch, gpu.LaunchLatency, gpu.GraphLaunch, gpu.GraphNode = 0, 0, 0, 0
	}
	ran, err := sim.Run(result.Lowered.Schedule, env, sim.Options{})
	if err != nil {
		return 0, p.Refuse("program", err.Error(), "")
	}
	return ran.Time, nil
}

// onPath is the brackets of the lanes of ranks.
type onPath struct {
	trace    *trace.Trace
	brackets map[[2]int32][]int // by rank and lane, in order; never walked through
	ops      []int
	programs []*schedule.Program
	result   *ProgramResult
}

// shares sums up the pieces of the critical path by op and kind. While a bracket waits for SMs or
// for a copy engine, the time counts as that wait, whichever op has them meanwhile.
func (result *ProgramResult) shares() []OpShare {
	s := result.Lowered.Schedule
	o := onPath{trace: result.Trace, brackets: map[[2]int32][]int{}, ops: result.opOfParts(),
		result: result}
	for rank := range s.Spec.Ranks {
		o.programs = append(o.programs, s.Program(rank))
	}
	for n, b := range o.trace.Brackets {
		if o.trace.Rows[b.Row].Kind == trace.CopyEngine {
			continue
		}
		first := o.trace.Tracks[b.Track]
		for lane := range b.Lanes {
			at := [2]int32{first.Rank, first.Lane + lane}
			o.brackets[at] = append(o.brackets[at], n)
		}
	}
	var list []OpShare
	waits, until := OpShare{}, unit.Time(0) // from until on back, what has waited is this
	pieces := result.Critical
	for n := len(pieces) - 1; n >= 0; n-- {
		piece, of := pieces[n], -1
		if i := o.at(&piece); i >= 0 {
			of = i
		}
		share := o.share(&piece, of)
		from := piece.From
		if waits.Time = 0; until < piece.To && waits.Kind != "" {
			waits.Time = piece.To - max(from, until)
			list = append(list, waits)
			piece.To = max(from, until)
		}
		if share.Time = piece.To - from; share.Time > 0 {
			list = append(list, share)
		}
		if from <= until {
			waits.Kind = ""
		}
		if n > 0 && of >= 0 && waits.Kind == "" {
			b := &o.trace.Brackets[of]
			before := o.at(&pieces[n-1])
			if from == b.Start && b.Ready < b.Start && before != of {
				waits, until = OpShare{Op: b.Op, Kind: OnSMs}, b.Ready
				if b.Blocks == 0 && o.onEngine(of) {
					waits.Kind = OnEngines
				}
			}
		}
	}
	return sumShares(list, func(s OpShare) OpShare { return OpShare{Op: s.Op, Kind: s.Kind} })
}

// at returns the index of the bracket that a piece belongs to, −1 if none has begun.
func (o *onPath) at(p *sim.Piece) int {
	list := o.brackets[[2]int32{p.Rank, p.Lane}]
	n, _ := slices.BinarySearchFunc(list, p.To, func(b int, to unit.Time) int {
		return cmp.Compare(o.trace.Brackets[b].Start, to)
	})
	if n == 0 {
		return -1
	}
	return list[n-1]
}

// onEngine reports whether a bracket stands on a copy engine's row as well.
func (o *onPath) onEngine(of int) bool {
	b := &o.trace.Brackets[of]
	return slices.ContainsFunc(o.trace.Brackets, func(c trace.Bracket) bool {
		return c.Track == b.Track && c.Start == b.Start && c.End == b.End &&
			o.trace.Rows[c.Row].Kind == trace.CopyEngine
	})
}

// share returns the op and the kind of a piece that belongs to the bracket with index of.
func (o *onPath) share(p *sim.Piece, of int) OpShare {
	part := o.programs[p.Rank].Part(int(p.Lane))
	s := OpShare{Op: nameOf(&o.result.Lowered.Ops[o.ops[part]]), Kind: kindOf(p)}
	if s.Kind == OnKernels && slices.Contains(o.result.Lowered.Registering, part) {
		s.Kind = OnRegistering
	}
	if of >= 0 {
		if b := &o.trace.Brackets[of]; p.To <= b.End {
			if s.Op = b.Op; b.Name == "barrier" && s.Kind != OnLaunches && s.Kind != OnEvents {
				s.Kind = OnBarriers
			}
		}
	}
	if s.Kind == OnStart {
		s.Op = ""
	}
	return s
}

// kindOf returns the kind of a piece of the critical path.
func kindOf(p *sim.Piece) PathKind {
	switch p.What {
	case sim.Transfer:
		if p.Link < 0 {
			return OnLanes
		}
	case sim.Memory:
		return OnMemory
	case sim.Compute:
		return OnKernels
	case sim.Reduction:
		return OnSums
	case sim.Copy:
		return OnCopies
	case sim.Overhead:
		return OnSteps
	case sim.Launch:
		return OnLaunches
	case sim.EventLatency:
		return OnEvents
	case sim.Start:
		return OnStart
	}
	return OnLinks
}

// sumShares adds those up that are alike, the largest first.
func sumShares(list []OpShare, key func(OpShare) OpShare) (sums []OpShare) {
	at := map[OpShare]int{}
	for _, s := range list {
		k := key(s)
		n, there := at[k]
		if !there {
			n = len(sums)
			at[k] = n
			sums = append(sums, k)
		}
		sums[n].Time += s.Time
	}
	slices.SortStableFunc(sums, func(a, b OpShare) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Op, b.Op),
			cmp.Compare(a.Kind, b.Kind))
	})
	return sums
}
