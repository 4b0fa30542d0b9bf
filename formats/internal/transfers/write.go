package transfers

import "collsim/schedule"

// write passes the steps of a lane to add, round by round.
func (l *Lowered) write(rank, number int, add func(schedule.Step)) {
	lane := &l.ranks[rank][number]
	tiles := int64(l.plan.Tiles)
	for round, first, next := int64(0), 0, 0; first < len(lane.ends); round++ {
		if first == next { // idle until the next stage
			round = int64(lane.stages[next])
		}
		for next < len(lane.ends) && int64(lane.stages[next]) <= round {
			next++
		}
		for at := first; at < next; at++ {
			add(l.step(lane.ends[at], int32(round)-lane.stages[at]))
		}
		for first < next && int64(lane.stages[first])+tiles-1 <= round {
			first++
		}
	}
}

// step returns the step of an end for a tile.
func (l *Lowered) step(number, tile int32) schedule.Step {
	m, e := &l.plan.Moves[number/2], &l.ends[number]
	s := schedule.Step{Post: e.posts, Round: m.Stage + tile}
	for _, a := range e.awaits {
		other := &l.ends[a]
		lane := &l.ranks[l.key(a).rank][other.lane]
		s.Await = append(s.Await, schedule.Event{Lane: other.lane, Value: lane.posted(other.at, tile)})
	}
	switch {
	case m.From == m.To:
		s.From = []schedule.Source{l.local(m.Source, tile)}
	case number%2 == 0:
		s.From = []schedule.Source{l.local(m.Source, tile)}
		s.Send = []schedule.Dest{{Peer: schedule.Peer{Rank: m.To, Lane: l.ends[number+1].lane}}}
		return s
	default:
		s.From = []schedule.Source{{Kind: schedule.Message,
			Peer: schedule.Peer{Rank: m.From, Lane: l.ends[number-1].lane}}}
	}
	if m.Add.Run > 0 {
		s.From = append(s.From, l.local(m.Add, tile))
		if m.AddFirst {
			s.From[0], s.From[1] = s.From[1], s.From[0]
		}
	}
	s.To = []schedule.Region{region(m.Target, tile)}
	s.Scale = m.Completes && l.plan.Spec.ScalesAfter()
	return s
}

func (l *Lowered) local(p Blocks, tile int32) schedule.Source {
	return schedule.Source{Kind: schedule.Local, Region: region(p, tile),
		Scale: p.Buffer == schedule.Input && l.plan.Spec.ScalesBefore()}
}

func region(p Blocks, tile int32) schedule.Region {
	return schedule.Region{Buffer: p.Buffer, Tile: tile, First: p.Block, Run: p.Run, Times: 1}
}

// Move returns the move and the tile of a step of the schedule; nil if there is none.
func (l *Lowered) Move(rank, number, step int) (m *Move, tile int) {
	if rank < 0 || rank >= len(l.ranks) || number < 0 || number >= len(l.ranks[rank]) {
		return nil, 0
	}
	lane := &l.ranks[rank][number]
	at, t := lane.find(step)
	if at < 0 {
		return nil, 0
	}
	return &l.plan.Moves[lane.ends[at]/2], int(t)
}

// Arrival returns the lane and the step of rank To in which the first tile of a move arrives.
func (l *Lowered) Arrival(move int) (number, step int) {
	e := &l.ends[2*move+1]
	return int(e.lane), l.ranks[l.plan.Moves[move].To][e.lane].number(e.at, 0)
}
