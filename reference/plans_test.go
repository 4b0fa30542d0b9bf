package reference

import (
	"testing"

	"collsim/collective"
	"collsim/schedule"

	"github.com/stretchr/testify/require"
)

// The schedules of these tests: a few algorithms as an author writes them, without package algos,
// which this package must not know.

// meant is a collective without a factor or an average that its operator does not have.
func meant(s collective.Spec) collective.Spec {
	if s.Op != collective.PremulSum {
		s.Factor = 0
	}
	if s.Op != collective.Avg {
		s.Avg = 0
	}
	return s
}

// build makes the schedule of a plan for a spec.
func build(t testing.TB, spec collective.Spec, plan func() schedule.Plan) *schedule.Schedule {
	t.Helper()
	spec = meant(spec)
	s, err := rebuilder(spec, plan)(spec.Count)
	require.NoError(t, err)
	return s
}

// rebuilder makes the schedule with other counts.
func rebuilder(spec collective.Spec,
	plan func() schedule.Plan) func(int64) (*schedule.Schedule, error) {
	return func(count int64) (*schedule.Schedule, error) {
		p := plan()
		p.Spec = spec
		p.Spec.Count = count
		if p.Group != nil {
			p.Group = schedule.Group{int32(spec.Ranks)}
		}
		if p.Chunks < 0 {
			p.Chunks = spec.Ranks
		}
		if p.Lanes < 0 {
			p.Lanes = max(1, spec.Ranks-1)
		}
		return schedule.Build(p)
	}
}

const perRank = -1 // of a plan's Chunks: as many as ranks; of Lanes: one less

func ring() schedule.Plan {
	return schedule.Plan{Name: "ring", Group: schedule.Group{1}, Chunks: perRank, Slots: 2,
		Lane: func(l *schedule.Lane) {
			r, p := l.Rank, l.Ranks
			prev, next := r-1, r+1
			l.Send(next, l.Chunk(r))
			for i := 1; i < p-1; i++ {
				l.ReduceSend(prev, next, l.Chunk(r-i))
			}
			l.Completes()
			l.ReduceCopySend(prev, next, l.Chunk(r+1))
			for i := range p - 2 {
				l.CopySend(prev, next, l.Chunk(r-i))
			}
			l.Recv(prev, l.Chunk(r+2))
		}}
}

// direct is an all-to-all of one lane for every other rank.
func direct() schedule.Plan {
	return schedule.Plan{Name: "direct", Group: schedule.Group{1}, Lanes: perRank,
		Lane: func(l *schedule.Lane) {
			r, d := l.Rank, l.Index+1
			if l.Index == 0 {
				l.Copy(l.Out(r), l.In(r))
			}
			l.Facing(l.Ranks - 1 - d)
			l.Send(r+d, l.In(r+d))
			l.Facing(l.Ranks - 1 - d)
			l.Combine([]schedule.Region{l.Out(r + d)}, nil, l.From(r+d))
		}}
}

func ringAllGather() schedule.Plan {
	return schedule.Plan{Name: "ring", Group: schedule.Group{1}, Lane: func(l *schedule.Lane) {
		r, p := l.Rank, l.Ranks
		l.KeepSend(r+1, l.Chunk(r))
		for i := 1; i < p-1; i++ {
			l.CopySend(r-1, r+1, l.Chunk(r-i))
		}
		l.Recv(r-1, l.Chunk(r+1))
	}}
}

func ringReduceScatter() schedule.Plan {
	return schedule.Plan{Name: "ring", Group: schedule.Group{1}, Lane: func(l *schedule.Lane) {
		r, p := l.Rank, l.Ranks
		l.Send(r+1, l.Chunk(r-1))
		for i := 2; i < p; i++ {
			l.ReduceSend(r-1, r+1, l.Chunk(r-i))
		}
		l.Completes()
		l.Reduce(r-1, l.Chunk(r))
	}}
}

// doubling is recursive doubling, for powers of two.
func doubling() schedule.Plan {
	return schedule.Plan{Name: "recursive-doubling", Lane: func(l *schedule.Lane) {
		for d := 1; d < l.Ranks; d *= 2 {
			l.Send(l.Rank^d, l.All())
			if 2*d >= l.Ranks {
				l.Completes()
			}
			l.Reduce(l.Rank^d, l.All())
		}
	}}
}

// binomial is a broadcast, or a reduce with Accumulate, along a binomial tree.
func binomialBroadcast() schedule.Plan {
	return schedule.Plan{Name: "binomial", Lane: func(l *schedule.Lane) {
		p, v := l.Ranks, (l.Rank-l.Root+l.Ranks)%l.Ranks
		low := v & -v
		if v == 0 {
			for low = 1; low < p; low *= 2 {
			}
			l.Keep(l.All())
		} else {
			l.Recv(l.Rank-low, l.All())
		}
		for d := low / 2; d > 0; d /= 2 {
			if v+d < p {
				l.Send(l.Rank+d, l.All())
			}
		}
	}}
}

// chainReduce adds in the order of the ranks' distance from the root, farthest first, tile by tile.
func chainReduce() schedule.Plan {
	return schedule.Plan{Name: "chain", Segment: 3, Lane: func(l *schedule.Lane) {
		v := (l.Rank - l.Root + l.Ranks) % l.Ranks
		for t := range l.Tiles() {
			l.Tile(t)
			switch v {
			case l.Ranks - 1:
				l.Send(l.Rank-1, l.In(0))
			case 0:
				l.Completes()
				l.Combine([]schedule.Region{l.Out(0)}, nil, l.From(l.Rank+1), l.Local(l.In(0)))
			default:
				l.ReduceSend(l.Rank+1, l.Rank-1, l.In(0))
			}
		}
	}}
}

func flatGather() schedule.Plan {
	return schedule.Plan{Name: "flat", Lane: func(l *schedule.Lane) {
		if l.Rank != l.Root {
			l.Send(l.Root, l.In(0))
			return
		}
		if l.Rank == l.Root {
			l.Keep(l.Chunk(l.Rank))
		}
		for i := 1; i < l.Ranks; i++ {
			r := (l.Root + i) % l.Ranks
			l.Combine([]schedule.Region{l.Out(r)}, nil, l.From(r))
		}
	}}
}

func flatScatter() schedule.Plan {
	return schedule.Plan{Name: "flat", Lane: func(l *schedule.Lane) {
		if l.Rank != l.Root {
			l.Combine([]schedule.Region{l.Out(0)}, nil, l.From(l.Root))
			return
		}
		for i := 1; i < l.Ranks; i++ {
			l.Send(l.Root+i, l.In(l.Root+i))
		}
		l.Keep(l.Chunk(l.Rank))
	}}
}

func shift() schedule.Plan {
	return schedule.Plan{Name: "direct", Group: schedule.Group{1}, Lane: func(l *schedule.Lane) {
		l.Send(l.Rank+1, l.In(0))
		l.Combine([]schedule.Region{l.Out(0)}, nil, l.From(l.Rank-1))
	}}
}

// bruck is Bruck's all-to-all: blocks rotated into scratch, sent in lists, rotated back.
func bruck(ranks int) func() schedule.Plan {
	return func() schedule.Plan {
		return schedule.Plan{Name: "bruck", Scratch: ranks, Lane: func(l *schedule.Lane) {
			r, p := l.Rank, l.Ranks
			for i := range p {
				l.Copy(l.Scratch(i), l.In(r+i))
			}
			for d := 1; d < p; d *= 2 {
				list := l.Scratch(0)
				for i := range p {
					if i&d != 0 {
						list.List = append(list.List, int32(i))
					}
				}
				l.Send(r+d, list)
				l.Combine([]schedule.Region{list}, nil, l.From(r-d))
			}
			for i := range p {
				l.Copy(l.Out(r-i), l.Scratch(i))
			}
		}}
	}
}

// oneShot adds all ranks' inputs in rank order in one step, by gets between two barriers.
func oneShot() schedule.Plan {
	return schedule.Plan{Name: "one-shot", Lane: func(l *schedule.Lane) {
		var sources []schedule.Source
		for r := range l.Ranks {
			if r == l.Rank {
				sources = append(sources, l.Local(l.In(0)))
			} else {
				sources = append(sources, l.Get(r, l.In(0)))
			}
		}
		l.Barrier()
		l.Completes()
		l.Combine([]schedule.Region{l.Out(0)}, nil, sources...)
		l.Barrier()
	}}
}

// putAllGather puts every rank's block into all outputs.
func putAllGather() schedule.Plan {
	return schedule.Plan{Name: "put", Lane: func(l *schedule.Lane) {
		l.Barrier()
		l.Keep(l.Chunk(l.Rank))
		for i := 1; i < l.Ranks; i++ {
			l.Put(l.Rank+i, l.Out(l.Rank), l.In(0))
		}
		for i := 1; i < l.Ranks; i++ {
			l.WaitPut(l.Rank - i)
		}
		l.Flush()
	}}
}
