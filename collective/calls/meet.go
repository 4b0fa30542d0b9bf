package calls

import (
	"slices"
)

// key identifies a meeting. Of a message, seq counts those between its two ranks.
type key struct {
	group    int
	seq, tag int64
	part     int
	from, to int
}

// meetings finds where calls meet.
type meetings struct {
	*Log
	list  []*Meeting
	of    [][]int32 // by place of the rank in Log.Ranks, and call: its meeting
	place map[int]int
}

// Meet returns the meetings of all calls, in the order of the first rank that makes each.
func (l *Log) Meet() []*Meeting { return l.meet().list }

func (l *Log) meet() *meetings {
	m := &meetings{Log: l, place: map[int]int{}}
	for i := range l.Ranks {
		m.place[l.Ranks[i].Number] = i
	}
	at := map[key]int32{}
	groups, places := l.members()
	for i := range l.Ranks {
		r := &l.Ranks[i]
		sofar := counts{}
		m.of = append(m.of, make([]int32, len(r.Calls)))
		for j := range r.Calls {
			c := &r.Calls[j]
			k := key{group: c.Group, seq: c.Seq, part: c.Part, from: -1, to: -1}
			if c.Message() {
				k = sofar.next(r.Number, c)
			}
			to, known := at[k]
			if !known {
				to = int32(len(m.list))
				at[k] = to
				m.list = append(m.list, newMeeting(k, c, groups[c.Group]))
			}
			m.of[i][j] = to
			n := places[c.Group][r.Number]
			if c.Message() {
				n = m.list[to].member(r.Number)
			}
			m.list[to].Calls[n] = c
		}
	}
	return m
}

// newMeeting makes the meeting of a call.
func newMeeting(k key, c *Call, members []int) *Meeting {
	m := &Meeting{Group: k.group, Seq: c.Seq, Part: k.part, From: k.from, To: k.to, Ranks: members}
	if c.Message() {
		m.Ranks = slices.Compact([]int{k.from, k.to}) // one of a message to itself
	}
	m.Calls = make([]*Call, len(m.Ranks))
	return m
}

// member returns the place of a rank in the meeting, −1 if it is not expected.
func (m *Meeting) member(rank int) int { return slices.Index(m.Ranks, rank) }

// members returns the ranks of every group, and their places in it: its own, with those that call
// in it all the same.
func (l *Log) members() (all [][]int, places []map[int]int) {
	add := func(g, rank int) {
		if _, known := places[g][rank]; !known {
			places[g][rank] = len(all[g])
			all[g] = append(all[g], rank)
		}
	}
	for g := range l.Groups {
		all, places = append(all, nil), append(places, map[int]int{})
		for _, rank := range l.Groups[g].Ranks {
			add(g, rank)
		}
	}
	for i := range l.Ranks {
		r := &l.Ranks[i]
		for j := range r.Calls {
			add(r.Calls[j].Group, r.Number)
		}
		for _, mark := range r.Marks {
			add(mark.Group, r.Number)
		}
	}
	for g := range all {
		if l.Groups[g].Ranks == nil {
			slices.Sort(all[g])
			for i, rank := range all[g] {
				places[g][rank] = i
			}
		}
	}
	return all, places
}

// counts counts the messages of a rank, by their two ends. Where states are known, messages that
// have completed are counted apart: a log may begin behind some.
type counts map[key]int64

func (c counts) next(rank int, call *Call) key {
	k := key{group: call.Group, tag: call.Tag, from: rank, to: call.Peer}
	if !call.Sends {
		k.from, k.to = k.to, k.from
	}
	if call.State == Completed {
		k.part = 1
	}
	k.seq, c[k] = c[k], c[k]+1
	return k
}
