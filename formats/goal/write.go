package goal

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"collsim/schedule"
)

// Write writes a schedule as GOAL. Its sends and receives become send and recv, lanes and events
// become requires. Tags number the connections of two ranks, whose messages are in order, so that
// matching is never ambiguous. The rest becomes:
//
//   - a put is a send whose receive is the wait for it. An unacknowledged put, or a multimem store
//     to each of its ranks, is a send, too; the lane's next signal to that rank comes after it.
//   - a get is an empty message to the owner, which sends the data as soon as that has come; a
//     multimem load-reduce gets from all other ranks of its team.
//   - a packet has twice the bytes.
//   - a compute step is calc, in nanoseconds, rounded up, on the CPU of its lane.
//   - copies and additions take no time and are left out; where such a step joins several lanes,
//     calc 0 stands for it.
//
// It returns an error of an execution that does not finish, of a calc in a lane above 255, or of w.
// Equal schedules give equal bytes.
func Write(w io.Writer, s *schedule.Schedule) error {
	p := writer{s: s, width: int64(s.Spec.Type.Width()), ranks: make([]page, s.Spec.Ranks),
		lanes: map[laneKey]*laneEnd{}, tags: map[connection]int32{}, used: map[[2]int32]int32{}}
	_, err := schedule.Execute(s, schedule.Limits{}, schedule.Hooks{Step: p.step})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "num_ranks %d\n", s.Spec.Ranks)
	for rank := range p.ranks {
		fmt.Fprintf(out, "\nrank %d {\n", rank)
		out.Write(p.ranks[rank].text)
		fmt.Fprintf(out, "}\n")
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return nil
}

// writer writes a schedule to a file. It executes the schedule, so that it meets both ends of every
// message, the sending one first.
type writer struct {
	s     *schedule.Schedule
	width int64
	ranks []page
	lanes map[laneKey]*laneEnd
	sent  []message            // by handle
	tags  map[connection]int32 // by connection
	used  map[[2]int32]int32   // number of tags from one rank to another
}

// page holds the text of a rank.
type page struct {
	text   []byte
	labels int32
}

type laneKey struct{ rank, lane int32 }

// laneEnd holds the progress of a lane, now and at each post.
type laneEnd struct {
	reached
	posts []reached
}

// reached holds the progress of a lane: the labels that have all ended by then, and the receives of
// its unacknowledged puts that their ranks do not know to have landed.
type reached struct {
	now    []int32
	silent []landing
}

type landing struct{ rank, label int32 }

type connection struct {
	from, to laneKey
	class    schedule.Class
	tag      int32
}

// message is a message in flight.
type message struct {
	tag    int32
	bytes  int64
	behind []int32 // labels of the receiver that it comes after
}

func (p *writer) lane(rank, lane int32) *laneEnd {
	at := laneKey{rank, lane}
	if p.lanes[at] == nil {
		p.lanes[at] = &laneEnd{}
	}
	return p.lanes[at]
}

// notified removes and returns the labels that a message to a rank makes visible to it.
func (l *laneEnd) notified(rank int32) (labels []int32) {
	var left []landing
	for _, x := range l.silent {
		if x.rank == rank {
			labels = append(labels, x.label)
		} else {
			left = append(left, x)
		}
	}
	l.silent = left
	return labels
}

// op writes an operation of a rank after those of the labels, and returns its own label.
func (p *writer) op(rank int32, after []int32, format string, args ...any) int32 {
	g := &p.ranks[rank]
	g.labels++
	g.text = fmt.Appendf(g.text, "l%d: "+format+"\n", append([]any{g.labels}, args...)...)
	for _, label := range after {
		g.text = fmt.Appendf(g.text, "l%d requires l%d\n", g.labels, label)
	}
	return g.labels
}

// tag returns the tag of a connection, a new one if it has none.
func (p *writer) tag(c connection) int32 {
	tag, known := p.tags[c]
	if !known {
		tag = p.fresh(c.from.rank, c.to.rank)
		p.tags[c] = tag
	}
	return tag
}

// fresh returns a new tag for messages from one rank to another.
func (p *writer) fresh(from, to int32) int32 {
	pair := [2]int32{from, to}
	p.used[pair]++
	return p.used[pair] - 1
}

// step writes a sub-step.
func (p *writer) step(v *schedule.Visit) error {
	l := p.lane(v.Rank, v.Lane)
	after := slices.Clone(l.now)
	for _, e := range v.Step.Await {
		if e.Value > 0 && v.Slice == 0 {
			post := &p.lane(v.Rank, e.Lane).posts[e.Value-1]
			after = append(after, post.now...)
			l.silent = slices.Concat(l.silent, post.silent)
		}
	}
	slices.Sort(after)
	after = slices.Compact(after)
	ends, err := p.body(v, l, after)
	switch {
	case err != nil:
		return err
	case ends != nil:
		l.now = ends
	case len(v.Step.Await) > 0 && len(after) > 1:
		l.now = []int32{p.op(v.Rank, after, "calc 0")}
	default:
		l.now = after
	}
	if v.Step.Post && v.Last {
		l.posts = append(l.posts, l.reached)
	}
	return nil
}

// body writes the operations of a sub-step and returns the labels with which it ends; nil if
// nothing of it exists in GOAL.
func (p *writer) body(v *schedule.Visit, l *laneEnd, after []int32) (ends []int32, err error) {
	s := v.Step
	if s.Kernel != nil {
		return p.compute(v, after)
	}
	bytes := p.bytes(v)
	for i := range s.From {
		f := &s.From[i]
		switch f.Kind {
		case schedule.Message:
			m := p.sent[v.In[i]]
			behind := slices.Concat(m.behind, after)
			slices.Sort(behind)
			ends = append(ends, p.op(v.Rank, slices.Compact(behind), "recv %db from %d tag %d", m.bytes,
				f.Peer.Rank, m.tag))
		case schedule.Get:
			ends = append(ends, p.get(v.Rank, f.Peer.Rank, bytes, after))
		case schedule.Multimem:
			for _, owner := range f.Team {
				if owner != v.Rank {
					ends = append(ends, p.get(v.Rank, owner, bytes, after))
				}
			}
		}
	}
	if len(ends) > 0 {
		after = ends
	}
	var sends []int32
	for i := range s.Send {
		sends = append(sends, p.send(v, l, i, bytes, after)...)
	}
	if len(sends) > 0 {
		return sends, nil
	}
	return ends, nil
}

// compute writes a step that computes.
func (p *writer) compute(v *schedule.Visit, after []int32) ([]int32, error) {
	if v.Lane > 255 {
		return nil, fmt.Errorf("rank %d lane %d step %d computes, but GOAL numbers CPUs 0…255",
			v.Rank, v.Lane, v.Number)
	}
	if v.Step.OpaqueTime() == 0 {
		return nil, fmt.Errorf("rank %d lane %d step %d computes (%v), and GOAL knows times only",
			v.Rank, v.Lane, v.Number, *v.Step.Kernel)
	}
	time := (int64(v.Step.OpaqueTime())-1)/psPerUnit + 1
	if v.Lane == 0 {
		return []int32{p.op(v.Rank, after, "calc %d", time)}, nil
	}
	return []int32{p.op(v.Rank, after, "calc %d cpu %d", time, v.Lane)}, nil
}

// bytes returns the size of the data that the sub-step sends or gets.
func (p *writer) bytes(v *schedule.Visit) int64 {
	n, known := p.s.Size(v.Spot(), v.Step)
	if known {
		return n * p.width
	}
	for _, handle := range v.In {
		if handle >= 0 {
			return p.sent[handle].bytes
		}
	}
	return 0
}

// get writes a one-sided read: the request, the owner's answer, and its arrival.
func (p *writer) get(rank, owner int32, bytes int64, after []int32) int32 {
	ask, answer := p.fresh(rank, owner), p.fresh(owner, rank)
	asked := p.op(rank, after, "send 0b to %d tag %d", owner, ask)
	heard := p.op(owner, nil, "recv 0b from %d tag %d", rank, ask)
	p.op(owner, []int32{heard}, "send %db to %d tag %d", bytes, rank, answer)
	return p.op(rank, []int32{asked}, "recv %db from %d tag %d", bytes, owner, answer)
}

// send writes the i-th send of a step.
func (p *writer) send(
	v *schedule.Visit, l *laneEnd, i int, bytes int64, after []int32,
) (sends []int32) {
	d := &v.Step.Send[i]
	bytes = d.Framing().Wire(bytes)
	if !d.Message() { // to one rank or a team; no receive waits for it
		to := d.Team
		if d.Team == nil {
			to = []int32{d.Peer.Rank}
		}
		for _, rank := range to {
			if rank == v.Rank {
				continue
			}
			tag := p.fresh(v.Rank, rank)
			sends = append(sends, p.op(v.Rank, after, "send %db to %d tag %d", bytes, rank, tag))
			landed := p.op(rank, nil, "recv %db from %d tag %d", bytes, v.Rank, tag)
			l.silent = append(l.silent[:len(l.silent):len(l.silent)], landing{rank, landed})
		}
		return sends
	}
	for int(v.Out[i]) >= len(p.sent) {
		p.sent = append(p.sent, message{})
	}
	tag := p.tag(connection{laneKey{v.Rank, v.Lane}, laneKey{d.Peer.Rank, d.Peer.Lane}, d.Peer.Class,
		d.Peer.Tag})
	m := message{tag: tag, bytes: bytes}
	if !d.Relaxed {
		m.behind = l.notified(d.Peer.Rank)
	}
	p.sent[v.Out[i]] = m
	return []int32{p.op(v.Rank, after, "send %db to %d tag %d", bytes, d.Peer.Rank, tag)}
}
