package proof

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// known is one entry of a clock: the lane (or chain of lanes) has reached position at.
type known struct{ lane, at int32 }

// A clock is a vector clock: for each lane, the position that is known to have been reached. It is
// sorted by lane. Clocks are immutable and shared, except where racer.own says that one lane alone
// has it.
type clock []known

// find returns the index of a lane's entry, or where it would be inserted. Clocks mostly cover
// consecutive lanes, so it looks there first.
func (c clock) find(lane int32) (i int, is bool) {
	if len(c) == 0 || lane < c[0].lane {
		return 0, false
	}
	if i = int(lane - c[0].lane); i < len(c) && c[i].lane == lane {
		return i, true
	}
	most := min(i, len(c))
	i = sort.Search(most, func(i int) bool { return c[i].lane >= lane })
	return i, i < most && c[i].lane == lane
}

// knows reports whether the clock covers a position of a lane.
func (c clock) knows(k known) bool {
	i, is := c.find(k.lane)
	return is && c[i].at >= k.at
}

// raise advances a lane's entry to at least a position, in place if there is room. REQUIRES: nobody
// else has c.
func (c clock) raise(k known) clock {
	i, is := c.find(k.lane)
	if !is {
		return slices.Insert(c, i, k)
	}
	c[i].at = max(c[i].at, k.at)
	return c
}

// absorb returns the entrywise maximum of c and b, in place if there is room. REQUIRES: nobody else
// has c.
func (c clock) absorb(b clock) clock {
	i, others := 0, 0 // lanes of b that c does not know
	for _, k := range b {
		for i < len(c) && c[i].lane < k.lane {
			i++
		}
		if i < len(c) && c[i].lane == k.lane {
			c[i].at = max(c[i].at, k.at)
			i++
		} else {
			others++
		}
	}
	i = len(c) - 1
	c = slices.Grow(c, others)[:len(c)+others]
	// from the end, so that no entry is overwritten before it has moved
	for j := len(b) - 1; others > 0; j-- {
		for ; i >= 0 && c[i].lane > b[j].lane; i-- {
			c[i+others] = c[i]
		}
		if i < 0 || c[i].lane < b[j].lane {
			others--
			c[i+1+others] = b[j]
		}
	}
	return c
}

// few bounds when entries are merged one by one: if the lane's clock is at least so many times as
// long as the news.
const few = 16

// learn merges a clock into that of a lane, in place if nobody else has the lane's clock.
func (r *racer) learn(lane int32, news clock) {
	was := r.clocks[lane]
	if r.own[lane] && was.is(news) {
		return
	}
	if r.near != nil {
		news = r.near.of(lane, news)
	}
	r.copied[lane] = false
	switch {
	case !r.own[lane] && r.near != nil:
		now := merge(was, news)
		if now.is(news) { // which is not to be kept
			now = slices.Clone(now)
		}
		r.clocks[lane], r.own[lane] = now, !now.is(was)
	case !r.own[lane]:
		now := merge(was, news)
		r.clocks[lane], r.own[lane] = now, !now.is(was) && !now.is(news)
	case few*len(news) <= len(was):
		for _, k := range news {
			was = was.raise(k)
		}
		r.clocks[lane] = was
	default:
		r.clocks[lane] = was.absorb(news)
	}
}

// lend attaches a copy of a lane's clock to a message, since the lane goes on to change its own. If
// the clock has not changed since the last copy, the message shares the clock itself. So a barrier
// copies once, not once a message.
func (r *racer) lend(handle, lane int32) {
	c := r.clocks[lane]
	if r.copied[lane] {
		r.sent[handle], r.own[lane] = c, false
		return
	}
	var copied clock
	if n := len(r.spare); n > 0 {
		copied, r.spare = r.spare[n-1], r.spare[:n-1]
	}
	r.sent[handle], r.lent[handle] = append(copied[:0], c...), true
	r.copied[lane] = true
}

// drop keeps the memory of an unused clock for a later copy, up to one for each lane.
func (r *racer) drop(c clock) {
	if len(r.spare) < len(r.clocks) {
		r.spare = append(r.spare, c)
	}
}

// is reports whether two clocks share memory and length.
func (c clock) is(d clock) bool {
	return len(c) == len(d) && (len(c) == 0 || &c[0] == &d[0])
}

// merge returns the entrywise maximum of a and b. It returns a itself if b adds nothing, and b
// itself if a is empty.
func merge(a, b clock) clock {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 || a.is(b) {
		return a
	}
	news, others := false, 0 // lanes of b that a does not know
	i := 0
	for _, k := range b {
		for i < len(a) && a[i].lane < k.lane {
			i++
		}
		if i == len(a) || a[i].lane > k.lane {
			others++
		} else if k.at > a[i].at {
			news = true
		}
	}
	if !news && others == 0 {
		return a
	}
	all := make(clock, 0, len(a)+others)
	i = 0
	for _, k := range b {
		from := i
		for i < len(a) && a[i].lane < k.lane {
			i++
		}
		all = append(all, a[from:i]...)
		if i < len(a) && a[i].lane == k.lane {
			k.at = max(k.at, a[i].at)
			i++
		}
		all = append(all, k)
	}
	return append(all, a[i:]...)
}

// manyLanes reports whether the lanes of all ranks and their callers exceed the range of int32.
func (v *verifier) manyLanes() bool {
	return int64(v.s.Program(0).Lanes()+1)*int64(v.s.Spec.Ranks) > math.MaxInt32
}

// translated returns a clock that comes from a rank in the numbering of the receiver. In a folded
// walk, chains are numbered rank by rank relative to rank 0, each rank's caller behind its lanes.
func (r *racer) translated(c clock, from int32) clock {
	if r.fold == nil || from == 0 || len(c) == 0 {
		return c
	}
	each := r.chains + 1
	moved := make(clock, len(c))
	for i, k := range c {
		moved[i] = known{r.fold.group.Add(k.lane/each, from)*each + k.lane%each, k.at}
	}
	slices.SortFunc(moved, func(a, b known) int { return cmp.Compare(a.lane, b.lane) })
	return moved
}
