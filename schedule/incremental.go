package schedule

import "math"

// pending holds the latest steps of a lane, so that a long loop is not rolled up step by step.
// Suppose the last two steps end a loop of one step, and the next follows as they follow each
// other. Then it is only counted as another iteration. The last counted step is added as any other
// before anything that may look at it.
type pending struct {
	calls  [3]call  // the last one at index at; then room for the next; then the one before
	at     int      // in calls
	rounds [2]int32 // after each of the last two
	known  int      // how many of the two are known
	more   int      // steps that were only counted; the last of them is at index at
	stop   int32    // count at which the loop may become part of another
	isOff  bool     // for tests: every step is rolled up
}

// last returns the latest call.
func (k *pending) last() *call { return &k.calls[k.at] }

// before returns the call before the latest.
func (k *pending) before() *call { return &k.calls[(k.at+2)%3] }

// next returns the memory of the next call.
func (k *pending) next() *call { return &k.calls[(k.at+1)%3] }

// advance makes the next call the latest.
func (k *pending) advance() { k.at = (k.at + 1) % 3 }

// A call is a step as its author asked for it, if it is simple: single blocks, at most two sources.
type call struct {
	into              Region
	to                Peer
	from              [2]Source
	intos, tos, froms int
}

// call stores what an author asks for as the next call, with regions of the working copy resolved
// to buffers. It reports false if that is not simple.
func (l *Lane) call(into []Region, to []int, sources []Source) (ok bool) {
	if l.peers != nil || l.turn != nil && l.turn.place == nil || l.err != nil ||
		len(into) > 1 || len(to) > 1 || len(sources) > 2 ||
		l.facing != l.Index || l.awaits != nil || l.completes || l.launch != nil {
		return false
	}
	c := l.pending.next()
	c.intos, c.tos, c.froms = len(into), len(to), len(sources)
	ok = true
	for i := range sources {
		c.from[i] = sources[i]
		f := &c.from[i]
		switch f.Kind {
		case Local:
			ok = ok && l.simple(&f.Region, false)
		case Message:
			ok = ok && f.Region.List == nil
		default:
			ok = false
		}
		ok = ok && f.Team == nil
	}
	for _, r := range into {
		c.into = r
		ok = ok && l.simple(&c.into, true)
	}
	for _, rank := range to {
		ok = ok && int(mod(int32(rank), int32(l.Ranks))) != l.Rank
		if ok {
			c.to = l.peer(rank, FIFO)
		}
	}
	return ok
}

// simple reports whether a region is a single block of a buffer that has all blocks of the working
// copy. It then resolves the region to that buffer, with its block reduced as wrap does.
func (l *Lane) simple(r *Region, write bool) bool {
	if r.List != nil || r.Run != 1 || r.Times != 1 {
		return false
	}
	if r.Buffer == work {
		kind := l.schedule.Spec.Kind
		r.Buffer = Input
		if write || l.isWritten(r.First) {
			r.Buffer = Output
		}
		if l.schedule.blocks[r.Buffer] != l.blocks(work) || !vector(kind) &&
			!(kind.Gathers() && r.Buffer == Output) && !(kind.Scatters() && r.Buffer == Input) {
			return false
		}
	}
	n := l.schedule.blocks[r.Buffer]
	if !l.roll.mods.wraps && n > 0 {
		r.First = mod(r.First, n)
	}
	return n > 0
}

// continues reports whether the next call follows the last two as they follow each other, with all
// blocks moving by one stride.
func (l *Lane) continues() bool {
	a, b, c := l.pending.before(), l.pending.last(), l.pending.next()
	if l.pending.known < 2 || l.pending.isOff || b.intos != c.intos ||
		b.tos != c.tos || b.froms != c.froms ||
		a.intos != c.intos || a.tos != c.tos || a.froms != c.froms {
		return false
	}
	ranks := l.roll.mods.of(byPeer)
	if c.tos > 0 && !even(a.to.Rank, b.to.Rank, c.to.Rank, ranks) {
		return false
	}
	var way [2]int32 // of tiles and blocks
	moves := false
	follows := func(x, y, z *Region) bool {
		if x.Buffer != z.Buffer || y.Buffer != z.Buffer || x.Period != z.Period ||
			y.Period != z.Period {
			return false
		}
		n := l.roll.mods.of(byBlock + modulus(z.Buffer))
		d := [2]int32{z.Tile - y.Tile, past(y.First, z.First, n)}
		isAlike := !moves || d == way
		way, moves = d, true
		return isAlike && even(x.Tile, y.Tile, z.Tile, 0) && even(x.First, y.First, z.First, n)
	}
	for i := range c.froms {
		x, y, z := &a.from[i], &b.from[i], &c.from[i]
		if x.Kind != z.Kind || y.Kind != z.Kind || x.Put() != z.Put() || y.Put() != z.Put() ||
			x.Scale != z.Scale || y.Scale != z.Scale {
			return false
		}
		if z.Kind == Local && !follows(&x.Region, &y.Region, &z.Region) {
			return false
		}
		p, q, r := &x.Peer, &y.Peer, &z.Peer
		if z.Kind == Message && (p.Lane != r.Lane || q.Lane != r.Lane || p.Class != r.Class ||
			q.Class != r.Class || p.Tag != r.Tag || q.Tag != r.Tag ||
			!even(p.Rank, q.Rank, r.Rank, ranks)) {
			return false
		}
	}
	return c.intos == 0 || follows(&a.into, &b.into, &c.into)
}

// even reports whether y − x and z − y are equal, modulo n unless that is 0.
func even(x, y, z, n int32) bool { return past(y, z, n) == past(x, y, n) }

// past returns y − x, modulo n unless that is 0.
func past(x, y, n int32) int32 {
	if n == 0 {
		return y - x
	}
	return mod(y-x, n)
}

// countPending counts the next call as one more iteration of the last loop, and reports whether it
// is one.
func (l *Lane) countPending() bool {
	if !l.continues() {
		return false
	}
	if l.pending.more == 0 {
		l.finish()
		l.pending.stop = l.roll.stop()
	}
	loop := &l.roll.knots[len(l.roll.knots)-1]
	if loop.step != nil || len(loop.body) != 1 || loop.body[0].step == nil ||
		loop.count+int32(l.pending.more)+1 == l.pending.stop || l.asks && !l.goesToRound() {
		return false
	}
	for _, d := range loop.body[0].strides[0] {
		way := (int64(loop.count) + int64(l.pending.more) + 1) * int64(d)
		if way > maxReach || way < -maxReach {
			return false
		}
	}
	l.asks = false
	l.pending.advance()
	l.pending.more++
	l.steps++
	return true
}

// goesToRound reports whether the next iteration begins in the round set by Round anyway:
// iterations advance the round by one each, and the next is the one set.
func (l *Lane) goesToRound() bool {
	k := &l.pending
	return k.rounds[1]-k.rounds[0] == 1 && l.asked == l.round+int32(k.more)+1
}

// stop returns the count at which the last node, a loop, may complete an iteration of a loop before
// it: where it has as many iterations as another loop. It must be rolled up there.
func (r *roll) stop() int32 {
	n, least := len(r.knots), int32(math.MaxInt32)
	count := r.knots[n-1].count
	for k := 1; k <= r.body() && k < n; k++ {
		x := &r.knots[n-1-k]
		if x.count > count {
			least = min(least, x.count)
		}
		if len(x.body) == k && x.body[k-1].count > count {
			least = min(least, x.body[k-1].count)
		}
	}
	return least
}

// remember keeps the next call, which has been added as a step, as the latest. known is how many
// were known before.
func (l *Lane) remember(isSimple bool, known int) {
	k := &l.pending
	if !isSimple || l.err != nil {
		return
	}
	k.advance()
	k.rounds = [2]int32{k.rounds[1], l.round}
	k.known = min(known+1, 2)
}

// flushPending adds the steps that were only counted.
func (l *Lane) flushPending() {
	k := &l.pending
	if k.more == 0 {
		return
	}
	before, asks := int32(k.more-1), l.asks
	k.more, l.asks = 0, false
	l.roll.knots[len(l.roll.knots)-1].count += before
	l.round += before * (k.rounds[1] - k.rounds[0])
	l.steps--
	c := k.last()
	s := l.step([]Region{c.into}[:c.intos], c.from[:c.froms])
	if c.tos > 0 {
		s.Send = append(s.Send, l.dest(c.to))
	}
	l.append(s)
	l.asks = asks
	k.rounds = [2]int32{l.round - (k.rounds[1] - k.rounds[0]), l.round}
	k.known = 2
}
