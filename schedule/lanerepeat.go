package schedule

import "slices"

// leastRepeat is the number of iterations from which on Repeat does not run them all.
const leastRepeat = 12

// Repeat calls iteration for i = 0 … times−1. Iterations must do the same, except for numbers that
// rise by a constant from one to the next: tiles, blocks, peers. If the first five have become one
// loop, Repeat skips all others but the last, which must continue that loop. It skips none if they
// store in the working copy, since what a lane reads later depends on each, or if they name other
// places (Places), whose ranks may be any. The lane is the same as if all had been called.
func (l *Lane) Repeat(times int, iteration func(i int)) {
	i := 0
	if times >= leastRepeat {
		for ; i < 3; i++ {
			iteration(i)
		}
		names := l.turn.naming(func() { iteration(3) })
		before := l.rolled()
		again := l.turn.naming(func() { iteration(4) })
		if i = 5; l.continued(before) && slices.Equal(names, again) {
			l.skipTo(before, times-1-i, func() { iteration(times - 1) })
			return
		}
	}
	for ; i < times; i++ {
		iteration(i)
	}
}

// A rolled records the state of a lane after an iteration: its nodes, the count of the loop that
// they end in, its steps, its writes of the working copy and its round.
type rolled struct {
	knots  int
	count  int32
	steps  int
	writes int
	round  int32
}

// rolled rolls up the last step and returns how far the lane is.
func (l *Lane) rolled() rolled {
	l.finish()
	l.pending.known = 0
	at := rolled{knots: len(l.roll.knots), steps: l.steps, writes: l.writes, round: l.round}
	if at.knots > 0 {
		at.count = l.roll.knots[at.knots-1].count
	}
	return at
}

// continued reports whether the iteration since has continued the loop that the lane ended in, and
// done nothing else that a later step depends on.
func (l *Lane) continued(before rolled) bool {
	now := l.rolled()
	return l.err == nil && before.count > 0 && now.knots == before.knots &&
		now.count == before.count+1 && now.writes == before.writes
}

// skipTo adds so many iterations to the loop that a lane ends in, and then the last one, which it
// has called and compares with the loop.
func (l *Lane) skipTo(before rolled, skipped int, last func()) {
	each := l.steps - before.steps
	l.steps += skipped * each
	l.round += int32(skipped) * (l.round - before.round)
	knots := l.roll.knots
	loop := &knots[len(knots)-1]
	loop.count += int32(skipped)
	l.roll.knots = nil
	last()
	l.finish()
	if l.err == nil && !l.roll.continues(loop.body, l.roll.knots, loop.count) {
		l.misuse("the last iteration of Repeat does not continue the first ones")
	}
	loop.count++
	l.roll.knots, l.pending.known = knots, 0
}
