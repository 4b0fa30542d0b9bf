package proof

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// known is that a lane has come to a position.
type known struct{ lane, at int32 }

// clock is what a lane knows, sorted by lane. Clocks are immutable and shared, but for those that
// one lane has alone (racer.own).
type clock []known

// find is where a lane is, or would be. Where a clock knows one lane after the other, it is where
// its number says.
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

// knows reports whether the position of a lane is covered.
func (c clock) knows(k known) bool {
	i, is := c.find(k.lane)
	return is && c[i].at >= k.at
}

// come has a lane be known as far as a position, in place if there is room: of a clock that nobody
// else has.
func (c clock) raise(k known) clock {
	i, is := c.find(k.lane)
	if !is {
		return slices.Insert(c, i, k)
	}
	c[i].at = max(c[i].at, k.at)
	return c
}

// take is what c and b know together, in place if there is room: of a clock that nobody else has.
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
	for j := len(b) - 1; others > 0; j-- { // from behind, as there is room
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

// few: lanes that a clock tells are looked up one by one where so many times as many are known.
const few = 16

// know has a lane know what a clock tells: in place, if nobody else has the lane's clock.
func (r *racer) learn(lane int32, news clock) {
	was := r.clocks[lane]
	if r.own[lane] && was.is(news) {
		return
	}
	r.copied[lane] = false
	switch {
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

// lend has a message carry a copy of a lane's clock, which goes on to change; of what has not
// changed since then, further ones carry the clock itself, as to all who meet in a barrier.
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

// drop keeps a clock that nobody has any more for another copy, if there are not enough of them.
func (r *racer) drop(c clock) {
	if len(r.spare) < len(r.clocks) {
		r.spare = append(r.spare, c)
	}
}

// is reports whether two clocks are one.
func (c clock) is(d clock) bool {
	return len(c) == len(d) && (len(c) == 0 || &c[0] == &d[0])
}

// merge is what a and b know together: a itself if b adds nothing, b itself if there is no a.
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

// manyLanes reports whether the lanes of all ranks, and their callers, cannot be numbered.
func (v *verifier) manyLanes() bool {
	return int64(v.s.Program(0).Lanes()+1)*int64(v.s.Spec.Ranks) > math.MaxInt32
}

// translated is a clock that comes from a rank, as it is seen here: folded, chains are numbered
// rank by rank as seen from rank 0, each rank's caller behind its lanes'.
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
