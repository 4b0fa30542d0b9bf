package proof

import (
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// In a tree whose ranks have many children the classes of linear.go are of no use: who its parent's
// parents are tells every rank apart. But ranks of a role whose peers lie as far from them
// (schedule.PlacedClassesOf) hold the same as seen from themselves: what node 4 of a binomial tree
// sends up has the inputs of nodes 4 to 7 in it, what node 12 sends those of 12 to 15. So a value
// names inputs by how far their ranks are from the rank that holds it. Who is alone in a class
// knows who it is, and names them by their numbers; what has all inputs, or the root's, is made
// there, and is the same wherever it goes. Where a block of the root's input is for each rank,
// elements are counted from the block of the rank that holds them.
//
// Nothing is believed: if peers of a class are of several classes, what these send must be the same
// as seen from each of its members. All members take a step at once, when each can. Others may have
// come further by then, so that a wait for ever, or for a second slot, says nothing. Then, and if
// two lanes touch a cell, all ranks are walked.

// placed is the state of such a walk.
type treeClasses struct {
	classes *schedule.Classes
	block   int64 // of the root's input, where each rank has one; else 0
	gaveUp  bool
	a, b    []seg
}

// verifyPlaced proves a schedule by its placed classes; nil where that does not succeed: then it
// may be wrong, or right for another reason.
func verifyTreeClasses(s *schedule.Schedule, o Options) *Proof {
	if !s.HasRoles() || s.Spec.Empty() || s.Spec.Ranks < 3 || o.Iterations > 1 || o.Rendezvous ||
		o.Scratches > 1 || o.Traffic || o.Causal != nil ||
		s.AnyStep(func(step *schedule.Step) bool { return step.Ranked || reachesFar(step) }) {
		return nil
	}
	c := schedule.PlacedClassesOf(s)
	if c == nil || len(c.Reps) >= s.Spec.Ranks {
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
	for _, rep := range c.Reps {
		v.checkOutput(int(rep), 0)
	}
	if p.gaveUp || len(v.found) > 0 || !v.sameTree() {
		return nil
	}
	return &Proof{Walked: len(c.Reps), Rounds: counts.Rounds, Steps: counts.Steps,
		Messages: counts.Messages, BytesSent: v.bytesSent(), MinSlots: slots,
		InFlight: counts.InFlight, KeepsRankOrder: v.ordered, SameTree: true, Iterations: 1}
}

// isAlone reports whether a rank is alone in its class.
func (p *treeClasses) isAlone(rank int32) bool { return p.classes.Size[p.classes.Of[rank]] == 1 }

// own is the input of a rank.
func (p *treeClasses) own(rank int32) *value {
	if p.isAlone(rank) {
		return inputOf(rank)
	}
	v := inputOf(0)
	v.relative = true
	return v
}

// hooks have the steps of representatives take place as those of the ranks that they are.
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

// sameSeg reports whether two segments are of the same elements of values made alike.
func sameSeg(x, y seg) bool {
	if x.v == nil || y.v == nil || x.v == spoilt || y.v == spoilt {
		return false
	}
	return x.n == y.n && x.off == y.off && x.v.tree == y.v.tree && x.v.ordered == y.v.ordered &&
		x.v.relative == y.v.relative && x.v.scaled == y.v.scaled && slices.Equal(x.v.runs, y.v.runs)
}

// arrive appends what one rank has sent to another, as that sees it.
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

// from is a value of a rank that is so far away. Who is alone names inputs by their numbers, and so
// which tree they are in: as many are as far from one rank as others are from another.
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

// seen is a cell of a representative with the ranks' own numbers. What others of its class hold
// there is the same only if it names no ranks as it sees them.
func (p *treeClasses) seen(c cell, rank int32) cell {
	if c.v == nil || p.isAlone(rank) {
		return c
	}
	p.gaveUp = p.gaveUp || c.v.relative
	c.off += int64(rank) * p.block
	return c
}

// isFirst reports whether a rank stands for its class.
func (p *treeClasses) isFirst(rank int32) bool {
	return p.classes.Reps[p.classes.Of[rank]] == rank
}

// fewPeers is how many a rank of two binary trees has.
const fewPeers = 6

// byRoles are the proofs of a schedule with roles, the likely one first.
func byRoles(s *schedule.Schedule) []func(*schedule.Schedule, Options) *Proof {
	if s.HasRoles() && s.MostPeers() > fewPeers {
		return []func(*schedule.Schedule, Options) *Proof{verifyTreeClasses, verifyRoleCounts}
	}
	return []func(*schedule.Schedule, Options) *Proof{verifyRoleCounts, verifyTreeClasses}
}
