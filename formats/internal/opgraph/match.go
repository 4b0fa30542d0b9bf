package opgraph

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/schedule"
)

// Messages match per source, destination and tag in the order in which they are posted, as in MPI
// and LogGOPSim. A schedule must hold in every run. So the n-th send may be paired with the n-th
// receive only where "n-th" does not depend on timing. An operation is posted before another of its
// rank in every run
//
//	- if the other one waits for it, directly or not; or
//	- if everything that it waits for has happened when the other one is posted, and it has the
//	  lower index: at the worst both become ready together, and then the indices decide.
//
// One more fact holds, since messages do not overtake. Where the sends and the receives of a
// source, destination and tag are both in order, a receive ends no later than the next one.
//
// Without such an order the match is still certain if it makes no difference: all messages have one
// size, and every operation that waits for one of the receives waits for all. Otherwise it is
// ambiguous, which is reported, and messages are paired in the order of the indices.

// channel holds the messages of one source, destination and tag.
type channel struct {
	src, dst     int32
	tag          int64
	sends, recvs []int32 // in the posting order of their ranks
}

// compare orders channels by source, destination and tag.
func (c *channel) compare(o *channel) int {
	return cmp.Or(cmp.Compare(c.src, o.src), cmp.Compare(c.dst, o.dst), cmp.Compare(c.tag, o.tag))
}

// half returns the channels of a rank's sends, or of its receives, by peer and tag. Peers that do
// not exist have none.
func (l *lowering) half(rank int32, kind Kind) (all []channel) {
	d := l.dags[rank]
	var ops []int32
	for op := range d.ops {
		if o := &d.ops[op]; o.Kind == kind && o.Peer >= 0 && int(o.Peer) < len(l.dags) {
			if ops == nil {
				ops = make([]int32, 0, len(d.ops)-op)
			}
			ops = append(ops, int32(op))
		}
	}
	by := func(a, b int32) int {
		x, y := &d.ops[a], &d.ops[b]
		return cmp.Or(cmp.Compare(x.Peer, y.Peer), cmp.Compare(x.Tag, y.Tag))
	}
	inOrder := func(a, b int32) int { return cmp.Or(by(a, b), cmp.Compare(d.pos[a], d.pos[b])) }
	if !slices.IsSortedFunc(ops, inOrder) {
		slices.SortFunc(ops, inOrder)
	}
	for len(ops) > 0 {
		n := 1
		for n < len(ops) && by(ops[0], ops[n]) == 0 {
			n++
		}
		o := &d.ops[ops[0]]
		if kind == Send {
			all = append(all, channel{src: rank, dst: o.Peer, tag: o.Tag, sends: ops[:n]})
		} else {
			all = append(all, channel{src: o.Peer, dst: rank, tag: o.Tag, recvs: ops[:n]})
		}
		ops = ops[n:]
	}
	return all
}

// channels joins sends and receives, in order.
func (l *lowering) channels() []channel {
	halves := make([][]channel, 2*len(l.dags))
	l.each(func(rank int) {
		halves[2*rank] = l.half(int32(rank), Send)
		halves[2*rank+1] = l.half(int32(rank), Recv)
	})
	all := slices.Concat(halves...)
	slices.SortStableFunc(all, func(a, b channel) int { return a.compare(&b) })
	whole := all[:0]
	for _, c := range all {
		if n := len(whole); n > 0 && whole[n-1].compare(&c) == 0 {
			if c.sends != nil {
				whole[n-1].sends = c.sends
			} else {
				whole[n-1].recvs = c.recvs
			}
		} else {
			whole = append(whole, c)
		}
	}
	return whole
}

// match pairs messages. It reports those without another end, with two sizes, or without order.
func (l *lowering) match() {
	var several []channel
	for _, c := range l.channels() {
		src, dst := l.dags[c.src], l.dags[c.dst]
		for i := range min(len(c.sends), len(c.recvs)) {
			s, r := c.sends[i], c.recvs[i]
			src.mate[s], dst.mate[r] = r, s
			if a, b := &src.ops[s], &dst.ops[r]; a.Bytes != b.Bytes {
				l.report(schedule.Malformed, c.dst, r, "receives %d bytes, but %d are sent by %s",
					b.Bytes, a.Bytes, l.text(c.src, s))
			} else if a.Type != b.Type && a.Type > 0 && b.Type > 0 {
				l.report(schedule.Malformed, c.dst, r, "receives %d bytes of %s, but %s is sent by %s",
					b.Bytes, l.g.Types[b.Type], l.g.Types[a.Type], l.text(c.src, s))
			}
		}
		l.most = max(l.most, min(len(c.sends), len(c.recvs)))
		l.alone(&c)
		if len(c.sends) > 1 || len(c.recvs) > 1 {
			several = append(several, c)
		}
	}
	l.judge(several)
}

// alone reports sends and receives without the other end.
func (l *lowering) alone(c *channel) {
	n := min(len(c.sends), len(c.recvs))
	for _, s := range c.sends[n:] {
		l.report(schedule.Unmatched, c.src, s, "the message to rank %d, tag %d, is never received",
			c.dst, c.tag)
	}
	for _, r := range c.recvs[n:] {
		l.report(schedule.Unmatched, c.dst, r, "the message from rank %d, tag %d, is never sent",
			c.src, c.tag)
	}
}

// maxWork bounds the search for orders, in dependencies that are followed.
const maxWork = 1 << 26

// judge finds the channels that have an order, and repeats, since each may give an order to others.
// It reports those that have none and need one.
func (l *lowering) judge(pending []channel) {
	work := int64(maxWork)
	known := make([]*facts, len(l.dags))
	at := func(rank int32) *facts {
		if known[rank] == nil {
			known[rank] = newFacts(l.dags[rank], &work)
		}
		return known[rank]
	}
	for progress := true; progress; {
		progress = false
		pending = slices.DeleteFunc(pending, func(c channel) bool {
			_, _, ok := at(c.src).unordered(c.sends)
			if ok {
				_, _, ok = at(c.dst).unordered(c.recvs)
			}
			if ok && c.src != c.dst && l.oneRoute(&c) {
				for i := 1; i < min(len(c.sends), len(c.recvs)); i++ {
					l.dags[c.dst].prev[c.recvs[i]] = c.recvs[i-1]
				}
				progress = true
			}
			return ok
		})
	}
	for i := range pending {
		c := &pending[i]
		if len(c.recvs) == 0 || len(c.sends) == 0 || l.oneSize(c) && at(c.dst).alike(c.recvs) {
			continue
		}
		l.ambiguous(c, at)
		if work <= 0 {
			return
		}
	}
}

// ambiguous reports a channel without order, unless the order makes no difference.
func (l *lowering) ambiguous(c *channel, at func(int32) *facts) {
	rank := c.src
	a, b, ok := at(rank).unordered(c.sends)
	if ok {
		rank = c.dst
		a, b, _ = at(rank).unordered(c.recvs)
	}
	if *at(rank).work <= 0 {
		l.report(schedule.Limit, rank, b, "whether the messages of rank %d to rank %d, tag %d, are "+
			"posted in one order takes too long to find out; give them tags of their own",
			c.src, c.dst, c.tag)
		return
	}
	l.report(schedule.Race, rank, b, "ambiguous match: nothing orders this and %v, so that which "+
		"message goes to which receive depends on timing; give them tags of their own",
		l.g.Where(int(rank), int(a)))
}

// oneRoute reports whether the messages of a channel all leave through the same CPU and NIC, and so
// cannot overtake.
func (l *lowering) oneRoute(c *channel) bool {
	return l.same(c, func(a, b *Op) bool { return a.CPU == b.CPU && a.NIC == b.NIC })
}

// oneSize reports whether the messages of a channel have the same size.
func (l *lowering) oneSize(c *channel) bool {
	return l.same(c, func(a, b *Op) bool { return a.Bytes == b.Bytes })
}

func (l *lowering) same(c *channel, equal func(a, b *Op) bool) bool {
	ops := l.dags[c.src].ops
	for _, s := range c.sends[min(1, len(c.sends)):] {
		if !equal(&ops[s], &ops[c.sends[0]]) {
			return false
		}
	}
	return true
}

// maxFound is the most violations that are reported.
const maxFound = 1000

// report adds a violation at an operation.
func (l *lowering) report(kind schedule.ViolationKind, rank, op int32, format string, args ...any) {
	if len(l.found) < maxFound {
		l.found = append(l.found, found{&schedule.Violation{Kind: kind, Rank: int(rank), Chunk: -1,
			Text: fmt.Sprintf(format, args...)}, op})
	}
}

// text names an operation and its place.
func (l *lowering) text(rank, op int32) string {
	return fmt.Sprintf("rank %d %v", rank, l.g.Where(int(rank), int(op)))
}
