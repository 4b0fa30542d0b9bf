package reference

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// A sample is output elements, and only what they depend on: the steps that contribute to them, on
// whatever rank, back to the inputs. Where a schedule has a group, rank g does what rank 0 does,
// translated. So rank 0 is walked once (schedule.Limits.Folded), and its sub-steps are visited
// backwards. If an element is needed that a sub-step stores or sends, the same element of its
// operands is needed. Needed elements are then computed forwards, each sub-step for all ranks that
// need it. An element of an all_reduce takes the inputs of all ranks, but only the steps that add
// them up and bring the sum there.

// Samples returns why a schedule's numbers cannot be checked on a sample; empty if they can.
func Samples(s *schedule.Schedule) string {
	_, why := frameOf(s)
	return why
}

// A frame converts between memories of any rank and rank 0's.
type frame struct {
	s      *schedule.Schedule
	strips [schedule.FirstTensor][]schedule.Strip // of memories with blocks numbered by ranks
	named  [schedule.FirstTensor]schedule.Buffer  // buffer that defines the numbering
}

// frameOf returns the frame of a schedule, or why it has none.
func frameOf(s *schedule.Schedule) (*frame, string) {
	f := &frame{s: s}
	switch kind := s.Spec.Kind; {
	case s.Group == nil:
		return nil, "no rank's steps stand for those of others"
	case s.Teams() != nil || schedule.Composed(s) || len(s.Tensors) > 0:
		return nil, "the schedule is composed of others"
	case kind == collective.Custom || kind == collective.Barrier || s.Spec.Empty():
		return nil, "there are no elements to take"
	case !s.SameSizes():
		return nil, "blocks are not of one size"
	case s.AnyStep(reachesOut):
		return nil, "a step is more than messages and local work"
	}
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		if !s.ByRank(b) {
			continue
		}
		strips, ok := s.Strips(b)
		home, base := s.Home(b, 0)
		if !ok || base != 0 {
			return nil, "blocks are not the same from every rank"
		}
		if have := f.strips[home]; have != nil && (!slices.Equal(have, strips) ||
			s.Mirrored(b) != s.Mirrored(f.named[home])) {
			return nil, "input and output lie in one memory and are cut differently"
		}
		f.strips[home], f.named[home] = strips, b
	}
	if s.Spec.InPlace && s.ByRank(schedule.Input) != s.ByRank(schedule.Output) {
		return nil, "input and output lie in one memory, and one of them is cut by ranks"
	}
	return f, ""
}

// reachesOut reports whether a step does more than messages and local work.
func reachesOut(step *schedule.Step) bool {
	for i := range step.From {
		f := &step.From[i]
		if f.Kind == schedule.Get || f.Kind == schedule.Multimem || f.Put() {
			return true
		}
	}
	return step.Kernel != nil || slices.ContainsFunc(step.Send, func(d schedule.Dest) bool {
		return d.Lands() || d.Silent
	})
}

// moved returns the element of a memory that a rank translates an element to or, with back, from.
func (f *frame) moved(memory schedule.Buffer, x int64, by int32, back bool) int64 {
	for i := len(f.strips[memory]) - 1; i >= 0; i-- {
		p := &f.strips[memory][i]
		if x < p.Off {
			continue
		}
		block := int32((x - p.Off) / p.Size)
		to := block
		by = f.s.Moves(f.named[memory], by)
		if back {
			to = f.s.Group.Sub(block, by)
		} else {
			to = f.s.Group.Add(block, by)
		}
		return x + int64(to-block)*p.Size
	}
	return x
}

// An action is a sub-step of rank 0. sources and targets are ranges of the sample's lists.
type action struct {
	sources, targets [2]int32
	pending          int32 // the first need of its value through a message; −1: none
	scale, ranked    bool
}

// from is an operand: a region, or a message with the action that sent it and that rank's distance.
type from struct {
	sender, far int32 // sender −1: a region
	region      place0
	scale       bool
}

// place0 is a region on rank 0, its elements in order.
type place0 struct {
	memory schedule.Buffer
	spans  [2]int32
}

// A need is an element that a slot must hold: of a memory, in rank 0's terms, or of a message's
// value.
type need struct {
	at         int64
	rank, slot int32
	next       int32
	memory     schedule.Buffer // of a message: none
}

// computed is the elements of an action's value that are computed, for several ranks: nodes from
// first on, each with a slot for every operand.
type computed struct {
	action, first, count, slots int32
}

// A sample is the plan that computes some output elements.
type sample struct {
	*frame
	actions []action
	sources []from
	targets []place0
	spans   []schedule.Span

	needs  []need
	heads  [schedule.FirstTensor][]int32 // by memory: needs, in buckets of equal ranges of elements
	widths [schedule.FirstTensor]int64

	nodes    int32
	slots    []int32 // a node; or ^need of an unwritten element
	computed []computed
	ranks    []int32 // of each node
	hits     []need
}

// SampleSteps bounds, approximately, the step values that a sample computes; at least one output
// element is computed. Beyond mostNodes the sample is given up: a value takes some 100 bytes.
const (
	SampleSteps = 1 << 22
	mostNodes   = 4 * SampleSteps
)

// mostSpans bounds the runs of elements that rank 0's steps name.
const mostSpans = 1 << 24

// errLarge explains why a sample was given up.
type errLarge struct{ text string }

// Error returns the explanation.
func (e *errLarge) Error() string { return e.text }

// walk records the actions of rank 0.
func (p *sample) walk(slots int) error {
	var sent []int32 // by handle, the action
	var widths []schedule.Width
	hook := func(v *schedule.Visit) error {
		w, ok := p.s.WidthOf(v.Step)
		a := action{pending: -1, scale: v.Step.Scale, ranked: v.Step.Ranked}
		a.sources[0], a.targets[0] = int32(len(p.sources)), int32(len(p.targets))
		for i := range v.Step.From {
			f := &v.Step.From[i]
			o := from{sender: -1, scale: f.Scale}
			if f.Kind == schedule.Message {
				o.sender, o.far = sent[v.In[i]], f.Peer.Rank
				ok = ok && widths[v.In[i]] == w
			} else {
				o.region = p.place(v.Spot(), &f.Region)
			}
			p.sources = append(p.sources, o)
		}
		for i := range v.Step.To {
			p.targets = append(p.targets, p.place(v.Spot(), &v.Step.To[i]))
		}
		a.sources[1], a.targets[1] = int32(len(p.sources)), int32(len(p.targets))
		for _, handle := range v.Out {
			for int(handle) >= len(sent) {
				sent, widths = append(sent, 0), append(widths, schedule.Width{})
			}
			if handle >= 0 {
				sent[handle], widths[handle] = int32(len(p.actions)), w
			}
		}
		if !ok {
			return &errLarge{"the operands of other ranks do not stand as those of rank 0 do"}
		}
		p.actions = append(p.actions, a)
		if len(p.spans) > mostSpans {
			return &errLarge{fmt.Sprintf("the steps of a rank name more than %d runs of elements",
				mostSpans)}
		}
		return nil
	}
	_, err := schedule.Execute(p.s, schedule.Limits{Slots: slots, Folded: true, Brief: true},
		schedule.Hooks{Step: hook})
	return err
}

// place returns a region on rank 0.
func (p *sample) place(where schedule.Spot, r *schedule.Region) place0 {
	home, base := p.s.Home(r.Buffer, 0)
	first := len(p.spans)
	p.spans = p.s.Spans(p.spans, where, r)
	for i := range p.spans[first:] {
		p.spans[first+i].Off += base
	}
	return place0{home, [2]int32{int32(first), int32(len(p.spans))}}
}

// stretches bounds the buckets of a memory's needs.
const stretches = 1 << 20

// plan finds the computations for some outputs, whose slots are the first.
func (p *sample) plan(list []output) error {
	p.needs, p.slots, p.computed, p.ranks = p.needs[:0], make([]int32, len(list)), nil, p.ranks[:0]
	p.nodes = 0
	for i := range p.actions {
		p.actions[i].pending = -1
	}
	p.open()
	for i, out := range list {
		home, base := p.s.Home(schedule.Output, out.rank)
		p.slots[i] = ^int32(len(p.needs))
		p.remember(home, need{at: p.moved(home, base+out.at, int32(out.rank), true),
			rank: int32(out.rank), slot: int32(i)})
	}
	return p.back()
}

// open makes the buckets of needs, empty.
func (p *sample) open() {
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		n := extent(p.s, b, 0)
		p.widths[b] = max(1, (n+stretches-1)/stretches)
		p.heads[b] = make([]int32, n/p.widths[b]+1)
		for i := range p.heads[b] {
			p.heads[b][i] = -1
		}
	}
}

// remember adds a need of an element of a memory, in rank 0's terms.
func (p *sample) remember(memory schedule.Buffer, n need) {
	head := &p.heads[memory][n.at/p.widths[memory]]
	n.next, n.memory = *head, memory
	*head = int32(len(p.needs))
	p.needs = append(p.needs, n)
}

// back visits the actions backwards.
func (p *sample) back() error {
	for i := len(p.actions) - 1; i >= 0; i-- {
		a := &p.actions[i]
		p.hits = p.hits[:0]
		for n := a.pending; n >= 0; n = p.needs[n].next {
			p.hits = append(p.hits, p.needs[n])
		}
		for k := a.targets[0]; k < a.targets[1]; k++ {
			p.stored(&p.targets[k])
		}
		if len(p.hits) == 0 {
			continue
		}
		p.compute(int32(i))
		if p.nodes > mostNodes {
			return &errLarge{fmt.Sprintf("even a few elements take more than %d steps", mostNodes)}
		}
	}
	return nil
}

// stored moves the needs that a region of rank 0 satisfies to the hits.
func (p *sample) stored(t *place0) {
	off, width := int64(0), p.widths[t.memory]
	for _, span := range p.spans[t.spans[0]:t.spans[1]] {
		end := span.Off + span.Len
		for s := span.Off / width; s*width < end; s++ {
			at := &p.heads[t.memory][s]
			for *at >= 0 {
				n := &p.needs[*at]
				if n.at < span.Off || n.at >= end {
					at = &n.next
					continue
				}
				hit := *n
				hit.at += off - span.Off
				p.hits = append(p.hits, hit)
				*at = n.next
			}
		}
		off += span.Len
	}
}

// compute makes an action compute the hits, each element of a rank once, and adds the needs of its
// operands.
func (p *sample) compute(index int32) {
	a := &p.actions[index]
	slices.SortFunc(p.hits, func(x, y need) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.rank, y.rank),
			cmp.Compare(x.slot, y.slot))
	})
	distinct := p.hits[:0]
	c := computed{action: index, first: p.nodes, slots: int32(len(p.slots))}
	for i, h := range p.hits {
		if i == 0 || h.at != distinct[len(distinct)-1].at || h.rank != distinct[len(distinct)-1].rank {
			distinct = append(distinct, h)
			p.ranks = append(p.ranks, h.rank)
			p.nodes++
		}
		p.slots[h.slot] = p.nodes - 1
	}
	c.count = p.nodes - c.first
	every := int(a.sources[1] - a.sources[0])
	p.slots = append(p.slots, make([]int32, len(distinct)*every)...)
	for k := range every {
		p.operand(&p.sources[int(a.sources[0])+k], distinct, int(c.slots)+k, every)
	}
	p.computed = append(p.computed, c)
}

// operand adds needs of an operand's elements, in order; the i-th is needed in slot + i·every.
func (p *sample) operand(f *from, hits []need, slot, every int) {
	spans, before := p.spans[f.region.spans[0]:f.region.spans[1]], int64(0)
	for i, h := range hits {
		n := need{at: h.at, rank: h.rank, slot: int32(slot + i*every)}
		if f.sender >= 0 {
			n.rank = p.s.Group.Add(h.rank, f.far)
			head := &p.actions[f.sender].pending
			n.next, *head = *head, int32(len(p.needs))
			p.needs = append(p.needs, n)
			continue
		}
		for n.at >= before+spans[0].Len {
			before, spans = before+spans[0].Len, spans[1:]
		}
		n.at += spans[0].Off - before
		p.slots[n.slot] = ^int32(len(p.needs))
		p.remember(f.region.memory, n)
	}
}
