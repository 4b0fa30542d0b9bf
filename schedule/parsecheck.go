package schedule

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/unit"
)

// Checks of a text as a whole: its header is complete, its programs keep to the rules of schedules,
// and they can be executed in a machine's time and memory.

// complete returns an error that names a fact that the header lacks. Without a count, say, there
// would be no elements, and everything would be true of them.
func (p *parser) complete() error {
	size := "count"
	if p.s.Spec.Kind.Splits() {
		size = "splits"
	}
	for _, fact := range []struct{ name, what string }{
		{"collective", "the problem, as in collective all_reduce float32 sum"},
		{"ranks", "how many there are, as in ranks 8"},
		{size, fmt.Sprintf("the elements of the %v, as in the NCCL call", p.s.Spec.Kind)},
	} {
		if slices.Contains(p.facts, fact.name) ||
			fact.name == size && (p.s.Spec.Kind == collective.Barrier || p.s.isProgram()) {
			continue
		}
		return fmt.Errorf("the header has no %q line: %s", fact.name, fact.what)
	}
	return nil
}

// count counts lanes of one rank, or under a group of every rank.
func (p *parser) count(lanes int32) error {
	times := int64(1)
	if p.s.Group != nil {
		times = int64(p.s.Spec.Ranks)
	}
	if p.lanes += times * int64(lanes); p.lanes > maxAllLanes {
		return fmt.Errorf("%d lanes on all ranks so far; at most %d are read", p.lanes,
			int64(maxAllLanes))
	}
	return nil
}

// check checks every step, in all its lanes and iterations, against the rules of schedules, and
// their number against maxWork.
func (p *parser) check() error {
	s := p.s
	lanes := func(rank int32) int32 {
		if s.Group != nil {
			rank = 0
		}
		return p.roles[rank].lanes
	}
	for rank, c := range p.roles {
		keep := checker{s: s, rank: int32(rank), lanes: lanes}
		err := c.each(func(u *bundle, n *node, times []int32) error {
			l, i := &c.leaves[n.leaf], n.leaf
			p.work = unit.AddCapped(p.work, s.work(l, times))
			if p.work > maxWork {
				return &ParseError{p.lines[rank][i], fmt.Sprintf("with this step in all its loops, lanes, "+
					"slices and ranks, the programs name %s blocks and peers; at most %d are read",
					atLeast(p.work), int64(maxWork))}
			}
			if err := keep.bundle(u, c, n, times); err != nil {
				return &ParseError{p.lines[rank][i], err.Error()}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls f with every step, its bundle, and its number of executions: lanes, then each loop's
// iterations.
func (c *code) each(f func(u *bundle, n *node, times []int32) error) error {
	var walk func(u *bundle, from, to int32, times []int32) error
	walk = func(u *bundle, from, to int32, times []int32) error {
		for pc := from; pc < to; pc++ {
			n := &c.nodes[pc]
			if n.leaf >= 0 {
				if err := f(u, n, times); err != nil {
					return err
				}
				continue
			}
			inner := append(times[:len(times):len(times)], n.count)
			if err := walk(u, pc+1, pc+1+n.size, inner); err != nil {
				return err
			}
			pc += n.size
		}
		return nil
	}
	for i := range c.bundles {
		u := &c.bundles[i]
		if err := walk(u, u.from, u.to, []int32{u.count}); err != nil {
			return err
		}
	}
	return nil
}

// work returns the blocks and peers that all sub-steps of a leaf name together, at least 1 each.
func (s *Schedule) work(l *leaf, times []int32) int64 {
	step := l.step // each does not change it
	names := int64(1 + len(step.From) + len(step.Send) + len(step.Await))
	for i := range step.From {
		names += int64(len(step.From[i].Team))
	}
	for i := range step.Send {
		names += int64(len(step.Send[i].Team))
	}
	step.regions(func(r *Region) { names += int64(r.count()) })
	if l.moves {
		names = unit.MultiplyCapped(names, int64(s.Slices))
	}
	if s.Group != nil {
		names = unit.MultiplyCapped(names, int64(s.Spec.Ranks))
	}
	for _, n := range times {
		names = unit.MultiplyCapped(names, int64(n))
	}
	return names
}

// atLeast formats a number, or "more than 2^63" if it is too large.
func atLeast(n int64) string {
	if n == unit.Largest {
		return "more than 2^63"
	}
	return fmt.Sprint(n)
}
