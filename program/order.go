package program

import (
	"fmt"
	"slices"
	"strings"
)

// An Order is how ranks alternate between forward and backward passes.
type Order uint8

// The orders.
const (
	AsWritten Order = iota // all forward, then all backward
	// OneForwardOneBackward is the order of PipeDream-flush (Narayanan et al., "Memory-Efficient
	// Pipeline-Parallel DNN Training", ICML 2021), which Megatron has as well. Stage s of p does
	// p−1−s microbatches forward, then one forward and one backward in turn, then the remaining
	// backward passes.
	OneForwardOneBackward
	// InterleavedOneForwardOneBackward is the interleaved order of Megatron (Narayanan et al.,
	// "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC 2021,
	// section 2.2): a stage has several chunks of the model. Stage s of p with v chunks does
	// 2·(p−1−s) + (v−1)·p forward passes through a chunk, then one forward and one backward in turn.
	InterleavedOneForwardOneBackward
)

var orderNames = [...]string{"as written", "1f1b", "interleaved-1f1b"}

// Orders lists the names of the orders.
func Orders() []string { return orderNames[:] }

// String returns the name, such as "1f1b".
func (o Order) String() string { return orderNames[o] }

// turns orders the ops of a program with its backward pass.
type turns struct {
	q      *Program
	by     Order
	ranks  [][]int // of each op
	stage  []int   // of each op; −1 if several stages do it, or none
	chunk  []int   // of each op of a pass, of its stage
	needs  [][]int // of each op: ops that it must come after
	turn   []*turn // of each op; nil if it is in none
	issued []bool
	order  []int
}

// ordered returns q, which is p with its backward pass, in p's order.
func (p *Program) ordered(q *Program) (*Program, error) {
	if !p.Gradient {
		return nil, &Error{-1, -1, "order", fmt.Sprintf("order %q is one of forward and backward "+
			"passes: gradient = \"full\" is expected with it", p.Order)}
	}
	stages, err := p.stages()
	if err != nil {
		return nil, err
	}
	if stages == nil {
		return nil, &Error{-1, -1, "stages", fmt.Sprintf("the names of at least 2 groups, one for each "+
			"stage, are expected with order %q", p.Order)}
	}
	t := &turns{q: q, by: p.Order, issued: make([]bool, len(q.Ops)), turn: make([]*turn, len(q.Ops))}
	t.place(stages)
	t.depend()
	if err := t.issueAll(len(stages)); err != nil {
		return nil, sourced(err, q.Ops)
	}
	ordered := *q
	ordered.Ops = nil
	for _, i := range t.order {
		o := q.Ops[i]
		if t.stage[i] < 0 && o.phase == backwardPass && o.Call != "" {
			o.Stream = streamOf(&o) + ":grad" // gradients do not wait for activations
		}
		ordered.Ops = append(ordered.Ops, o)
	}
	return &ordered, nil
}

// place finds the ranks and the stage of each op.
func (t *turns) place(stages []Stage) {
	type seat struct {
		ranks []int
		stage int
	}
	seats := map[string]seat{} // of groups
	for i := range t.q.Ops {
		group := t.q.Ops[i].Group
		at, known := seats[group]
		if !known {
			teams, _ := t.q.teamsOf(group) // plain has checked it
			at.ranks = t.q.ranksOf(teams)
			at.stage = slices.IndexFunc(stages, func(of Stage) bool {
				return !slices.ContainsFunc(at.ranks,
					func(r int) bool { return !slices.Contains(of.Ranks, r) })
			})
			seats[group] = at
		}
		t.ranks, t.stage = append(t.ranks, at.ranks), append(t.stage, at.stage)
	}
}

// streamOf returns the stream of a call.
func streamOf(o *Op) string {
	if o.Stream == "" {
		return "comm"
	}
	return o.Stream
}

// A Stage is a stage of a pipeline: the ranks of the group of its name.
type Stage struct {
	Name  string
	Ranks []int
}

// stages returns the stages of a program, in order; nil if it names none.
func (p *Program) stages() (list []Stage, err error) {
	fail := func(format string, args ...any) ([]Stage, error) {
		return nil, &Error{-1, -1, "stages", fmt.Sprintf(format, args...)}
	}
	if len(p.Stages) == 1 {
		return fail("a pipeline goes through at least 2 groups")
	}
	of := make([]string, p.Ranks)
	for _, name := range p.Stages {
		teams, err := p.teamsOf(name)
		if err != nil {
			return fail("%v", err)
		}
		ranks := p.ranksOf(teams)
		for _, rank := range ranks {
			if of[rank] != "" {
				return fail("rank %d is of %s and of %s: one stage a rank is expected", rank, of[rank], name)
			}
			of[rank] = name
		}
		list = append(list, Stage{name, ranks})
	}
	return list, nil
}

// depend finds what each op must come after. On a rank of both, it reads or overwrites what the
// other writes, overwrites what the other reads, or names it in After.
func (t *turns) depend() {
	writers, readers, named := map[string][]int{}, map[string][]int{}, map[string][]int{}
	needs := func(i int, list []int) {
		for _, j := range list {
			if meet(t.ranks[i], t.ranks[j]) {
				t.needs[i] = append(t.needs[i], j)
			}
		}
	}
	t.needs = make([][]int, len(t.q.Ops))
	for i := range t.q.Ops {
		o := &t.q.Ops[i]
		for _, name := range o.In {
			needs(i, writers[name])
		}
		if o.Out != "" {
			needs(i, writers[o.Out])
			needs(i, readers[o.Out])
			writers[o.Out] = append(writers[o.Out], i)
		}
		for _, name := range o.In {
			readers[name] = append(readers[name], i)
		}
		for _, name := range o.After {
			needs(i, named[name])
		}
		named[o.Name] = []int{i}
	}
}

// meet reports whether a rank is in two lists.
func meet(a, b []int) bool {
	return slices.ContainsFunc(a, func(rank int) bool { return slices.Contains(b, rank) })
}

// A turn is a pass of a microbatch through a chunk of a stage, and its ops.
type turn struct {
	microbatch, place int // its place in the order of its stage and pass
	ops               []int
}

// turnsOf lists the turns of each stage in their order, without ops that read gradients.
func (t *turns) turnsOf(stages int) ([][]*turn, error) {
	type key struct {
		stage, chunk, microbatch int
		phase                    phase
	}
	known, passes := map[key]*turn{}, make([][2][]*turn, stages)
	chunks, microbatches := t.chunks(), 0
	for i := range t.q.Ops {
		o := &t.q.Ops[i]
		microbatches = max(microbatches, o.Microbatch+1)
		if t.stage[i] < 0 || o.phase == afterGradients {
			continue
		}
		k := key{t.stage[i], t.chunk[i], o.Microbatch, o.phase}
		if known[k] == nil {
			chunk := k.chunk
			if k.phase == backwardPass {
				chunk = chunks - 1 - chunk
			}
			known[k] = &turn{microbatch: k.microbatch,
				place: inGroups(k.microbatch, chunk, stages, chunks)}
			of := &passes[k.stage][k.phase]
			*of = append(*of, known[k])
		}
		known[k].ops, t.turn[i] = append(known[k].ops, i), known[k]
	}
	list := make([][]*turn, stages)
	for stage, of := range passes {
		for _, pass := range of {
			slices.SortStableFunc(pass, func(a, b *turn) int { return a.place - b.place })
		}
		list[stage] = alternate(of[forwardPass], of[backwardPass],
			t.ahead(stage, stages, chunks, microbatches))
	}
	return list, t.checkMicrobatches(microbatches, stages)
}

// alternate returns the turns of a stage: so many forward passes ahead, then one more and one
// backward in turn.
func alternate(forward, backward []*turn, ahead int) []*turn {
	ahead = min(ahead, len(forward))
	list := slices.Clone(forward[:ahead])
	for k := range max(len(forward)-ahead, len(backward)) {
		if ahead+k < len(forward) {
			list = append(list, forward[ahead+k])
		}
		if k < len(backward) {
			list = append(list, backward[k])
		}
	}
	return list
}

// issueAll issues all ops. Each round issues what is in no turn, as far as it is ready, then one
// turn of each stage.
func (t *turns) issueAll(stages int) error {
	turns, err := t.turnsOf(stages)
	if err != nil {
		return err
	}
	var others []int
	for i, of := range t.turn {
		if of == nil {
			others = append(others, i)
		}
	}
	for len(t.order) < len(t.q.Ops) {
		was := len(t.order)
		others = slices.DeleteFunc(others, t.issue)
		ready := make([]bool, stages)
		for stage, list := range turns {
			ready[stage] = len(list) > 0 && t.isReady(list[0])
		}
		for stage := range turns {
			if ready[stage] {
				for _, i := range turns[stage][0].ops {
					t.issue(i)
				}
				turns[stage] = turns[stage][1:]
			}
		}
		if len(t.order) == was {
			return t.stuck(turns)
		}
	}
	return nil
}

// isReady reports whether all ops of a turn can be issued, one after the other.
func (t *turns) isReady(now *turn) bool {
	for _, i := range now.ops {
		for _, j := range t.needs[i] {
			if !t.issued[j] && t.turn[j] != now {
				return false
			}
		}
	}
	return true
}

// issue issues an op if it is ready, and reports whether it is issued.
func (t *turns) issue(i int) bool {
	if !t.issued[i] && !slices.ContainsFunc(t.needs[i], func(j int) bool { return !t.issued[j] }) {
		t.issued[i] = true
		t.order = append(t.order, i)
	}
	return t.issued[i]
}

// stuck returns an error that names what the turns wait for.
func (t *turns) stuck(turns [][]*turn) error {
	var waits []string
	first := -1
	for stage, list := range turns {
		if len(list) == 0 {
			continue
		}
		for _, i := range list[0].ops {
			for _, j := range t.needs[i] {
				if !t.issued[j] && t.turn[j] != list[0] {
					if first < 0 {
						first = i
					}
					waits = append(waits, fmt.Sprintf("%s, of stage %s and microbatch %d, needs %s",
						t.q.Ops[i].Name, t.q.Stages[stage], list[0].microbatch, t.q.Ops[j].Name))
				}
			}
		}
	}
	const most = 4
	if len(waits) > most {
		waits = append(waits[:most], "…")
	}
	return &Error{max(first, 0), -1, "repeat", fmt.Sprintf("order %q is none of this program: %s",
		t.by, strings.Join(waits, "; "))}
}
