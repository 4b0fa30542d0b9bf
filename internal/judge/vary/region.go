package vary

import (
	"slices"

	"collsim/internal/judge"
)

// buffers returns the number of buffers: two without scratch, else three.
func (m *mutator) buffers() int {
	if m.p.Scratch > 0 {
		return 3
	}
	return 2
}

// anyRegion returns some consecutive blocks.
func (m *mutator) anyRegion(blocks int) judge.Region {
	g := judge.Region{Buffer: judge.Buffer(m.luck.IntN(m.buffers()))}
	n, _, _ := m.p.Cuts[g.Buffer].Blocks()
	first := m.luck.IntN(n)
	for i := range min(blocks, n) {
		g.Blocks = append(g.Blocks, (first+i)%n)
	}
	return g
}

// region changes a region of the step: one of its blocks, or all of it.
func (m *mutator) region() bool {
	all := m.step.Regions()
	if len(all) == 0 {
		return false
	}
	g := all[m.luck.IntN(len(all))]
	n, _, _ := m.p.Cuts[g.Buffer].Blocks()
	if m.chance(25) || len(g.Blocks) == 0 {
		*g = m.anyRegion(len(g.Blocks))
		return true
	}
	g.Blocks[m.luck.IntN(len(g.Blocks))] = m.luck.IntN(n)
	return true
}

// peer returns a lane of another rank, if there is one.
func (m *mutator) peer() judge.Peer {
	n := len(m.p.Ranks)
	p := judge.Peer{Rank: (m.rank + 1 + m.luck.IntN(max(1, n-1))) % n}
	if lanes := len(m.p.Ranks[p.Rank]); lanes > 0 {
		p.Lane = m.luck.IntN(lanes)
	}
	return p
}

// target changes one property of a target.
func (m *mutator) target() bool {
	if len(m.step.To) == 0 {
		return false
	}
	t := &m.step.To[m.luck.IntN(len(m.step.To))]
	if t.Team != nil {
		return false
	}
	switch m.luck.IntN(6) {
	case 0:
		t.Peer.Rank = m.peer().Rank
	case 1:
		t.Peer.Lane = m.peer().Lane
	case 2:
		t.Peer.Tag = m.luck.IntN(2)
	case 3:
		t.Relaxed = !t.Relaxed
	case 4:
		if t.Silent = t.At && !t.Silent; !t.At {
			t.Peer.Class = judge.Class(m.luck.IntN(3))
		}
	case 5:
		if t.At || m.chance(50) {
			t.Packet = !t.Packet
		} else {
			t.Line = !t.Line
		}
	}
	return true
}

// peerOfSource changes the peer of a source.
func (m *mutator) peerOfSource() bool {
	i := slices.IndexFunc(m.step.From, func(f judge.Source) bool { return f.Kind != judge.Local })
	if i < 0 {
		return false
	}
	p := &m.step.From[i].Peer
	switch m.luck.IntN(4) {
	case 0:
		p.Rank = m.peer().Rank
	case 1:
		p.Lane = m.peer().Lane
	case 2:
		p.Tag = m.luck.IntN(2)
	case 3:
		p.Class = judge.Class(m.luck.IntN(3))
	}
	return m.step.From[i].Kind != judge.Multimem
}

// reply returns the receive of the chosen step's message to a peer: the lane, the step and the
// source.
func (m *mutator) reply(to judge.Peer) (*judge.Lane, int, int) {
	if to.Lane >= len(m.p.Ranks[to.Rank]) {
		return nil, 0, 0
	}
	before := 0
	for i := range m.lane.Steps[:m.i] {
		for _, t := range m.lane.Steps[i].To {
			if t.Message() && t.Peer == to {
				before++
			}
		}
	}
	lane := &m.p.Ranks[to.Rank][to.Lane]
	me := judge.Peer{Rank: m.rank, Lane: m.l, Class: to.Class, Tag: to.Tag}
	for i := range lane.Steps {
		for j, f := range lane.Steps[i].From {
			if f.Kind != judge.Message || f.Peer != me {
				continue
			}
			if before == 0 {
				return lane, i, j
			}
			before--
		}
	}
	return nil, 0, 0
}

// toPut converts a send to a put, and its receive to a wait followed, if necessary, by a read of
// the put's destination.
func (m *mutator) toPut() bool {
	s := m.step
	if len(s.To) != 1 || s.To[0].At || !s.To[0].Message() || !s.Moves() {
		return false
	}
	to := s.To[0].Peer
	lane, i, j := m.reply(to)
	if lane == nil {
		return false
	}
	receiver := &lane.Steps[i]
	at := judge.Region{Buffer: judge.Scratch}
	stored := len(receiver.From) == 1 && len(receiver.Into) == 1 && len(receiver.To) == 0
	switch {
	case stored:
		at = receiver.Into[0]
	case m.p.Scratch == 0:
		return false
	default:
		n, _, _ := m.p.Cuts[judge.Scratch].Blocks()
		at.Blocks = []int{m.luck.IntN(n)}
	}
	put := judge.Peer{Rank: to.Rank, Lane: to.Lane, Class: judge.Puts, Tag: 100 + m.luck.IntN(1000)}
	me := judge.Peer{Rank: m.rank, Lane: m.l, Class: judge.Puts, Tag: put.Tag}
	s.To[0] = judge.Target{Peer: put, At: true, Region: at, Packet: m.chance(30)}
	wait := judge.Step{From: []judge.Source{{Kind: judge.Message, Peer: me}}}
	if stored {
		wait.After, wait.Post = receiver.After, receiver.Post
		*receiver = wait
	} else {
		at.Blocks = slices.Clone(at.Blocks)
		receiver.From[j] = judge.Source{Region: at, Scaled: receiver.From[j].Scaled}
		lane.Steps = slices.Insert(lane.Steps, i, wait)
	}
	if m.chance(50) {
		m.flush()
	}
	return true
}

// splitLane moves the tail of a lane to a lane of its own, which mostly awaits the rest, and
// redirects the peers.
func (m *mutator) splitLane() bool {
	if m.i == 0 || len(m.p.Ranks[m.rank]) > 3 {
		return false
	}
	tail := slices.Clone(m.lane.Steps[m.i:])
	m.lane.Steps = m.lane.Steps[:m.i:m.i]
	if m.chance(70) {
		m.lane.Steps[m.i-1].Post = true
		posts := 0
		for i := range m.lane.Steps {
			if m.lane.Steps[i].Post {
				posts++
			}
		}
		tail[0].After = append(slices.Clone(tail[0].After), judge.Event{Lane: m.l, Posts: posts})
	}
	m.redirect()
	m.p.Ranks[m.rank] = append(m.p.Ranks[m.rank],
		judge.Lane{Channel: m.lane.Channel, Steps: tail})
	return true
}

// redirect changes the peers of a split lane: messages that its head does not send or receive
// belong to the new lane.
func (m *mutator) redirect() {
	added := len(m.p.Ranks[m.rank])
	sent, received := map[judge.Peer]int{}, map[judge.Peer]int{}
	for i := range m.lane.Steps {
		for _, f := range m.lane.Steps[i].From {
			received[f.Peer]++
		}
		for _, t := range m.lane.Steps[i].To {
			if t.Message() {
				sent[t.Peer]++
			}
		}
	}
	for rank, lanes := range m.p.Ranks {
		for l := range lanes {
			in, out := map[judge.Peer]int{}, map[judge.Peer]int{}
			redirected := func(p *judge.Peer, count, head map[judge.Peer]int) {
				if p.Rank != m.rank || p.Lane != m.l {
					return
				}
				me := judge.Peer{Rank: rank, Lane: l, Class: p.Class, Tag: p.Tag}
				if count[me]++; count[me] > head[me] {
					p.Lane = added
				}
			}
			for i := range lanes[l].Steps {
				s := &lanes[l].Steps[i]
				for j := range s.To {
					if s.To[j].Message() {
						redirected(&s.To[j].Peer, out, received)
					}
				}
				for j := range s.From {
					if s.From[j].Kind == judge.Message {
						redirected(&s.From[j].Peer, in, sent)
					}
				}
			}
		}
	}
}
