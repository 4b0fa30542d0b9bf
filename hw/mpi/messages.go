package mpi

import (
	"cmp"
	"slices"

	"collsim/hw"
	"collsim/schedule"
)

// onlyMessages refuses a schedule that messages alone cannot execute: one with one-sided steps, or
// with messages from a rank to itself.
func onlyMessages(s *schedule.Schedule) error {
	for rank := range s.Spec.Ranks {
		lanes := s.Program(rank).Lanes()
		err := eachStep(s, rank, func(lane, step int, v *schedule.Step) error {
			return refused(rank, lanes, lane, step, v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// refused returns an error if this executor cannot execute a step.
func refused(rank, lanes, lane, step int, v *schedule.Step) error {
	for i := range v.From {
		f := &v.From[i]
		switch {
		case f.Kind == schedule.Get || f.Kind == schedule.Multimem || f.Put():
			return hw.Refuse("rank %d lane %d step %d: %s is one-sided: messages alone can't execute it",
				rank, lane, step, v.Name())
		case f.Kind == schedule.Message && int(f.Peer.Rank) == rank:
			return hw.Malformed(rank, lane, step, "receives from itself")
		}
	}
	for i := range v.Send {
		d := &v.Send[i]
		switch {
		case d.Lands() || !d.Message():
			return hw.Refuse("rank %d lane %d step %d: %s is one-sided: messages alone can't execute it",
				rank, lane, step, v.Name())
		case int(d.Peer.Rank) == rank:
			return hw.Malformed(rank, lane, step, "sends to itself")
		}
	}
	for _, e := range v.Await {
		if e.Lane < 0 || int(e.Lane) >= lanes || int(e.Lane) == lane {
			return hw.Malformed(rank, lane, step, "awaits lane %d, which is none of the others", e.Lane)
		}
	}
	return nil
}

// eachStep calls f once with every step of a rank, whatever its slices.
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

// connections lists the connections on which a step receives and sends.
func connections(number, lane int, v *schedule.Step) (ins, outs []hw.Connection) {
	for i := range v.From {
		if f := &v.From[i]; f.Kind == schedule.Message {
			ins = append(ins, hw.ConnectionFrom(number, lane, &f.Peer))
		}
	}
	for i := range v.Send {
		outs = append(outs, hw.ConnectionTo(number, lane, &v.Send[i].Peer))
	}
	return ins, outs
}

// tagsOf numbers the connections of a rank. Both ends assign the same number, since both sort the
// connections between two ranks alike. Messages have twice the number as their tag; freed slots
// have one more.
func tagsOf(s *schedule.Schedule, number int) map[hw.Connection]int {
	mine := map[hw.Connection]int{}
	eachStep(s, number, func(lane, _ int, v *schedule.Step) error {
		ins, outs := connections(number, lane, v)
		for _, c := range append(ins, outs...) {
			mine[c] = 0
		}
		return nil
	})
	next := map[[2]int32]int{}
	for _, c := range sortedConnections(mine) {
		pair := [2]int32{c.From, c.To}
		mine[c] = next[pair]
		next[pair]++
	}
	return mine
}

// sortedConnections lists the keys in a fixed order.
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
