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

// knows reports whether the position of a lane is covered.
func (c clock) knows(k known) bool {
	i := sort.Search(len(c), func(i int) bool { return c[i].lane >= k.lane })
	return i < len(c) && c[i].lane == k.lane && c[i].at >= k.at
}

// come has a lane that is known, in a clock that nobody else has, be known as far as a position.
func (c clock) come(lane, at int32) bool {
	i := sort.Search(len(c), func(i int) bool { return c[i].lane >= lane })
	if i == len(c) || c[i].lane != lane {
		return false
	}
	c[i].at = max(c[i].at, at)
	return true
}

// take has a clock that nobody else has know what b knows, and reports whether it had all lanes of
// b. If not, it knows a part of it.
func (c clock) take(b clock) bool {
	i := 0
	for _, k := range b {
		for i < len(c) && c[i].lane < k.lane {
			i++
		}
		if i == len(c) || c[i].lane != k.lane {
			return false
		}
		c[i].at = max(c[i].at, k.at)
		i++
	}
	return true
}

// know has a lane know what a clock tells: in place, if nobody else has the lane's clock.
func (r *racer) know(lane int32, told clock) {
	was := r.clocks[lane]
	if r.own[lane] && (was.is(told) || was.take(told)) {
		return
	}
	now := merge(was, told)
	if r.own[lane] {
		r.spare = append(r.spare, was)
	}
	r.clocks[lane], r.own[lane] = now, !now.is(was) && !now.is(told)
}

// lend has a message carry a copy of a clock that goes on to change.
func (r *racer) lend(handle int32, c clock) {
	var copied clock
	if n := len(r.spare); n > 0 {
		copied, r.spare = r.spare[n-1], r.spare[:n-1]
	}
	r.sent[handle], r.lent[handle] = append(copied[:0], c...), true
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
