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

// compare orders channels of one source by destination and tag.
func (c *channel) compare(o *channel) int {
	if c.dst != o.dst {
		return cmp.Compare(c.dst, o.dst)
	}
	return cmp.Compare(c.tag, o.tag)
}

// ends lists the operations of one kind of a rank whose peer exists, by peer, tag and order.
func (l *lowering) ends(d *dag, kind Kind) []int32 {
	n := 0
	is := func(o *Op) bool { return o.Kind == kind && o.Peer >= 0 && int(o.Peer) < len(l.dags) }
	for op := range d.ops {
		if is(&d.ops[op]) {
			n++
		}
	}
	ops := make([]int32, 0, n)
	for op := range d.ops {
		if is(&d.ops[op]) {
			ops = append(ops, int32(op))
		}
	}
	inOrder := func(a, b int32) int {
		if c := d.byChannel(a, b); c != 0 {
			return c
		}
		return cmp.Compare(d.pos(a), d.pos(b))
	}
	if !slices.IsSortedFunc(ops, inOrder) {
		slices.SortFunc(ops, inOrder)
	}
	return ops
}

// byChannel compares operations of one kind by peer and tag.
func (d *dag) byChannel(a, b int32) int {
	x, y := &d.ops[a], &d.ops[b]
	if x.Peer != y.Peer {
		return cmp.Compare(x.Peer, y.Peer)
	}
	return cmp.Compare(x.Tag, y.Tag)
}

// halves appends the channels of a rank's sorted operations of one kind.
func (d *dag) halves(to []channel, rank int32, ops []int32) []channel {
	for len(ops) > 0 {
		n := 1
		for n < len(ops) && d.byChannel(ops[0], ops[n]) == 0 {
			n++
		}
		o := &d.ops[ops[0]]
		if o.Kind == Send {
			to = append(to, channel{src: rank, dst: o.Peer, tag: o.Tag, sends: ops[:n]})
		} else {
			to = append(to, channel{src: o.Peer, dst: rank, tag: o.Tag, recvs: ops[:n]})
		}
		ops = ops[n:]
	}
	return to
}

// receivers lists for every rank the ranks that receive from it, in order, each once. recvs holds
// the sorted receives of every rank.
func (l *lowering) receivers(recvs [][]int32) [][]int32 {
	from := make([][]int32, len(l.dags))
	for dst, ops := range recvs {
		for i, op := range ops {
			peer := l.dags[dst].ops[op].Peer
			if i == 0 || peer != l.dags[dst].ops[ops[i-1]].Peer {
				from[peer] = append(from[peer], int32(dst))
			}
		}
	}
	return from
}

// channels visits the channels in order, with their sends and receives. Only those of one source
// are in memory at a time.
func (l *lowering) channels(visit func(*channel)) {
	sends, recvs := make([][]int32, len(l.dags)), make([][]int32, len(l.dags))
	l.each(func(rank int) {
		sends[rank] = l.ends(l.dags[rank], Send)
		recvs[rank] = l.ends(l.dags[rank], Recv)
	})
	receivers, left := l.receivers(recvs), slices.Clone(recvs) // left: from sources to come
	var out, in []channel
	for src, d := range l.dags {
		out, in = d.halves(out[:0], int32(src), sends[src]), in[:0]
		for _, dst := range receivers[src] {
			to, n := l.dags[dst], 1
			for n < len(left[dst]) && to.ops[left[dst][n]].Peer == int32(src) {
				n++
			}
			in = to.halves(in, dst, left[dst][:n])
			left[dst] = left[dst][n:]
		}
		join(out, in, visit)
	}
}

// join visits the channels of one source, whose sends and receives are each in order.
func join(out, in []channel, visit func(*channel)) {
	for len(out) > 0 || len(in) > 0 {
		switch {
		case len(in) == 0 || len(out) > 0 && out[0].compare(&in[0]) < 0:
			visit(&out[0])
			out = out[1:]
		case len(out) == 0 || out[0].compare(&in[0]) > 0:
			visit(&in[0])
			in = in[1:]
		default:
			out[0].recvs = in[0].recvs
			visit(&out[0])
			out, in = out[1:], in[1:]
		}
	}
}

// match pairs messages. It reports those without another end, with two sizes, or without order.
func (l *lowering) match() {
	var several []channel
	l.channels(func(c *channel) {
		src, dst := l.dags[c.src], l.dags[c.dst]
		for i := range min(len(c.sends), len(c.recvs)) {
			s, r := c.sends[i], c.recvs[i]
			src.mate[s], dst.mate[r] = r, s
			if a, b := &src.ops[s], &dst.ops[r]; a.Amount != b.Amount {
				l.report(schedule.Malformed, c.dst, r, "receives %d bytes, but %d are sent by %s",
					b.Amount, a.Amount, l.text(c.src, s))
			} else if a.Type != b.Type && a.Type > 0 && b.Type > 0 {
				l.report(schedule.Malformed, c.dst, r, "receives %d bytes of %s, but %s is sent by %s",
					b.Amount, l.g.Types[b.Type], l.g.Types[a.Type], l.text(c.src, s))
			}
		}
		l.most = max(l.most, min(len(c.sends), len(c.recvs)))
		l.alone(c)
		if len(c.sends) > 1 || len(c.recvs) > 1 {
			several = append(several, *c)
		}
	})
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
	f := newFacts()
	at := func(rank int32) *facts { return f.of(l.dags[rank]) }
	for progress := true; progress; {
		progress = false
		pending = slices.DeleteFunc(pending, func(c channel) bool {
			_, _, ok := at(c.src).unordered(c.sends)
			if ok {
				_, _, ok = at(c.dst).unordered(c.recvs)
			}
			if ok && c.src != c.dst && l.oneRoute(&c) {
				l.dags[c.dst].inTurn(c.recvs[:min(len(c.sends), len(c.recvs))])
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
		if f.work <= 0 {
			return
		}
	}
}

// inTurn records that receives end no later than those behind them.
func (d *dag) inTurn(recvs []int32) {
	if len(recvs) > 1 && d.prev == nil {
		d.prev = slices.Repeat([]int32{-1}, len(d.ops))
	}
	for i := 1; i < len(recvs); i++ {
		d.prev[recvs[i]] = recvs[i-1]
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
	if at(rank).work <= 0 {
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
	return l.same(c, func(a, b *Op) bool { return a.Amount == b.Amount })
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
