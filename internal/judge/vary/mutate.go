package vary

import (
	"math/rand/v2"
	"slices"

	"collsim/internal/judge"
)

// Mutate changes one thing in a plan and returns its name; "" if nothing was changed.
func Mutate(p *judge.Plan, luck *rand.Rand) string {
	m := mutator{p: p, luck: luck}
	if !m.choose() {
		return ""
	}
	if chosen := m.mutations()[m.weighted()]; chosen.change() {
		return chosen.name
	}
	return ""
}

// A mutation is a change of the chosen step or its surroundings.
type mutation struct {
	name   string
	weight int
	change func() bool
}

// A mutator is a plan with a chosen step.
type mutator struct {
	p          *judge.Plan
	luck       *rand.Rand
	rank, l, i int
	lane       *judge.Lane
	step       *judge.Step
}

// mutations lists all mutations.
func (m *mutator) mutations() []mutation {
	return []mutation{
		{"delete", 1, m.remove},
		{"twice", 1, m.twice},
		{"swap", 2, m.swap},
		{"move", 1, m.move},
		{"to another lane", 1, m.toOtherLane},
		{"split lane", 1, m.splitLane},
		{"region", 3, m.region},
		{"sources", 1, m.exchangeSources},
		{"drop source", 1, m.dropSource},
		{"one more source", 1, m.addSource},
		{"one more place", 1, m.addPlace},
		{"target", 2, m.target},
		{"peer", 1, m.peerOfSource},
		{"event", 1, m.event},
		{"post", 1, m.post},
		{"scaled", 2, m.scaled},
		{"header", 1, m.header},
		{"signal and wait", 2, m.signal},
		{"flush", 1, m.flush},
		{"put for message", 3, m.toPut},
		{"copy", 1, m.copy},
		{"get", 1, m.get},
		{"multimem", 1, m.multimem},
		{"put behind signal", 2, m.putBehindSignal},
	}
}

// weighted returns the index of a random mutation, with probability proportional to its weight.
func (m *mutator) weighted() int {
	list := m.mutations()
	total := 0
	for _, x := range list {
		total += x.weight
	}
	n := m.luck.IntN(total)
	for i, x := range list {
		if n -= x.weight; n < 0 {
			return i
		}
	}
	return 0
}

// chance reports true with a probability in percent.
func (m *mutator) chance(percent int) bool { return m.luck.IntN(100) < percent }

// choose chooses a step.
func (m *mutator) choose() bool {
	for range 20 {
		m.rank = m.luck.IntN(len(m.p.Ranks))
		if lanes := m.p.Ranks[m.rank]; len(lanes) > 0 {
			m.l = m.luck.IntN(len(lanes))
			m.lane = &lanes[m.l]
		}
		if m.lane != nil && len(m.lane.Steps) > 0 {
			m.i = m.luck.IntN(len(m.lane.Steps))
			m.step = &m.lane.Steps[m.i]
			return true
		}
	}
	return false
}

// anywhere inserts a step at a random position of a lane.
func (m *mutator) anywhere(l *judge.Lane, s judge.Step) {
	l.Steps = slices.Insert(l.Steps, m.luck.IntN(len(l.Steps)+1), s)
}

// remove removes the step.
func (m *mutator) remove() bool {
	m.lane.Steps = slices.Delete(m.lane.Steps, m.i, m.i+1)
	return true
}

// twice duplicates the step.
func (m *mutator) twice() bool {
	m.lane.Steps = slices.Insert(m.lane.Steps, m.i, m.step.Clone())
	return true
}

// swap exchanges the step with the next one.
func (m *mutator) swap() bool {
	if m.i+1 == len(m.lane.Steps) {
		return false
	}
	m.lane.Steps[m.i], m.lane.Steps[m.i+1] = m.lane.Steps[m.i+1], m.lane.Steps[m.i]
	return true
}

// move moves the step to a random position of its lane.
func (m *mutator) move() bool {
	s := m.step.Clone()
	m.remove()
	m.anywhere(m.lane, s)
	return true
}

// toOtherLane moves the step to another lane.
func (m *mutator) toOtherLane() bool {
	lanes := m.p.Ranks[m.rank]
	if len(lanes) < 2 {
		return false
	}
	s := m.step.Clone()
	m.remove()
	m.anywhere(&lanes[(m.l+1)%len(lanes)], s)
	return true
}

// putBehindSignal moves a put behind the next signal of its lane.
func (m *mutator) putBehindSignal() bool {
	steps := m.lane.Steps
	lands := func(s judge.Step) bool { return len(s.To) > 0 && s.To[0].At }
	signals := func(s judge.Step) bool { return len(s.To) > 0 && len(s.From) == 0 }
	put := slices.IndexFunc(steps, lands)
	if put < 0 {
		return false
	}
	signal := slices.IndexFunc(steps[put:], signals)
	if signal < 0 {
		return false
	}
	s := steps[put].Clone()
	copy(steps[put:], steps[put+1:put+signal+1])
	steps[put+signal] = s
	return true
}

// exchangeSources exchanges two sources.
func (m *mutator) exchangeSources() bool {
	n := len(m.step.From)
	if n < 2 {
		return false
	}
	a := m.luck.IntN(n)
	b := (a + 1) % n
	m.step.From[a], m.step.From[b] = m.step.From[b], m.step.From[a]
	return true
}

// dropSource removes a source.
func (m *mutator) dropSource() bool {
	n := len(m.step.From)
	if n < 2 {
		return false
	}
	i := m.luck.IntN(n)
	m.step.From = slices.Delete(m.step.From, i, i+1)
	return true
}

// addSource adds a source.
func (m *mutator) addSource() bool {
	if len(m.step.From) == 0 || !m.step.Moves() {
		return false
	}
	g := m.anyRegion(1)
	for _, f := range m.step.From {
		if f.Kind != judge.Message {
			g = f.Region
		}
	}
	if len(m.step.Into) > 0 {
		g = m.step.Into[0]
	}
	g.Blocks = slices.Clone(g.Blocks)
	f := judge.Source{Kind: judge.Local, Region: g}
	if m.chance(50) {
		f.Region.Buffer = judge.Buffer(m.luck.IntN(2))
	}
	if m.chance(30) {
		f.Kind, f.Peer = judge.Get, m.peer()
	}
	m.step.From = append(m.step.From, f)
	return true
}

// addPlace adds a destination on this rank.
func (m *mutator) addPlace() bool {
	if len(m.step.Into) == 0 {
		return false
	}
	g := m.step.Into[0]
	g.Blocks = slices.Clone(g.Blocks)
	g.Buffer = judge.Buffer(m.luck.IntN(m.buffers()))
	m.step.Into = append(m.step.Into, g)
	return true
}

// post toggles the step's post.
func (m *mutator) post() bool {
	m.step.Post = !m.step.Post
	return true
}

// scaled toggles the scaling of a source, or of the value.
func (m *mutator) scaled() bool {
	if i := m.luck.IntN(len(m.step.From) + 1); i < len(m.step.From) {
		m.step.From[i].Scaled = !m.step.From[i].Scaled
	} else {
		m.step.Scaled = !m.step.Scaled
	}
	return m.step.Moves()
}

// event changes, removes or adds an awaited event.
func (m *mutator) event() bool {
	lanes := len(m.p.Ranks[m.rank])
	if n := len(m.step.After); n > 0 {
		e := &m.step.After[m.luck.IntN(n)]
		switch m.luck.IntN(3) {
		case 0:
			m.step.After = m.step.After[:n-1]
		case 1:
			e.Posts += m.luck.IntN(3) - 1
		case 2:
			e.Lane = m.luck.IntN(lanes)
		}
		return true
	}
	m.step.After = append(m.step.After, judge.Event{Lane: (m.l + 1) % lanes, Posts: 1})
	return lanes > 1
}

// header changes the header.
func (m *mutator) header() bool {
	q := &m.p.Problem
	switch m.luck.IntN(4) {
	case 0:
		m.p.Slots = 1 + m.luck.IntN(3)
	case 1:
		m.p.Slices = 1 + m.luck.IntN(3)
	case 2:
		q.InPlace = !q.InPlace && q.Kind != "all_to_allv" && q.Kind != "barrier"
	case 3:
		if q.Splits != nil || q.Kind == "barrier" {
			return false
		}
		q.Count = max(1, q.Count+m.luck.IntN(3)-1)
	}
	return true
}

// signal adds a signal from the chosen lane, and a wait for it in a peer's.
func (m *mutator) signal() bool {
	to := m.peer()
	to.Class, to.Tag = judge.Class(1+m.luck.IntN(2)), m.luck.IntN(2)
	if to.Rank == m.rank || len(m.p.Ranks[to.Rank]) == 0 {
		return false
	}
	from := judge.Peer{Rank: m.rank, Lane: m.l, Class: to.Class, Tag: to.Tag}
	m.anywhere(m.lane, judge.Step{To: []judge.Target{{Peer: to, Relaxed: m.chance(10)}}})
	m.anywhere(&m.p.Ranks[to.Rank][to.Lane],
		judge.Step{From: []judge.Source{{Kind: judge.Message, Peer: from}}})
	return true
}

// flush adds a flush.
func (m *mutator) flush() bool {
	m.anywhere(m.lane, judge.Step{Flush: true})
	return true
}

// copy adds a copy.
func (m *mutator) copy() bool {
	m.anywhere(m.lane, judge.Step{From: []judge.Source{{Region: m.anyRegion(1)}},
		Into: []judge.Region{m.anyRegion(1)}})
	return true
}

// get adds a get.
func (m *mutator) get() bool {
	m.anywhere(m.lane, judge.Step{Into: []judge.Region{m.anyRegion(1)},
		From: []judge.Source{{Kind: judge.Get, Peer: m.peer(), Region: m.anyRegion(1)}}})
	return true
}

// multimem makes the switch sum a source, or write to all ranks.
func (m *mutator) multimem() bool {
	var team []int
	for rank := range m.p.Ranks {
		team = append(team, rank)
	}
	if n := len(m.step.Into); n == 1 && len(m.step.To) == 0 && len(m.step.From) > 0 && m.chance(50) {
		m.step.To = []judge.Target{{Team: team, At: true, Region: m.step.Into[0]}}
		m.step.Into = nil
		return true
	}
	for i := range m.step.From {
		if f := &m.step.From[i]; f.Kind == judge.Get || f.Kind == judge.Local {
			f.Kind, f.Team, f.Peer = judge.Multimem, team, judge.Peer{}
			return true
		}
	}
	return false
}
