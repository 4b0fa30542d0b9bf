package vary

import (
	"math/rand/v2"
	"slices"

	"collsim/internal/judge"
)

// Random returns a random custom schedule of two or three ranks that ends: every message is
// received, in order. It may have races. Sometimes the lanes of a rank are synchronized; sometimes
// all ranks synchronize at the beginning or the end.
func Random(luck *rand.Rand) *judge.Plan {
	ranks, blocks := 2+luck.IntN(2), 1+luck.IntN(3)
	m := &maker{luck: luck, blocks: blocks, written: map[cell]bool{},
		inStep: luck.IntN(10) < 7, p: &judge.Plan{Name: "random", Slices: 1, Scratch: blocks}}
	p := m.p
	p.Problem = judge.Problem{Kind: "custom", Type: "float32", Ranks: ranks}
	if m.chance(60) {
		p.Problem.Op = "sum"
	}
	if m.chance(15) {
		p.Slices = 2
	}
	each := slices.Repeat([]int{blocks}, ranks)
	p.Problem.Splits = [][]int{each, each}
	for b := range p.Cuts {
		p.Cuts[b] = judge.Cut{{Axis: "block", Split: "even", N: blocks}}
	}
	for rank := range ranks {
		p.Ranks = append(p.Ranks, make([]judge.Lane, 1+luck.IntN(2)))
		for b := range blocks {
			m.written[cell{rank, judge.Input, b}] = true
		}
	}
	if m.chance(70) {
		m.meet(8)
	}
	for steps := 2 + luck.IntN(8); steps > 0 || len(m.inFlight) > 0; steps-- {
		if len(m.inFlight) > 0 && (steps <= 0 || m.chance(50)) {
			m.receive()
		} else {
			m.anything()
		}
	}
	if m.chance(80) {
		m.meet(9)
	}
	return p
}

// A maker writes steps in an executable order.
type maker struct {
	luck     *rand.Rand
	p        *judge.Plan
	blocks   int
	written  map[cell]bool // in the order of writing
	inFlight []message     // not received yet
	inStep   bool          // every step of a rank awaits the earlier steps of its other lane
}

// A cell is a block of a rank's buffer.
type cell struct {
	rank   int
	buffer judge.Buffer
	block  int
}

// A message is in flight from a lane to a peer. A bare one carries no value to store.
type message struct {
	from, to  judge.Peer // to has the class and the tag
	put, bare bool
}

// chance reports true with a probability in percent.
func (m *maker) chance(percent int) bool { return m.luck.IntN(100) < percent }

// add appends a step to a lane.
func (m *maker) add(rank, lane int, s judge.Step) {
	lanes := m.p.Ranks[rank]
	if m.inStep && len(lanes) > 1 {
		if n := posts(&lanes[1-lane]); n > 0 {
			s.After = []judge.Event{{Lane: 1 - lane, Posts: n}}
		}
		s.Post = true
	}
	lanes[lane].Steps = append(lanes[lane].Steps, s)
	for _, g := range s.Into {
		m.written[cell{rank, g.Buffer, g.Blocks[0]}] = true
	}
}

// posts returns the number of posts of a lane.
func posts(l *judge.Lane) (n int) {
	for i := range l.Steps {
		if l.Steps[i].Post {
			n++
		}
	}
	return n
}

// region returns a random block of a rank; one to read has been written, if possible.
func (m *maker) region(rank int, read bool) judge.Region {
	for try := 0; ; try++ {
		b, block := judge.Buffer(m.luck.IntN(3)), m.luck.IntN(m.blocks)
		if !read || try > 30 || m.written[cell{rank, b, block}] {
			return judge.Region{Buffer: b, Blocks: []int{block}}
		}
	}
}

// peer returns a random lane of another rank.
func (m *maker) peer(rank int) judge.Peer {
	n := len(m.p.Ranks)
	p := judge.Peer{Rank: (rank + 1 + m.luck.IntN(n-1)) % n, Tag: m.luck.IntN(2)}
	p.Lane = m.luck.IntN(len(m.p.Ranks[p.Rank]))
	return p
}

// receive receives the first message of a random connection.
func (m *maker) receive() {
	g := m.inFlight[m.luck.IntN(len(m.inFlight))]
	first := slices.IndexFunc(m.inFlight, func(o message) bool {
		return o.from == g.from && o.to == g.to
	})
	g = m.inFlight[first]
	m.inFlight = slices.Delete(m.inFlight, first, first+1)
	from := g.from
	from.Class, from.Tag = g.to.Class, g.to.Tag
	s := judge.Step{From: []judge.Source{{Kind: judge.Message, Peer: from}}}
	if !g.put && !g.bare {
		if m.p.Problem.Op != "" && m.chance(30) {
			s.From = append(s.From, judge.Source{Region: m.region(g.to.Rank, true)})
		}
		s.Into = []judge.Region{m.region(g.to.Rank, false)}
	}
	m.add(g.to.Rank, g.to.Lane, s)
}

// anything adds a random step that receives nothing.
func (m *maker) anything() {
	rank := m.luck.IntN(len(m.p.Ranks))
	lane := m.luck.IntN(len(m.p.Ranks[rank]))
	local := func() []judge.Source { return []judge.Source{{Region: m.region(rank, true)}} }
	switch m.luck.IntN(11) {
	case 0, 1:
		s := judge.Step{From: local(), Into: []judge.Region{m.region(rank, false)}}
		if m.p.Problem.Op != "" && m.chance(30) {
			s.From = append(s.From, local()...)
		}
		m.add(rank, lane, s)
	case 2, 3:
		m.send(rank, lane, judge.Step{From: local(), To: []judge.Target{{Peer: m.peer(rank)}}})
	case 4, 5, 6:
		m.put(rank, lane, local())
	case 7:
		to := m.peer(rank)
		to.Class = judge.Class(1 + m.luck.IntN(2))
		m.send(rank, lane, judge.Step{To: []judge.Target{{Peer: to, Relaxed: m.chance(10)}}})
	case 8:
		from := m.peer(rank)
		m.add(rank, lane, judge.Step{Into: []judge.Region{m.region(rank, false)},
			From: []judge.Source{{Kind: judge.Get, Peer: judge.Peer{Rank: from.Rank, Lane: from.Lane},
				Region: m.region(from.Rank, true)}}})
	case 9:
		m.add(rank, lane, judge.Step{Flush: true})
	case 10:
		m.throughSwitch(rank, lane, local())
	}
}

// send adds a step with one target, and its message.
func (m *maker) send(rank, lane int, s judge.Step) {
	m.add(rank, lane, s)
	if t := &s.To[0]; t.Message() {
		m.inFlight = append(m.inFlight, message{judge.Peer{Rank: rank, Lane: lane}, t.Peer, t.At,
			len(s.From) == 0})
	}
}

// put adds a put.
func (m *maker) put(rank, lane int, from []judge.Source) {
	to := m.peer(rank)
	to.Class = judge.Puts
	t := judge.Target{Peer: to, At: true, Region: m.region(to.Rank, false),
		Packet: m.chance(30), Silent: m.chance(25)}
	t.Relaxed = !t.Silent && m.chance(5)
	m.written[cell{to.Rank, t.Region.Buffer, t.Region.Blocks[0]}] = true
	m.send(rank, lane, judge.Step{From: from, To: []judge.Target{t}})
	if m.chance(40) {
		m.add(rank, lane, judge.Step{Flush: true})
	}
}

// throughSwitch makes the switch write to all ranks, or sum their values.
func (m *maker) throughSwitch(rank, lane int, from []judge.Source) {
	var team []int
	for r := range m.p.Ranks {
		team = append(team, r)
	}
	if m.p.Problem.Op != "" && m.chance(50) {
		m.add(rank, lane, judge.Step{Into: []judge.Region{m.region(rank, false)},
			From: []judge.Source{{Kind: judge.Multimem, Team: team, Region: from[0].Region}}})
		return
	}
	g := m.region(rank, false)
	for _, r := range team {
		m.written[cell{r, g.Buffer, g.Blocks[0]}] = true
	}
	m.add(rank, lane, judge.Step{From: from,
		To: []judge.Target{{Team: team, At: true, Region: g}}})
}

// meet adds a barrier of lane 0 of all ranks. The other lanes wait for it, or it waits for them.
func (m *maker) meet(tag int) {
	first := tag == 8
	peers := func(rank int, of func(judge.Peer) judge.Step) {
		for other := range m.p.Ranks {
			if other != rank {
				s := of(judge.Peer{Rank: other, Class: judge.Pad, Tag: tag})
				m.add(rank, 0, s)
			}
		}
	}
	for rank, lanes := range m.p.Ranks {
		if n := posts(&lanes[len(lanes)-1]); !m.inStep && !first && len(lanes) > 1 {
			lanes[1].Steps = append(lanes[1].Steps, judge.Step{Post: true})
			m.add(rank, 0, judge.Step{After: []judge.Event{{Lane: 1, Posts: n + 1}}})
		}
		peers(rank, func(p judge.Peer) judge.Step {
			return judge.Step{To: []judge.Target{{Peer: p}}}
		})
	}
	for rank, lanes := range m.p.Ranks {
		peers(rank, func(p judge.Peer) judge.Step {
			return judge.Step{From: []judge.Source{{Kind: judge.Message, Peer: p}}}
		})
		if !m.inStep && first && len(lanes) > 1 {
			m.add(rank, 0, judge.Step{Post: true})
			m.add(rank, 1, judge.Step{After: []judge.Event{{Lane: 0, Posts: 1}}})
		}
	}
}
