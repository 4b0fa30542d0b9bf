package proof

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// Sums of integers are divided once, where the author says that they are complete.
func TestVerifyScales(t *testing.T) {
	s := ring(t, 4, 100, func(p *schedule.Plan) {
		p.Spec.Op, p.Spec.Type = collective.Avg,
			dtype.Int32
	})
	require.Contains(t, s.String(), "into out[1] to 1 scaled @3")
	require.Contains(t, verdict(s, Options{}), "proved")
	s = ring(t, 4, 100, func(p *schedule.Plan) { p.Spec.Op = collective.Avg })
	require.Contains(t, s.String(), "send scaled in[0] to 1")
	require.Contains(t, verdict(s, Options{}), "proved")

	text := damage(t, s.String(), "-     send scaled in[0] to 1 @0\n+     send in[0] to 1 @0")
	require.Contains(t, verdict(mustParse(t, text), Options{}),
		"adds values that are scaled 0 and 1 times")
}

// A sum that nobody divides is not the mean.
func TestVerifyMissesScale(t *testing.T) {
	s := ring(t, 4, 100, func(p *schedule.Plan) {
		p.Spec.Op, p.Spec.Type = collective.Avg,
			dtype.Int32
	})
	text := damage(t, s.String(),
		"-     recvReduceCopySend from 3, in[1] into out[1] to 1 scaled @3\n"+
			"+     recvReduceCopySend from 3, in[1] into out[1] to 1 @3")
	require.Contains(t, verdict(mustParse(t, text), Options{}),
		"misplaced: rank 0 chunk 0: output element 0 is scaled 0 times instead of 1")
}

// Memories that are cut too finely to be divided beforehand are divided where they are accessed.
func TestVerifyManyBlocks(t *testing.T) {
	text := `schedule halves
collective send_recv int32
ranks 2
count 2200000
group 2
cut in block even 1100000
cut out block even 1100000
rank *
  lane 0
    loop 2
      send in[550000i x550000] to 1 @i
    loop 2
      recv from 1 into out[550000i x550000] @i
`
	require.Contains(t, verdict(mustParse(t, text), Options{}), "proved: 2 rounds, 8 steps")
	swapped := damage(t, text, "-       recv from 1 into out[550000i x550000] @i\n"+
		"+       recv from 1 into out[550000-550000i x550000] @i")
	require.Contains(t, verdict(mustParse(t, swapped), Options{}),
		"rank 0 chunk 0: output element 0 holds element 1100000 of the inputs instead of 0")
}

func TestVerifyInPlace(t *testing.T) {
	s := ring(t, 6, 100, func(p *schedule.Plan) { p.Spec.InPlace = true })
	require.Contains(t, verdict(s, Options{}), "proved: 10 rounds")
	// All-gather: the input is a block of the output, which the ring only passes on.
	s, err := schedule.Build(schedule.Plan{Group: schedule.Group{5}, Lane: func(l *schedule.Lane) {
		l.KeepSend(l.Rank+1, l.Chunk(l.Rank))
		for i := 1; i < l.Ranks-1; i++ {
			l.CopySend(l.Rank-1, l.Rank+1, l.Chunk(l.Rank-i))
		}
		l.Recv(l.Rank-1, l.Chunk(l.Rank+1))
	}, Spec: collective.Spec{Kind: collective.AllGather, Type: dtype.Float16, Ranks: 5, Count: 3,
		InPlace: true}, Channels: 2, Slices: 2})
	require.NoError(t, err)
	require.Contains(t, verdict(s, Options{}), "proved: 4 rounds")
}

// A put touches its target until it is observed, and its origin until the flush.
func TestVerifyPut(t *testing.T) {
	text := `schedule push
collective all_reduce float32 sum
ranks 2
count 8
scratch 8
rank 0
  lane 0
    put in to 1 at scratch @0
    flush @0
    wait from put 1 @0
    reduce in, scratch into out @0
    signal to 1 @0
    wait from 1 @0
rank 1
  lane 0
    put in to 0 at scratch @0
    flush @0
    wait from put 0 @0
    reduce scratch, in into out @0
    signal to 0 @0
    wait from 0 @0
`
	s := mustParse(t, text)
	require.Equal(t, text, s.String())
	require.Equal(t, "proved: 1 rounds, 12 steps, 4 messages, 64 bytes sent, 1 slots needed, "+
		"rank order true, same tree true, 2 iterations\n", verdict(s, Options{}))

	early := damage(t, text, "-     wait from put 1 @0\n-     reduce in, scratch into out @0\n"+
		"+     reduce in, scratch into out @0\n+     wait from put 1 @0")
	require.Contains(t, verdict(mustParse(t, early), Options{}), "rank 0 lane 0 step 2 "+
		"reads and rank 1 lane 0 step 0 writes scratch element 0 of rank 0; nothing orders them")
	unflushed := damage(t, text, "-     flush @0")
	require.Contains(t, verdict(mustParse(t, unflushed), Options{}),
		"rank 0 lane 0 step 0 in call 1 reads and the caller of rank 0 in call 2 writes in element 0 "+
			"of rank 0")
	// Without the last signals the next call's put meets this call's read.
	again := damage(t, text, "-     signal to 1 @0\n-     wait from 1 @0\n"+
		"-     signal to 0 @0\n-     wait from 0 @0")
	require.Contains(t, verdict(mustParse(t, again), Options{}), "race")
	// A relaxed signal orders nothing.
	relaxed := damage(t, text, "-     signal to 1 @0\n+     signal to 1 relaxed @0")
	require.Contains(t, verdict(mustParse(t, relaxed), Options{}), "race")
}

// Slots that are given limit what is proven; the least is looked for between powers of two.
func TestVerifySlots(t *testing.T) {
	s := ring(t, 4, 100, func(p *schedule.Plan) { p.Slices = 6 })
	require.Contains(t, verdict(s, Options{}), "7 slots needed")
	require.Contains(t, verdict(s, Options{Slots: 7}), "7 slots needed")
	require.Contains(t, verdict(s, Options{Slots: 6}), "FIFO depth 6, depth 7 would do")
}

// A barrier is proven by who must have come before whom may leave.
func TestVerifyBarrier(t *testing.T) {
	build := func(ranks, last int) *schedule.Schedule {
		s, err := schedule.Build(
			schedule.Plan{Name: "dissemination", Group: schedule.Group{int32(ranks)},
				Spec: collective.Spec{Kind: collective.Barrier, Ranks: ranks},
				Lane: func(l *schedule.Lane) {
					for d := 1; d < last; d *= 2 {
						l.Signal(l.Rank + d)
						l.Wait(l.Rank - d)
					}
				}})
		require.NoError(t, err)
		return s
	}
	for _, ranks := range []int{2, 3, 5, 8, 64, 65, 100} {
		require.Contains(t, verdict(build(ranks, ranks), Options{}), "proved")
	}
	require.Contains(t, verdict(build(8, 4), Options{}), "missing: rank 0: leaves the barrier "+
		"when only 4 of 8 ranks must have come; not rank 1\n")
}

// lowContention is an all_gather between two barriers, in which everyone tells everyone all.
func lowContention(t testing.TB, ranks int) *schedule.Schedule {
	a, err := algos.Find(collective.AllGather, "low-contention")
	require.NoError(t, err)
	s, err := a.Build(collective.Spec{Kind: collective.AllGather, Type: dtype.Float32, Ranks: ranks,
		Count: 8}, algos.Options{})
	require.NoError(t, err)
	return s
}

func BenchmarkVerify(b *testing.B) {
	for _, c := range []struct {
		name string
		s    *schedule.Schedule
	}{
		{"ring1024", ring(b, 1024, 1<<20, nil)},
		{"direct256", direct(b, 256)},
		{"barriers200", lowContention(b, 200)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, found := Verify(c.s, Options{})
				require.Empty(b, found)
			}
		})
	}
}

// What doubles from step to step never comes back to once: 32 doublings are 2^32, and one more.
func TestVerifyCountsFar(t *testing.T) {
	const text = `schedule
collective all_reduce float32 sum
ranks 2
count 4
scratch 4
rank 0
  lane 0
    copy in into scratch @0
    loop 32
      reduce scratch, scratch into scratch @0
    reduceSend scratch, in to 1 @0
    recvReduceCopy from 1, in into out @0
rank 1
  lane 0
    send in to 0 @0
    recvReduceCopy from 0, in into out @0
`
	require.Equal(t, "doubled: rank 1 chunk 0: output element 0 holds the input of rank 0 2147483647 "+
		"times, or more\n", verdict(mustParse(t, text), Options{}))
	require.Equal(t, "doubled: rank 1 chunk 0: output element 0 holds the input of rank 0 5 times\n",
		verdict(mustParse(t, damage(t, text, "-     loop 32\n+     loop 2")), Options{}))
}

// Every operation counts once, a multimem's too: what the switch has added up goes to one rank,
// what it hands to all leaves one rank. Nothing wraps that is too much to be counted.
func TestVerifyFlows(t *testing.T) {
	s := mustParse(t, `schedule
collective custom int32 sum
ranks 3
splits 4 4 4
splits 4 4 4
rank 0
  lane 0
    wait from 1 @0
    wait from 2 @0
    reduceSend multimem{0,1,2} in to multimem{0,1,2} at out @0
    signal to 1 @0
    signal to 2 @0
rank 1
  lane 0
    signal to 0 @0
    wait from 0 @0
rank 2
  lane 0
    signal to 0 @0
    wait from 0 @0
`)
	p, found := Verify(s, Options{Iterations: 1, Traffic: true})
	require.Empty(t, found)
	require.Equal(t, []Traffic{{From: -1, To: 0, Bytes: 16}, {From: 0, To: -1, Bytes: 16}}, p.Traffic)
	require.Equal(t, int64(32), p.BytesSent)
	s = mustParse(t, strings.Replace(s.String(), "at out @0", "at out fused @0", 1))
	p, found = Verify(s, Options{Iterations: 1, Traffic: true})
	require.Empty(t, found)
	require.Equal(t, []Traffic{{From: -1, To: -1, Bytes: 16}}, p.Traffic, "neither is a rank's")
	require.Equal(t, int64(16), p.BytesSent)
	huge := mustParse(t, fmt.Sprintf(`schedule
collective send_recv float64
ranks 2
count %d
group 2
rank *
  lane 0
    loop 100
      send in to 1 @0
      recv from 1 into out @0
`, collective.MaxElements/2))
	p, found = Verify(huge, Options{})
	require.Empty(t, found)
	require.Equal(t, int64(math.MaxInt64), p.BytesSent)
}

// Ranks that do nothing cost nothing, however finely their buffers are cut: twice as many ranks and
// blocks take about twice the memory.
func TestVerifyEmptyRanks(t *testing.T) {
	taken := func(ranks int) uint64 {
		var b strings.Builder
		fmt.Fprintf(&b, "schedule\ncollective all_gather int8\nranks %d\ncount 1\n", ranks)
		fmt.Fprintf(&b, "cut out block even %d\n", ranks)
		for rank := range ranks {
			fmt.Fprintf(&b, "rank %d\n", rank)
		}
		s := mustParse(t, b.String())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, found := Verify(s, Options{})
		runtime.ReadMemStats(&after)
		require.Len(t, found, maxViolations)
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, taken(4096), 3*taken(2048))
}

// Programs of others' runtimes, which know no operators, are assembled, and executors
// report the sum without an operator.
func TestAssembledSumsAreJudged(t *testing.T) {
	head := schedule.Schedule{Spec: collective.Spec{Kind: collective.Custom, Type: dtype.Int32,
		Ranks:  1,
		Splits: [][]int64{{4}, {4}}}}
	whole := func(b schedule.Buffer) schedule.Region {
		return schedule.Region{Buffer: b, Run: 1,
			Times: 1}
	}
	s, err := schedule.Assemble(head, []int{1}, func(_, _ int, add func(schedule.Step)) {
		add(schedule.Step{From: []schedule.Source{{Region: whole(schedule.Input)}},
			To: []schedule.Region{whole(schedule.Output)}})
		add(schedule.Step{From: []schedule.Source{{Region: whole(schedule.Input)},
			{Region: whole(schedule.Output)}},
			To: []schedule.Region{whole(schedule.Output)}})
	})
	require.NoError(t, err)
	require.Equal(t, "malformed: rank 0 lane 0 step 1: reduce combines, but custom has no operator\n",
		verdict(s, Options{}))
}

// One rank adds a to b where its partner adds b to a: the same tree, but not in rank order.
func TestVerifySameTree(t *testing.T) {
	for _, group := range []schedule.Group{{2}, {2, 2}, {2, 2, 2}, {2, 2, 2, 2}} {
		s, err := schedule.Build(
			schedule.Plan{Spec: allReduce(group.Order(), 7), Group: group, Lane: func(l *schedule.Lane) {
				for d := 1; d < l.Ranks; d *= 2 {
					l.Send(l.Rank^d, l.All())
					l.Reduce(l.Rank^d, l.All())
				}
			}})
		require.NoError(t, err)
		require.Contains(t, verdict(s, Options{}), "rank order false, same tree true")
	}
}

// A collective without elements has no steps, and nothing goes wrong.
func TestVerifyNothing(t *testing.T) {
	require.Contains(t, verdict(ring(t, 8, 0, nil), Options{}), "proved: 0 rounds, 0 steps")
}
