package sccl

import (
	"fmt"
	"slices"

	"collsim/formats/internal/transfers"
	"collsim/schedule"
)

// maxFound is the most violations that are reported.
const maxFound = 20

// repeated reports the sends that add a chunk to a sum that already contains it.
func (m *mover) repeated(low *transfers.Lowered) (found []*schedule.Violation) {
	for _, i := range m.doubled[:min(len(m.doubled), maxFound)] {
		v := m.violation(low, schedule.Doubled, i)
		v.Text = fmt.Sprintf("%v is added again", spot{m.a.sends[i].src, m.a.sends[i].addr})
		found = append(found, v)
	}
	return found
}

// unmet checks an algorithm of unknown kind against its own postcondition: every rank ends with the
// chunks that it needs, and no others.
func (m *mover) unmet() (found []*schedule.Violation) {
	wanted := map[spot]set{}
	_ = m.spread("output_map", func(c *chunk) []int { return c.post },
		func(at spot, number int) bool {
			wanted[at] = wanted[at].add(number)
			return true
		})
	for rank := range m.a.coll.nodes {
		for _, addr := range m.a.outputs[rank] {
			at := spot{rank, addr}
			has, want := m.hold(at).chunks, wanted[at]
			v := &schedule.Violation{Rank: rank, Lane: -1, Step: -1, Chunk: int(m.homes[at].Block)}
			switch {
			case !has.holds(want):
				v.Kind, v.Text = schedule.Missing, fmt.Sprintf("%v ends without chunk %d", at,
					m.chunk(addr, want.without(has).first()))
			case !want.holds(has):
				v.Kind, v.Text = schedule.Misplaced, fmt.Sprintf("%v ends with chunk %d, which does "+
					"not belong there", at, m.chunk(addr, has.without(want).first()))
			default:
				continue
			}
			found = append(found, v)
		}
	}
	return found[:min(len(found), maxFound)]
}

// chunk returns the index in the collective of a chunk, given its address and its number there.
func (m *mover) chunk(addr, number int) int { return m.at[addr/m.divisor][number] }

// sent returns the number of moves that are sends; the copies come before them.
func (m *mover) sent() int { return len(m.a.sends) }

// violation makes a violation at the receiving end of a send.
func (m *mover) violation(
	low *transfers.Lowered, kind schedule.ViolationKind, send int,
) *schedule.Violation {
	v := &schedule.Violation{Kind: kind, Rank: m.a.sends[send].dst, Chunk: -1}
	v.Lane, v.Step = low.Arrival(len(m.moves) - m.sent() + send)
	return v
}

// overloads reports the steps that put more on a link, or on a switch, than the topology carries in
// the rounds of the step. A bandwidth of 1 is one chunk in a round.
func (a *algorithm) overloads(low *transfers.Lowered, m *mover) (found []*schedule.Violation) {
	t := &a.topology
	for from := 0; from < len(a.sends) && len(found) < maxFound; {
		to := from
		for to < len(a.sends) && a.sends[to].step == a.sends[from].step {
			to++
		}
		rounds := a.rounds[a.sends[from].step]
		report := func(i, load int, name string, limit float64) {
			v := m.violation(low, schedule.Limit, i)
			v.Text = fmt.Sprintf("step %d puts %d chunks on %s, which carries %g: msccl-tools refuses it",
				a.sends[i].step, load, name, limit)
			found = append(found, v)
		}
		loads := map[[2]int]int{}
		for i := from; i < to; i++ {
			s := &a.sends[i]
			link := [2]int{s.src, s.dst}
			limit := t.links[s.dst][s.src] * float64(rounds)
			if loads[link]++; crosses(loads[link], limit) {
				report(i, loads[link], fmt.Sprintf("link %d→%d", s.src, s.dst), limit)
			}
		}
		for k := range t.switches {
			x := &t.switches[k]
			load, limit := 0, x.bandwidth*float64(rounds)
			for i := from; i < to; i++ {
				if !member(x.sources, a.sends[i].src) || !member(x.destinations, a.sends[i].dst) {
					continue
				}
				if load++; crosses(load, limit) {
					report(i, load, "switch "+x.name, limit)
				}
			}
		}
		from = to
	}
	return found[:min(len(found), maxFound)]
}

// crosses reports whether this chunk is the first beyond a limit.
func crosses(load int, limit float64) bool {
	return float64(load) > limit && float64(load-1) <= limit
}

func member(sorted []int, x int) bool {
	_, ok := slices.BinarySearch(sorted, x)
	return ok
}
