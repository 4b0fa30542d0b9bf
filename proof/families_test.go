package proof

import (
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// family is schedules with a group at any number of ranks, most of them damaged at one step.
type family struct {
	name  string
	right func(n int) bool
	plan  func(n int) schedule.Plan
}

func isRight(yes bool) func(int) bool { return func(int) bool { return yes } }

func rotations(n int) schedule.Group { return schedule.Rotations(n) }

func planOf(kind collective.Kind, group func(int) schedule.Group,
	lane func(l *schedule.Lane, n int)) func(int) schedule.Plan {
	return func(n int) schedule.Plan {
		p := schedule.Plan{Name: "family", Group: group(n), Spec: collective.Spec{Kind: kind,
			Type: dtype.Float32, Ranks: n, Count: 2}, Lane: func(l *schedule.Lane) { lane(l, n) }}
		if kind == collective.AllReduce {
			p.Spec.Op, p.Spec.Count, p.Chunks = collective.Sum, int64(2*n), n
		}
		return p
	}
}

// reduceRing is the ring all_reduce, where step number k(n) is damage instead.
func reduceRing(k func(n int) int, damage func(l *schedule.Lane, n int)) func(*schedule.Lane, int) {
	return func(l *schedule.Lane, n int) {
		prev, next := l.Rank-1, l.Rank+1
		do := func(i int, f func()) {
			if damage != nil && i == k(n) {
				f = func() { damage(l, n) }
			}
			f()
		}
		do(0, func() { l.Send(next, l.Chunk(prev)) })
		for i := 1; i < n-1; i++ {
			do(i, func() { l.ReduceSend(prev, next, l.Chunk(prev-i)) })
		}
		do(n-1, func() { l.ReduceCopySend(prev, next, l.Chunk(prev+1)) })
		for i := range n - 2 {
			do(n+i, func() { l.CopySend(prev, next, l.Chunk(prev-i)) })
		}
		do(2*n-2, func() { l.Recv(prev, l.Chunk(prev+2)) })
	}
}

// gatherRing is the ring all_gather by steps of so many ranks, where step k(n) is damage instead.
func gatherRing(by int, k func(n int) int,
	damage func(l *schedule.Lane, n int)) func(*schedule.Lane, int) {
	return func(l *schedule.Lane, n int) {
		do := func(i int, f func()) {
			if damage != nil && i == k(n) {
				f = func() { damage(l, n) }
			}
			f()
		}
		do(0, func() {
			l.Combine([]schedule.Region{l.Out(l.Rank)}, []int{l.Rank + by}, l.Local(l.In(0)))
		})
		for i := 1; i < n-1; i++ {
			do(i, func() { l.CopySend(l.Rank-by, l.Rank+by, l.Out(l.Rank-by*i)) })
		}
		do(n-1, func() { l.Recv(l.Rank-by, l.Out(l.Rank-by*(n-1))) })
	}
}

// bruck gathers in doubling runs: short leaves a block out of the last, off begins it one block
// further, and far makes the second step go one rank further.
func bruck(short, off, far int) func(*schedule.Lane, int) {
	return func(l *schedule.Lane, n int) {
		l.Copy(l.Out(l.Rank), l.In(0))
		for step, have := 0, 1; have < n; step, have = step+1, have+min(have, n-have) {
			k, d, from := min(have, n-have), have, 0
			if have+k >= n {
				k, from = k-short, off
			}
			if step == 1 {
				d += far
			}
			l.Send(l.Rank+d, l.Out(l.Rank-k+1-from).Blocks(k))
			l.Recv(l.Rank-d, l.Out(l.Rank-d-k+1-from).Blocks(k))
		}
	}
}

// twoLanes has both lanes of a rank store what the neighbours have sent in the same place.
func twoLanes(l *schedule.Lane, n int) {
	l.Send(l.Rank+1+l.Index, l.In(0))
	l.Combine([]schedule.Region{l.Out(0)}, nil, l.From(l.Rank-1-l.Index), l.Local(l.In(0)))
}

// families are twenty, and one with races.
func families() []family {
	reduces, gathers := collective.AllReduce, collective.AllGather
	ring := func(k func(int) int, f func(*schedule.Lane, int)) func(int) schedule.Plan {
		return planOf(reduces, rotations, reduceRing(k, f))
	}
	gather := func(k func(int) int, f func(*schedule.Lane, int)) func(int) schedule.Plan {
		return planOf(gathers, rotations, gatherRing(1, k, f))
	}
	half := func(n int) int { return n / 2 }
	last := func(n int) int { return 2*n - 2 }
	end := func(n int) int { return n - 1 }
	halves := func(n int) schedule.Group { return schedule.Group{int32(n / 2), 2} }
	pairs := func(n int) schedule.Group { return schedule.Group{2, int32(n / 2)} }
	whole := func(lane func(*schedule.Lane, int), lanes int) func(int) schedule.Plan {
		return func(n int) schedule.Plan {
			p := planOf(reduces, rotations, lane)(n)
			p.Chunks, p.Spec.Count, p.Lanes = 1, 3, lanes
			return p
		}
	}
	more := func(n int) schedule.Plan {
		p := ring(nil, nil)(n)
		p.Spec.Count++
		return p
	}
	doubling := func(l *schedule.Lane, n int) {
		from := l.In(0)
		for d := 1; d < n; d *= 2 {
			l.Send(l.Rank+d, from)
			l.Combine([]schedule.Region{l.Out(0)}, nil, l.From(l.Rank-d), l.Local(from))
			from = l.Out(0)
		}
	}
	return []family{
		{"ring", isRight(true), ring(nil, nil)},
		{"ring, one element more", isRight(true), more},
		{"ring, wrong chunk half way", isRight(false), ring(half, func(l *schedule.Lane, n int) {
			l.ReduceSend(l.Rank-1, l.Rank+1, l.Chunk(l.Rank-n/2))
		})},
		{"ring, wrong chunk at the end", isRight(false), ring(last, func(l *schedule.Lane, n int) {
			l.Recv(l.Rank-1, l.Chunk(l.Rank+2))
		})},
		{"ring, adds nothing once", isRight(false), ring(half, func(l *schedule.Lane, n int) {
			l.Combine(nil, []int{l.Rank + 1}, l.From(l.Rank-1))
		})},
		{"ring, adds twice once", isRight(false), ring(half, func(l *schedule.Lane, n int) {
			r := l.Local(l.Chunk(l.Rank - 1 - n/2))
			l.Combine(nil, []int{l.Rank + 1}, l.From(l.Rank-1), r, r)
		})},
		{"ring, last recv missing", isRight(false), ring(last, func(*schedule.Lane, int) {})},
		{"ring, receives first", isRight(false), ring(func(int) int { return 0 },
			func(l *schedule.Lane, n int) { l.Reduce(l.Rank-1, l.In(0)) })},
		{"ring of pairs", isRight(false), planOf(reduces, halves, reduceRing(nil, nil))},
		{"ring of halves", isRight(false), planOf(reduces, pairs, reduceRing(nil, nil))},
		{"gather", isRight(true), gather(nil, nil)},
		{"gather, one block twice", isRight(false), gather(half, func(l *schedule.Lane, n int) {
			l.CopySend(l.Rank-1, l.Rank+1, l.Out(l.Rank-n/2-1))
		})},
		{"gather, wrong at the end", isRight(false), gather(end, func(l *schedule.Lane, n int) {
			l.Recv(l.Rank-1, l.Out(l.Rank+2))
		})},
		{"gather, two rings", isRight(false), planOf(gathers, rotations, func(l *schedule.Lane, n int) {
			l.Combine([]schedule.Region{l.Out(l.Rank)}, []int{l.Rank + 2}, l.Local(l.In(0)))
			for i := 1; i < n-1; i++ {
				l.CopySend(l.Rank-2, l.Rank+2, l.Out(l.Rank-i))
			}
			l.Recv(l.Rank-2, l.Out(l.Rank+1))
		})},
		{"gather by 3", func(n int) bool { return n%3 != 0 },
			planOf(gathers, rotations, gatherRing(3, nil, nil))},
		{"bruck", isRight(true), planOf(gathers, rotations, bruck(0, 0, 0))},
		{"bruck, a block short", isRight(false), planOf(gathers, rotations, bruck(1, 0, 0))},
		{"bruck, a block further", isRight(false), planOf(gathers, rotations, bruck(0, 1, 0))},
		{"bruck, a rank further", isRight(false), planOf(gathers, rotations, bruck(0, 0, 1))},
		{"doubling", func(n int) bool { return n&(n-1) == 0 }, whole(doubling, 1)},
		{"two lanes", isRight(false), whole(twoLanes, 2)},
	}
}
