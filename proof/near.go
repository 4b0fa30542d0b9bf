package proof

import (
	"math"
	"slices"

	"collsim/schedule"
)

// A lane's clock would have an entry for every lane whose messages have reached it through others.
// Of thousands of lanes few ever meet at a memory, and such clocks take the square of the lanes. So
// a walk of many lanes keeps the entries that are likely to order what meets:
//
//   - of lanes with which a lane exchanges data, directly or through others: by messages, or by
//     events on its rank;
//   - of lanes of its channel, and of callers, on ranks that access each other's memories: its
//     neighbours. Callers of other neighbourhoods have one entry together: what is known of all.
//
// It also forgets the clocks of posts that nobody awaits any more. A walk that knows less finds no
// order that is not there. Where it finds races, these may have an order that it does not know: the
// walk is repeated with whole clocks.

// Clocks of nearFrom lanes or more are cut down to near entries. Where these do not suffice, whole
// ones of up to mostWhole lanes are walked with. Tests set both.
var nearFrom, mostWhole = 1 << 10, 1 << 14

// near holds which entries of clocks are kept.
type near struct {
	lanes   int32
	rank    []int32           // of each lane
	channel []int32           // of each lane
	data    sets              // of lanes that exchange data
	memory  sets              // neighbourhoods: of ranks that access each other's memories
	callers map[int32][]int32 // ranks of each neighbourhood
	all     []int32           // of each lane: what it knows of all callers of its neighbourhood
	heard   map[int32][]awaited
	dropped []int32 // of each lane: how many of its posts are forgotten
	forgot  bool    // one of these was awaited after all
	kept    clock   // of the last call of of
}

// awaited is the last post of a lane that another lane has awaited.
type awaited struct{ lane, post int32 }

// nearOf finds which entries are kept of the clocks of a schedule's lanes. first has the number of
// each rank's first lane. Of a loop it looks at two iterations.
func nearOf(s *schedule.Schedule, first []int32) *near {
	lanes := first[len(first)-1]
	n := &near{lanes: lanes, data: newSets(lanes), memory: newSets(int32(len(first) - 1)),
		heard: map[int32][]awaited{}, dropped: make([]int32, lanes)}
	var step schedule.Step
	for rank := range len(first) - 1 {
		p := s.Program(rank)
		for lane := range p.Lanes() {
			n.rank, n.channel = append(n.rank, int32(rank)), append(n.channel, int32(p.Channel(lane)))
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				p.Load(&c, &step)
				n.look(&step, int32(rank), first)
				if loop, follow := c.Around(); loop >= 0 && follow > 1 && c.Iteration() > 0 {
					c.Skip(follow-1, 0)
				}
			}
		}
	}
	n.all, n.callers = make([]int32, lanes), map[int32][]int32{}
	for rank := range int32(len(first) - 1) {
		hood := n.memory.of(rank)
		n.callers[hood] = append(n.callers[hood], rank)
	}
	return n
}

// look joins the lanes and the ranks that a step of the last lane connects.
func (n *near) look(step *schedule.Step, rank int32, first []int32) {
	lane := int32(len(n.rank) - 1)
	for _, e := range step.Await {
		to := first[rank] + e.Lane
		n.data.join(lane, to)
		if !slices.ContainsFunc(n.heard[to], func(a awaited) bool { return a.lane == lane }) {
			n.heard[to] = append(n.heard[to], awaited{lane: lane})
		}
	}
	for i := range step.From {
		f := &step.From[i]
		if f.Kind == schedule.Get {
			n.memory.join(rank, f.Peer.Rank)
		}
		for _, r := range f.Team {
			n.memory.join(rank, r)
		}
	}
	for i := range step.Send {
		d := &step.Send[i]
		if d.Message() && (d.Put || len(step.From) > 0) { // no bare signal
			n.data.join(lane, first[d.Peer.Rank]+d.Peer.Lane)
		}
		if d.Put && d.Team == nil {
			n.memory.join(rank, d.Peer.Rank)
		}
		for _, r := range d.Team {
			n.memory.join(rank, r)
		}
	}
}

// keptPosts bounds how many clocks of a lane's posts are kept at once, where others are forgotten.
const keptPosts = 4

// ClockEntries bounds the memory of a search for races in a schedule of so many lanes: how many
// entries a clock of a lane has, and how many clocks of posts a lane has at most.
func ClockEntries(s *schedule.Schedule, lanes int64) (entries, posts int64) {
	if lanes < int64(nearFrom) || s.Group != nil || s.Parts() != nil || s.Teams() != nil {
		return lanes, math.MaxInt64
	}
	first := []int32{0}
	for rank := range s.Spec.Ranks {
		first = append(first, first[rank]+int32(s.Program(rank).Lanes()))
	}
	return nearOf(s, first).entries()/lanes + 1, keptPosts
}

// entries returns how many entries all lanes keep together.
func (n *near) entries() (sum int64) {
	type hood struct{ memory, channel int32 }
	data, hoods := map[int32]int64{}, map[hood]int64{}
	for lane, rank := range n.rank {
		data[n.data.of(int32(lane))]++
		hoods[hood{n.memory.of(rank), n.channel[lane]}]++
	}
	for lane, rank := range n.rank {
		sum += data[n.data.of(int32(lane))] + hoods[hood{n.memory.of(rank), n.channel[lane]}] +
			int64(len(n.callers)+len(n.callers[n.memory.of(rank)]))
	}
	return sum
}

// of returns what a lane keeps of a clock. It is valid until the next call.
func (n *near) of(lane int32, c clock) clock {
	data, hood, channel := n.data.of(lane), n.memory.of(n.rank[lane]), n.channel[lane]
	n.kept = n.kept[:0]
	for _, k := range c {
		switch {
		case k.lane >= n.hoods(): // of all callers of another one
		case k.lane >= n.lanes:
			if n.memory.of(k.lane-n.lanes) != hood {
				continue
			}
		case n.data.of(k.lane) == data:
		case n.channel[k.lane] != channel || n.memory.of(n.rank[k.lane]) != hood:
			continue
		}
		n.kept = append(n.kept, k)
	}
	return n.kept
}

// hoods returns the number of the first neighbourhood, as an entry of a clock: behind all callers.
func (n *near) hoods() int32 { return n.lanes + int32(len(n.memory)) }

// meet adds to a lane's clock what it knows of all callers of its neighbourhood.
func (r *racer) meet(lane int32) {
	n := r.near
	hood := n.memory.of(n.rank[lane])
	least := int32(math.MaxInt32)
	for _, rank := range n.callers[hood] {
		i, is := r.clocks[lane].find(n.lanes + rank)
		if !is || r.clocks[lane][i].at <= n.all[lane] {
			return
		}
		least = min(least, r.clocks[lane][i].at)
	}
	n.all[lane] = least
	r.learn(lane, clock{{n.hoods() + hood, least}})
}

// knowsCaller reports whether a clock covers a position of a caller through its neighbourhood.
func (n *near) knowsCaller(k known, knows clock) bool {
	return k.lane >= n.lanes && knows.knows(known{n.hoods() + n.memory.of(k.lane-n.lanes), k.at})
}

// ofCaller returns what a rank's caller keeps of a clock. It is valid until the next call.
func (n *near) ofCaller(rank int32, c clock) clock {
	hood := n.memory.of(rank)
	n.kept = n.kept[:0]
	for _, k := range c {
		switch {
		case k.lane < n.lanes && n.memory.of(n.rank[k.lane]) != hood:
		case k.lane >= n.lanes && (k.lane >= n.hoods() || n.memory.of(k.lane-n.lanes) != hood):
		default:
			n.kept = append(n.kept, k)
		}
	}
	return n.kept
}

// hear records that a lane awaits a post of another. Posts before those that all who await any have
// awaited are forgotten.
func (n *near) hear(lane, to, post int32, posts []clock) {
	if post <= n.dropped[to] {
		n.forgot = true
	}
	least := post
	for i := range n.heard[to] {
		if a := &n.heard[to][i]; a.lane == lane {
			a.post = post
		}
		least = min(least, n.heard[to][i].post)
	}
	for ; n.dropped[to] < least-1; n.dropped[to]++ {
		posts[n.dropped[to]] = nil
	}
}

// sets are disjoint sets of numbers from 0: each number names one that is in its set (Tarjan,
// "Efficiency of a good but not linear set union algorithm", J. ACM 22(2), 1975).
type sets []int32

// newSets returns a set for each number.
func newSets(n int32) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// of returns the number that stands for a number's set.
func (s sets) of(i int32) int32 {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

// join makes one set of those of two numbers.
func (s sets) join(i, j int32) { s[s.of(i)] = s.of(j) }
