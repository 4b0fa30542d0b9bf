package mpi

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/hw"
	"collsim/schedule"
)

// onlyMessages refuses a schedule that cannot be played by messages alone: with one-sided steps,
// with messages from a rank to itself, or with ones that are never received or never come.
func onlyMessages(s *schedule.Schedule) error {
	sent, got := map[hw.Connection]int{}, map[hw.Connection]int{}
	for rank := range s.Spec.Ranks {
		err := eachStep(s, rank, func(lane, step int, v *schedule.Step) error {
			if err := refused(rank, lane, step, v); err != nil {
				return err
			}
			ins, outs := connections(rank, lane, v)
			for _, c := range ins {
				got[c]++
			}
			for _, c := range outs {
				sent[c]++
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, side := range []struct {
		mine, theirs map[hw.Connection]int
		text         string
	}{{sent, got, "are never received"}, {got, sent, "never come"}} {
		for _, c := range sortedConnections(side.mine) {
			if n := side.mine[c] - side.theirs[c]; n > 0 {
				return malformed(int(c.From), int(c.FromLane), -1, "%d messages to rank %d lane %d %s", n,
					c.To, c.ToLane, side.text)
			}
		}
	}
	return nil
}

// refused says what a step does that this executor has no way to.
func refused(rank, lane, step int, v *schedule.Step) error {
	for i := range v.From {
		f := &v.From[i]
		switch {
		case f.Kind == schedule.Get || f.Kind == schedule.Multimem || f.Put:
			return hw.Refuse("mpi: rank %d lane %d step %d: %s is one-sided: messages alone can't play it",
				rank, lane, step, v.Name())
		case f.Kind == schedule.Message && int(f.Peer.Rank) == rank:
			return malformed(rank, lane, step, "receives from itself")
		}
	}
	for i := range v.Send {
		d := &v.Send[i]
		switch {
		case d.Lands() || !d.Message():
			return hw.Refuse("mpi: rank %d lane %d step %d: %s is one-sided: messages alone can't play it",
				rank, lane, step, v.Name())
		case int(d.Peer.Rank) == rank:
			return malformed(rank, lane, step, "sends to itself")
		}
	}
	return nil
}

func malformed(rank, lane, step int, format string, args ...any) error {
	return &hw.Error{Call: "step", Code: "malformed", Rank: rank, Lane: lane, Step: step,
		Text: fmt.Sprintf(format, args...)}
}

// eachStep calls f with every step of a rank, each once however many slices it has.
func eachStep(
	s *schedule.Schedule, rank int, f func(lane, step int, v *schedule.Step) error,
) error {
	var step schedule.Step
	p := s.Program(rank)
	for lane := range p.Lanes() {
		for c := p.Walk(lane); !c.Done(); c.Next(1) {
			p.Load(&c, &step)
			if err := f(lane, int(c.Step), &step); err != nil {
				return err
			}
		}
	}
	return nil
}

// connections are those that a step receives on and sends on.
func connections(rank, lane int, v *schedule.Step) (ins, outs []hw.Connection) {
	for i := range v.From {
		if f := &v.From[i]; f.Kind == schedule.Message {
			ins = append(ins, connectionFrom(rank, lane, &f.Peer))
		}
	}
	for i := range v.Send {
		outs = append(outs, connectionTo(rank, lane, &v.Send[i].Peer))
	}
	return ins, outs
}

func connectionFrom(rank, lane int, p *schedule.Peer) hw.Connection {
	return hw.Connection{From: p.Rank, FromLane: p.Lane, To: int32(rank), ToLane: int32(lane),
		Class: p.Class, Tag: p.Tag}
}

func connectionTo(rank, lane int, p *schedule.Peer) hw.Connection {
	return hw.Connection{From: int32(rank), FromLane: int32(lane), To: p.Rank, ToLane: p.Lane,
		Class: p.Class, Tag: p.Tag}
}

// tagsOf numbers the connections of a rank: both ends of one give it the same number, since both
// sort what there is from the one rank to the other. Messages have twice that as their tag, the
// slots that the receiver frees one more.
func tagsOf(s *schedule.Schedule, rank int) (map[hw.Connection]int, error) {
	mine := map[hw.Connection]int{}
	err := eachStep(s, rank, func(lane, _ int, v *schedule.Step) error {
		ins, outs := connections(rank, lane, v)
		for _, c := range append(ins, outs...) {
			mine[c] = 0
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	number := map[[2]int32]int{}
	for _, c := range sortedConnections(mine) {
		pair := [2]int32{c.From, c.To}
		mine[c] = number[pair]
		number[pair]++
	}
	return mine, nil
}

func sortedConnections(m map[hw.Connection]int) []hw.Connection {
	all := make([]hw.Connection, 0, len(m))
	for c := range m {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b hw.Connection) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
			cmp.Compare(a.FromLane, b.FromLane), cmp.Compare(a.ToLane, b.ToLane),
			cmp.Compare(a.Class, b.Class), cmp.Compare(a.Tag, b.Tag))
	})
	return all
}
