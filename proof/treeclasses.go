package proof

import (
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// In a tree whose ranks have many children the classes of rolecounts.go do not help: the chain of
// parents distinguishes every rank. But consider ranks of a role whose peers are at equal distances
// (schedule.PlacedClassesOf). They hold the same values relative to themselves. In a binomial tree
// node 4 sends up the inputs of nodes 4 to 7, and node 12 those of 12 to 15. So a value names
// inputs by the distance of their ranks from the rank that holds it.
//
// A rank that is alone in its class names inputs by their numbers. Values that have all inputs, or
// the root's, are made there, and are the same wherever they go. Where the root's input has a block
// for each rank, elements are counted from the block of the rank that holds them.
//
// Everything is checked. If the peers of a class are in several classes, what they send must be the
// same relative to each member. The members of a class execute a step at once, when each of them
// can. Other ranks may have advanced further by then, so a stall, or a wait for a second slot,
// proves nothing. Then, and if two lanes access a cell, all ranks are walked.

// treeClasses is the state of a walk of one rank for each class of a tree.
type treeClasses struct {
	classes *schedule.Classes
	block   int64 // elements of the root's input for each rank, in a scatter; else 0
	gaveUp  bool
	a, b    []seg
}

// verifyTreeClasses proves a schedule by one rank of each class of its trees. It returns nil if
// that does not succeed: the schedule may be wrong, or right for another reason.
func verifyTreeClasses(s *schedule.Schedule, o Options) *Proof {
	if !s.HasRoles() || s.Spec.Empty() || s.Spec.Ranks < 3 || o.Iterations > 1 || o.Rendezvous ||
		o.Scratches > 1 || o.Traffic || o.Causal != nil ||
		s.AnyStep(func(step *schedule.Step) bool { return step.Ranked || reachesFar(step) }) {
		return nil
	}
	c := schedule.PlacedClassesOf(s)
	if c == nil || c.Len() >= s.Spec.Ranks {
		return nil
	}
	p := &treeClasses{classes: c}
	if s.Spec.Kind == collective.Scatter {
		p.block = s.Spec.Count
	}
	v := newVerifier(s)
	v.treeClasses, v.iterations, v.scratches = p, 1, 1
	slots, counts := v.findSlots(o.Slots)
	if slots != 1 || p.gaveUp || len(v.found) > 0 || len(v.tainted) > 0 {
		return nil
	}
	for class := range int32(c.Len()) {
		v.checkOutput(int(c.Rank(class)), 0)
	}
	if p.gaveUp || len(v.found) > 0 || !v.sameTree() {
		return nil
	}
	return &Proof{Walked: c.Len(), Rounds: counts.Rounds, Steps: counts.Steps,
		Messages: counts.Messages, BytesSent: v.bytesSent(), MinSlots: slots,
		InFlight: counts.InFlight, KeepsRankOrder: v.ordered, SameTree: true, Iterations: 1}
}

// isAlone reports whether a rank is alone in its class.
func (p *treeClasses) isAlone(rank int32) bool { return p.classes.Size(p.classes.Of[rank]) == 1 }

// own returns the value of a rank's own input.
func (p *treeClasses) own(rank int32) *value {
	if p.isAlone(rank) {
		return inputOf(rank)
	}
	v := inputOf(0)
	v.relative = true
	return v
}

// hooks wraps a walk's hooks. Steps of representatives appear as those of the ranks that they are.
// A message to another member of the class must equal the representative's.
func (p *treeClasses) hooks(h schedule.Hooks, v *verifier) schedule.Hooks {
	if h.Step == nil {
		return h
	}
	step := h.Step
	h.Also = func(at *schedule.Visit, i int, member, handle int32) error {
		rep, peer := p.classes.Rank(at.Rank), at.Step.From[i].Peer.Rank
		p.a = p.arrive(p.a[:0], v.payload[at.In[i]], peer, rep)
		p.b = p.arrive(p.b[:0], v.payload[handle], member+peer-rep, member)
		if !slices.EqualFunc(p.a, p.b, sameSeg) {
			return errGaveUp
		}
		return nil
	}
	h.Step = func(at *schedule.Visit) error {
		at.Rank = p.classes.Rank(at.Rank)
		if err := step(at); err != nil || !p.gaveUp {
			return err
		}
		return errGaveUp
	}
	return h
}

// sameSeg reports whether two segments have the same elements of equal values.
func sameSeg(x, y seg) bool {
	if x.v == nil || y.v == nil || x.v == spoilt || y.v == spoilt {
		return false
	}
	return x.n == y.n && x.off == y.off && x.v.tree == y.v.tree && x.v.ordered == y.v.ordered &&
		x.v.relative == y.v.relative && x.v.scaled == y.v.scaled && slices.Equal(x.v.runs, y.v.runs)
}

// arrive appends what rank from has sent to rank to, in the receiver's terms.
func (p *treeClasses) arrive(into, segs []seg, from, to int32) []seg {
	far := int64(0)
	if !p.isAlone(from) {
		far += int64(from) * p.block
	}
	alone := p.isAlone(to)
	if !alone {
		far -= int64(to) * p.block
	}
	var last, moved *value
	for _, g := range segs {
		if g.v != nil && g.v.relative {
			if g.v != last {
				last, moved = g.v, g.v.from(from-to, alone, from)
			}
			g.v = moved
		}
		g.off += far
		into = appendSeg(into, g)
	}
	return into
}

// from returns a value that comes from a rank at distance far, in the receiver's terms. A receiver
// that is alone in its class names inputs by number, and so distinguishes trees by sender. Other
// receivers distinguish them by distance.
func (v *value) from(far int32, alone bool, sender int32) *value {
	by := far
	if alone {
		by = sender
	}
	moved := &value{tree: scramble(v.tree + inputTree(by)), ordered: v.ordered, scaled: v.scaled,
		relative: !alone}
	moved.runs = moved.small[:0]
	for _, r := range v.runs {
		moved.runs = append(moved.runs, run{r.from + by, r.to + by, r.times})
	}
	return moved
}

// seen returns a cell of a representative in absolute terms. Members of its class hold the same
// there only if the value does not name ranks relative to the holder; else the walk gives up.
func (p *treeClasses) seen(c cell, rank int32) cell {
	if c.v == nil || p.isAlone(rank) {
		return c
	}
	p.gaveUp = p.gaveUp || c.v.relative
	c.off += int64(rank) * p.block
	return c
}

// isFirst reports whether a rank represents its class.
func (p *treeClasses) isFirst(rank int32) bool {
	return p.classes.Rank(p.classes.Of[rank]) == rank
}

// fewPeers is the number of peers of a rank in two binary trees.
const fewPeers = 6

// byFewRanks returns the proofs to try for a schedule whose ranks do not all do the same, the
// likelier one first: those for roles, and the one for blocks that differ in size.
func byFewRanks(s *schedule.Schedule) []func(*schedule.Schedule, Options) *Proof {
	list := []func(*schedule.Schedule, Options) *Proof{verifyRoleCounts, verifyTreeClasses,
		verifyEvened, verifyStraight}
	if s.HasRoles() && s.MostPeers() > fewPeers {
		list[0], list[1] = list[1], list[0]
	}
	return list
}
