package calls

import (
	"math"
	"slices"
)

// progress follows the ranks as far as their calls let them come.
type progress struct {
	*meetings
	stated  bool    // the log has states
	passed  []int   // by rank: its calls that have ended, or whose turn is over
	posted  []int   // by rank: its calls that have been made
	arrived []int32 // by meeting: ranks that have come
	needs   []int32 // by meeting: ranks that it waits for; never where some will not come
	alike   []bool
	ended   []int32 // meetings in the order in which they end
	queue   []int
}

const never = math.MaxInt32

// run lets every rank make its calls until it waits for another or has no more.
func (m *meetings) run() *progress {
	n := len(m.list)
	p := &progress{meetings: m, stated: m.hasStates(), passed: make([]int, len(m.Ranks)),
		posted: make([]int, len(m.Ranks)), arrived: make([]int32, n), needs: make([]int32, n),
		alike: make([]bool, n)}
	for i, one := range m.list {
		_, differs := one.Difference()
		p.alike[i] = !differs
		p.needs[i] = p.expected(one)
	}
	for i := range m.Ranks {
		p.queue = append(p.queue, i)
	}
	for len(p.queue) > 0 {
		i := p.queue[0]
		p.queue = p.queue[1:]
		for p.step(i) {
		}
	}
	return p
}

// hasStates reports whether any call has a state.
func (l *Log) hasStates() bool {
	for i := range l.Ranks {
		for j := range l.Ranks[i].Calls {
			if l.Ranks[i].Calls[j].State != Unstated {
				return true
			}
		}
	}
	return false
}

// expected counts the ranks that have to come, or returns never if one will not.
func (p *progress) expected(m *Meeting) (n int32) {
	for i, rank := range m.Ranks {
		switch {
		case m.Calls[i] != nil:
			n++
		case p.lacks(m, rank):
			m.Missing = append(m.Missing, rank)
		}
	}
	slices.Sort(m.Missing)
	if m.Missing != nil {
		return never
	}
	return n
}

// lacks reports whether a rank without a call in the meeting is missing there. A rank without a log
// may have made it, if no states say that others wait. So may one whose log begins later.
func (p *progress) lacks(m *Meeting, rank int) bool {
	i, known := p.place[rank]
	if !known {
		return p.stated && !slices.ContainsFunc(m.Calls, func(c *Call) bool {
			return c != nil && c.State == Completed
		})
	}
	r := &p.Ranks[i]
	for _, mark := range r.Marks {
		if mark.Group == m.Group && m.From < 0 && mark.Enqueued >= m.Seq {
			return false
		}
	}
	for j := range r.Calls {
		c := &r.Calls[j]
		if c.Group == m.Group && !c.Message() && m.From < 0 {
			return c.Seq < m.Seq || c.Seq == m.Seq && c.Part < m.Part
		}
	}
	return true
}

// step lets a rank make its next calls, and passes them if all are over.
func (p *progress) step(i int) bool {
	all := p.Ranks[i].Calls
	from := p.passed[i]
	if from == len(all) {
		return false
	}
	to := from + 1
	for to < len(all) && all[from].Batch != 0 && all[to].Batch == all[from].Batch {
		to++
	}
	for ; p.posted[i] < to; p.posted[i]++ {
		p.arrive(p.of[i][p.posted[i]])
	}
	for j := from; j < to; j++ {
		if !p.over(i, j) {
			return false
		}
	}
	p.passed[i] = to
	return true
}

// over reports whether a call has ended.
func (p *progress) over(i, j int) bool {
	at := p.of[i][j]
	return p.Ranks[i].Calls[j].State == Completed || p.arrived[at] >= p.needs[at] && p.alike[at]
}

// arrive counts a rank that comes to a meeting, and lets all that wait there go on.
func (p *progress) arrive(at int32) {
	p.arrived[at]++
	if p.arrived[at] != p.needs[at] || !p.alike[at] {
		return
	}
	p.ended = append(p.ended, at)
	for _, rank := range p.list[at].Ranks {
		if i, known := p.place[rank]; known {
			p.queue = append(p.queue, i)
		}
	}
}

// waits lists the meetings in which a rank waits; none if it has made all its calls.
func (p *progress) waits(i int) (at []int32) {
	for j := p.passed[i]; j < p.posted[i]; j++ {
		if !p.over(i, j) {
			at = append(at, p.of[i][j])
		}
	}
	return at
}

// here reports whether the n-th rank of a meeting has come there.
func (p *progress) here(at int32, n int) bool {
	m := p.list[at]
	i, known := p.place[m.Ranks[n]]
	if !known || m.Calls[n] == nil {
		return false
	}
	for j := p.passed[i]; j < p.posted[i]; j++ {
		if p.of[i][j] == at {
			return true
		}
	}
	for j := range p.passed[i] { // it has passed
		if &p.Ranks[i].Calls[j] == m.Calls[n] {
			return true
		}
	}
	return false
}
