package reference

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"

	"github.com/stretchr/testify/require"
)

// trial is a schedule to be checked.
type trial struct {
	name string
	kind collective.Kind
	plan func() schedule.Plan
	pow2 bool // of ranks only
}

func trials(ranks int) []trial {
	return []trial{
		{"ring", collective.AllReduce, ring, false},
		{"doubling", collective.AllReduce, doubling, true},
		{"one-shot", collective.AllReduce, oneShot, false},
		{"ring", collective.AllGather, ringAllGather, false},
		{"put", collective.AllGather, putAllGather, false},
		{"ring", collective.ReduceScatter, ringReduceScatter, false},
		{"binomial", collective.Broadcast, binomialBroadcast, false},
		{"chain", collective.Reduce, chainReduce, false},
		{"flat", collective.Gather, flatGather, false},
		{"flat", collective.Scatter, flatScatter, false},
		{"shift", collective.SendRecv, shift, false},
		{"direct", collective.AllToAll, direct, false},
		{"bruck", collective.AllToAll, bruck(ranks), false},
	}
}

// specOf is a collective that a trial can carry out.
func (tr *trial) spec(op collective.Op, t dtype.Type, ranks int, count int64) collective.Spec {
	s := collective.Spec{Kind: tr.kind, Type: t, Ranks: ranks, Count: count}
	if s.Kind.Reduces() {
		s.Op, s.Factor = op, 3
	}
	s = meant(s)
	if s.Kind.Rooted() {
		s.Root = ranks / 2
	}
	return s
}

// exactly is the report of what is equal, and does not round.
func exactly(count int64) Report {
	return Report{Numbers: NumbersExact, Checked: count, RanksAgree: true}
}

// unbounded is a report without what holds of any data.
func unbounded(r Report) Report {
	r.Depth, r.Bound = 0, 0
	return r
}

// TestExactDataGivesExactNumbers checks every algorithm × operator × type.
func TestExactDataGivesExactNumbers(t *testing.T) {
	for _, ranks := range tier.Raced([]int{1, 3}, []int{1, 3, 8}, []int{1, 2, 3, 4, 5, 8}) {
		for _, tr := range trials(ranks) {
			if tr.pow2 && ranks&(ranks-1) != 0 {
				continue
			}
			for _, count := range tier.Of([]int64{0, 3, 37}, []int64{0, 1, 3, 16, 37}) {
				for i, op := range collective.Ops() {
					for j, dt := range dtype.All() {
						if !slices.Contains(collective.OpsOf(dt), op) && tr.kind.Reduces() {
							continue
						}
						if !tier.Long && (i+j+ranks)%2 != 0 && tr.kind.Reduces() {
							continue // of an odd number of ranks, and of an even one
						}
						s := tr.spec(op, dt, ranks, count)
						r, err := Check(build(t, s, tr.plan), CheckOptions{Seed: 1})
						require.NoError(t, err)
						require.Equal(t, exactly(count), unbounded(r), "%s %+v", tr.name, s)
						if !tr.kind.Reduces() {
							break
						}
					}
				}
			}
		}
	}
}

// TestOrderSensitiveDataIsBounded: sums are rounded in the schedule's order, and the error is
// within the bound.
func TestOrderSensitiveDataIsBounded(t *testing.T) {
	for _, op := range collective.OpsOf(dtype.Float32) {
		for _, data := range []Data{Uniform, Normal} {
			for _, dt := range []dtype.Type{dtype.Float32, dtype.Float64} {
				s := collective.Spec{Kind: collective.AllReduce, Op: op, Type: dt, Ranks: 16,
					Count: 2000, Factor: 0.3}
				r, err := Check(build(t, s, ring), CheckOptions{Data: data})
				require.NoError(t, err)
				require.Zero(t, r.Wrong)
				require.True(t, r.RanksAgree)
				if op == collective.Min || op == collective.Max {
					require.Equal(t, exactly(2000), r)
					continue
				}
				require.Equal(t, NumbersBounded, r.Numbers, "%v %v %v", op, data, dt)
				require.Greater(t, r.MaxULP, 0.4)
				require.Less(t, r.MaxULP, 1e5) // cancellation
			}
		}
	}
}

// TestRanksThatDisagree: ranks that add in different orders have different bits.
func TestRanksThatDisagree(t *testing.T) {
	plan := func() schedule.Plan {
		return schedule.Plan{Name: "rotated", Lane: func(l *schedule.Lane) {
			sources := []schedule.Source{l.Local(l.In(0))}
			for i := 1; i < l.Ranks; i++ {
				sources = append(sources, l.Get(l.Rank+i, l.In(0)))
			}
			l.Combine([]schedule.Region{l.Out(0)}, nil, sources...)
		}}
	}
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 5, Count: 100}
	r, err := Check(build(t, s, plan), CheckOptions{Data: Normal})
	require.NoError(t, err)
	require.False(t, r.RanksAgree)
	require.Equal(t, NumbersBounded, r.Numbers)
	r, err = Check(build(t, s, plan), CheckOptions{})
	require.NoError(t, err)
	require.True(t, r.RanksAgree, "exact data")
}

// TestWindowsChangeNothing compares whole memories with windows of every size, of schedules that
// are right and of one that is not, with moves that are kept and that are not.
func TestWindowsChangeNothing(t *testing.T) {
	for _, tr := range trials(4) {
		for _, inPlace := range []bool{false, true} {
			s := tr.spec(collective.Sum, dtype.Float32, 4, 37)
			s.InPlace = inPlace
			sch := build(t, s, tr.plan)
			o := CheckOptions{Data: Normal}
			for _, limit := range []int64{0, 1 << 20} {
				v, err := look(sch, lookOptions{limit: limit})
				require.NoError(t, err)
				require.False(t, v.ragged, tr.name)
				require.Equal(t, limit > 0, v.kept)
				whole, err := check[float32](v, &o, work{0, 1})
				require.NoError(t, err)
				for _, window := range []int64{1, 2, 5, 36, 37, 100} {
					got, err := check[float32](v, &o, work{window, 2})
					require.NoError(t, err)
					require.Equal(t, whole, got, "%s %v in place %v window %d", tr.name, s.Kind,
						inPlace, window)
				}
			}
		}
	}
}

// TestRaggedScheduleIsComputedWhole: a buffer that is cut in two ways has no windows.
func TestRaggedScheduleIsComputedWhole(t *testing.T) {
	plan := func() schedule.Plan {
		halves := schedule.Cut{{Axis: schedule.Block, N: 2}}
		return schedule.Plan{Name: "ragged", Cuts: &[3]schedule.Cut{schedule.Output: halves},
			Lane: func(l *schedule.Lane) {
				l.Send(l.Rank+1, l.In(0))
				l.Combine([]schedule.Region{l.Out(0).Blocks(2)}, nil, l.From(l.Rank-1))
			}}
	}
	s := collective.Spec{Kind: collective.SendRecv, Type: dtype.Int64, Ranks: 3, Count: 1 << 17}
	sch := build(t, s, plan)
	v, err := look(sch, lookOptions{limit: 1 << 20})
	require.NoError(t, err)
	require.True(t, v.ragged)
	require.Zero(t, v.window(2, 1<<30))
	for _, memory := range []int64{0, v.need()} { // in the latter is no room for moves
		r, err := Check(sch, CheckOptions{Memory: memory})
		require.NoError(t, err)
		require.Equal(t, Report{Numbers: NumbersExact, Checked: 1 << 17, RanksAgree: true}, r)
	}
	require.Equal(t, work{0, 1}, v.divide(2, v.need()))
	require.False(t, v.kept)
}

func TestDamagedSchedulesMismatch(t *testing.T) {
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 4, Count: 12}
	text := build(t, s, ring).String()
	tests := []struct {
		name, old, new string
		wrong          int64 // elements, of 4 ranks × 4 blocks × 3
	}{
		// Rank g then leaves its block g+3 out of a sum that all ranks get.
		{"an input is left out", "recvReduceSend from 3, in[3] to", "recvSend from 3 to", 48},
		{"a wrong block is added", "recvReduceSend from 3, in[2]", "recvReduceSend from 3, in[3]", 48},
		{"output is not written", "recv from 3 into out[2]", "wait from fifo 3", 12},
		{"output is in the wrong place", "into out[2] @6", "into out[3] @6", 24},
	}
	for _, tt := range tests {
		require.Contains(t, text, tt.old, tt.name)
		damaged, err := schedule.Parse(strings.Replace(text, tt.old, tt.new, 1))
		require.NoError(t, err)
		r, err := Check(damaged, CheckOptions{})
		require.NoError(t, err, tt.name)
		require.Equal(t, NumbersMismatch, r.Numbers, tt.name)
		require.Equal(t, tt.wrong, r.Wrong, tt.name)
		require.Equal(t, 0, r.First.Rank, tt.name)
		require.NotEqual(t, r.First.Got, r.First.Want, tt.name)
	}
}

// TestFirstMismatch damages one element that is known: rank 2's block 1 never arrives.
func TestFirstMismatch(t *testing.T) {
	s := collective.Spec{Kind: collective.AllGather, Type: dtype.Int32, Ranks: 4, Count: 5}
	text := "schedule\ncollective all_gather int32\nranks 4\ncount 5\ncut out block even 4\n"
	for r := range 4 {
		text += fmt.Sprintf("rank %d\n", r)
		for from := range 4 {
			if r != 2 || from != 1 {
				source := fmt.Sprintf("get %d in", from)
				verb := "copy"
				if from == r {
					source = "in"
				}
				text += fmt.Sprintf("  lane %d\n    %s %s into out[%d] @0\n", from, verb, source, from)
			} else {
				text += fmt.Sprintf("  lane %d\n", from)
			}
		}
	}
	sch, err := schedule.Parse(text)
	require.NoError(t, err)
	r, err := Check(sch, CheckOptions{Seed: 4})
	require.NoError(t, err)
	g := newGenerator[int32](&s, Exact, 4)
	want := make([]int32, 1)
	g.fill(want, 1, 0)
	require.Equal(t, NumbersMismatch, r.Numbers)
	require.Equal(t, int64(5), r.Wrong)
	require.False(t, r.RanksAgree)
	require.Equal(t, &Mismatch{Rank: 2, Element: 5, Got: "-1515870811",
		Want: fmt.Sprint(want[0])}, r.First)
	require.Equal(t, fmt.Sprintf("rank 2 element 5 is -1515870811; %d is wanted", want[0]),
		r.First.String())
}

// TestMemoryBoundsTheCheck: the count shrinks with the memory and keeps its remainder.
func TestMemoryBoundsTheCheck(t *testing.T) {
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float64,
		Ranks: 8, Count: 80003}
	last := int64(0)
	for _, memory := range []int64{1 << 12, 1 << 16, 1 << 20, 1 << 22, 1 << 30} {
		o := CheckOptions{Memory: memory, Rebuild: rebuilder(s, ring)}
		r, err := Check(build(t, s, ring), o)
		require.NoError(t, err)
		require.Equal(t, NumbersExact, r.Numbers)
		require.EqualValues(t, 80003%8, r.Checked%8)
		require.Greater(t, r.Checked, last)
		last = r.Checked
		checked := s
		checked.Count = r.Checked
		v, err := look(build(t, checked, ring), lookOptions{})
		require.NoError(t, err)
		require.LessOrEqual(t, v.need(), memory)
		if r.Checked < s.Count { // and uses most of it
			require.Greater(t, 3*v.need(), memory)
		}
	}
	require.EqualValues(t, s.Count, last)
	// One block a rank: only channels and slices matter.
	s = collective.Spec{Kind: collective.AllToAll, Type: dtype.Int32, Ranks: 8, Count: 5000}
	r, err := Check(build(t, s, direct), CheckOptions{Memory: 1 << 16, Rebuild: rebuilder(s, direct)})
	require.NoError(t, err)
	require.Less(t, r.Checked, int64(257))
	require.Greater(t, r.Checked, int64(100))
}

func TestTooLittleMemory(t *testing.T) {
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float64,
		Ranks: 8, Count: 80000}
	sch := build(t, s, ring)
	// Without Rebuild, windows make do with less; all of it is checked.
	r, err := Check(sch, CheckOptions{Memory: 1 << 18})
	require.NoError(t, err)
	require.Equal(t, exactly(80000), unbounded(r))
	v, err := look(sch, lookOptions{})
	require.NoError(t, err)
	tight := 3 * v.perPlace() * v.width() / 2 // room for one machine, not for two
	require.Equal(t, work{1, 1}, v.divide(2, tight))
	v, err = look(sch, lookOptions{limit: 1 << 20})
	require.NoError(t, err)
	require.Positive(t, v.bytes)
	require.Equal(t, work{1, 1}, v.divide(2, tight+v.bytes))
	require.True(t, v.kept)
	_, err = Check(sch, CheckOptions{Memory: 100})
	require.ErrorContains(t, err, "bytes, but memory is 100: allow more by [check] memory, or use "+
		"[check] numbers = false")
	s.Count = 1
	_, err = Check(build(t, s, ring), CheckOptions{Memory: 10, Rebuild: rebuilder(s, ring)})
	require.ErrorContains(t, err, "bytes, but memory is 10:")
	broken := func(int64) (*schedule.Schedule, error) { return nil, errors.New("no") }
	_, err = Check(sch, CheckOptions{Memory: 1 << 12, Rebuild: broken})
	require.ErrorContains(t, err, "rebuilding with count")
	same := func(int64) (*schedule.Schedule, error) { return sch, nil }
	_, err = Check(sch, CheckOptions{Memory: 1 << 12, Rebuild: same})
	require.ErrorContains(t, err, "the schedule is of all_reduce of 80000 float64 on 8 ranks")
}

// TestSameReportOnAnyNumberOfProcessors runs many windows on 1, 2 and 5 processors.
func TestSameReportOnAnyNumberOfProcessors(t *testing.T) {
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 8, Count: 200000}
	right := build(t, s, ring)
	damaged, err := schedule.Parse(strings.Replace(right.String(), "in[7-i]", "in[1]", 1))
	require.NoError(t, err)
	for i, want := range []Verdict{NumbersBounded, NumbersMismatch} {
		sch := []*schedule.Schedule{right, damaged}[i]
		var reports []Report
		for _, n := range []int{1, 2, 5} {
			before := runtime.GOMAXPROCS(n)
			r, err := Check(sch, CheckOptions{Data: Uniform, Memory: 1 << 20})
			runtime.GOMAXPROCS(before)
			require.NoError(t, err)
			require.Equal(t, want, r.Numbers)
			reports = append(reports, r)
		}
		require.Equal(t, reports[0], reports[1])
		require.Equal(t, reports[0], reports[2])
	}
}

func TestBarrierAndSplits(t *testing.T) {
	s := collective.Spec{Kind: collective.Barrier, Ranks: 3}
	barrier := func() schedule.Plan {
		return schedule.Plan{Name: "barrier", Lane: (*schedule.Lane).Barrier}
	}
	r, err := Check(build(t, s, barrier), CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, Report{Numbers: NumbersExact, RanksAgree: true}, r)

	s = collective.Spec{Kind: collective.AllToAllV, Type: dtype.Int32, Ranks: 3,
		Splits: [][]int64{{1, 0, 5}, {2, 3, 4}, {0, 7, 1}}}
	r, err = Check(build(t, s, direct), CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, Report{Numbers: NumbersExact, Checked: 10, RanksAgree: true}, r)
}

func TestCheckRefusesFactors(t *testing.T) {
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.PremulSum, Factor: 1e5,
		Type: dtype.Float16, Ranks: 2, Count: 4}
	_, err := Check(build(t, s, ring), CheckOptions{})
	require.EqualError(t, err, "premulsum factor 100000: float16 has numbers up to 65504")
}

// TestHotLoopsDoNotAllocate: once buffers exist, a window costs no memory.
func TestHotLoopsDoNotAllocate(t *testing.T) {
	s := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 8, Count: 8 << 10}
	v, err := look(build(t, s, ring), lookOptions{limit: 1 << 20})
	require.NoError(t, err)
	g := newGenerator[float32](&s, Exact, 0)
	m := newMachine(v, g.fill, 128)
	c := newComparison(newDefinition(&s, g.fill, g.simple()), v.rounding())
	c.m = m
	require.NoError(t, m.compute(0))
	require.Zero(t, testing.AllocsPerRun(5, func() {
		for i := range v.tapes {
			m.run(&v.tapes[i])
		}
		c.outputs()
	}))
}
