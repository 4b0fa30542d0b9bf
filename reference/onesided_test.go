package reference

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// twoShot is an all-reduce of so many elements by four ranks through a switch: rank r loads the
// sum of block r, and has it stored everywhere.
func twoShot(t *testing.T, what string, count int) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(fmt.Sprintf(`schedule two-shot
collective all_reduce %s
ranks 4
count %d
group 4
cut in block even 4 by rank
cut out block even 4 by rank
rank *
  lane 0
    loop 3
      signal to 1+i @0
    loop 3
      wait from 1+i @0
    reduceSend multimem{0,1,2,3} in[0] to multimem{0,1,2,3} at out[0] @0
    loop 3
      signal to 1+i @0
    loop 3
      wait from 1+i @0
`, what, count))
	require.NoError(t, err)
	return s
}

// TestMultimem: block r of every output is the sum of that of all inputs.
func TestMultimem(t *testing.T) {
	inputs := [][]int32{{1, 2, 3, 4}, {10, 20, 30, 40}, {5, 5, 5, 5}, {100, 200, 300, 400}}
	out, err := Run(twoShot(t, "int32 sum", 4), inputs)
	require.NoError(t, err)
	for rank := range out {
		require.Equal(t, []int32{116, 227, 338, 449}, out[rank])
	}
}

// TestFused: the switches add up and copy the same bits as where the sum goes through a rank.
func TestFused(t *testing.T) {
	apart := twoShot(t, "float32 sum", 1000)
	fused, err := schedule.Parse(strings.Replace(apart.String(), "at out[0] @",
		"at out[0] fused @", 1))
	require.NoError(t, err)
	inputs := [][]float32{}
	rng := rand.New(rand.NewPCG(39, 0))
	for range 4 {
		in := make([]float32, 1000)
		for i := range in {
			in[i] = float32(rng.NormFloat64())
		}
		inputs = append(inputs, in)
	}
	want, err := Run(apart, inputs)
	require.NoError(t, err)
	got, err := Run(fused, inputs)
	require.NoError(t, err)
	require.Equal(t, want, got)
	r, err := Check(fused, CheckOptions{Data: Normal})
	require.NoError(t, err)
	require.Equal(t, NumbersBounded, r.Numbers)
}

// TestMultimemVerdict: what a switch adds is at best bounded, although the numbers here are
// equal. In what order it takes integers, or looks for a maximum, makes no difference; and
// copying none, as a store of what is not added does.
func TestMultimemVerdict(t *testing.T) {
	for _, tt := range []struct {
		what string
		data Data
		want Verdict
	}{
		{"float32 sum", Exact, NumbersBounded}, {"float64 avg", Exact, NumbersBounded},
		{"float32 sum", Normal, NumbersBounded}, {"float32 max", Normal, NumbersExact},
		{"int64 sum", Normal, NumbersExact}, {"int32 prod", Exact, NumbersExact},
	} {
		for _, count := range []int{6, 1 << 18} { // whole, and in windows
			s := twoShot(t, tt.what, count)
			if s.Spec.Op == collective.Avg {
				s = scaledLoads(t, s)
			}
			r, err := Check(s, CheckOptions{Seed: 3, Data: tt.data})
			require.NoError(t, err)
			require.Equal(t, tt.want, r.Numbers, "%v %d: %v", tt, count, r.First)
			require.True(t, r.RanksAgree)
			require.Zero(t, r.Wrong)
		}
	}
	s, err := schedule.Parse(`schedule store
collective broadcast float32
ranks 2
count 5
rank 0
  lane 0
    copy in into out @0
    put in to multimem{0,1} at out @0
    signal to 1 @0
rank 1
  lane 0
    wait from 0 @0
`)
	require.NoError(t, err)
	r, err := Check(s, CheckOptions{Data: Normal})
	require.NoError(t, err)
	require.Equal(t, NumbersExact, r.Numbers)
}

// scaledLoads is a schedule with every load of the switch scaled.
func scaledLoads(t *testing.T, s *schedule.Schedule) *schedule.Schedule {
	t.Helper()
	lanes := make([]int, s.Spec.Ranks)
	for rank := range lanes {
		lanes[rank] = 1
	}
	head := schedule.Schedule{Spec: s.Spec, Cuts: s.Cuts, Slices: 1}
	scaled, err := schedule.Assemble(head, lanes, func(rank, lane int, add func(schedule.Step)) {
		p := s.Program(rank)
		for c := p.Walk(lane); !c.Done(); c.Next(1) {
			var step schedule.Step
			p.Load(&c, &step)
			for i := range step.From {
				step.From[i].Scale = step.From[i].Kind == schedule.Multimem
			}
			add(step)
		}
	})
	require.NoError(t, err)
	return scaled
}

// TestMultimemOrder works out float32 sums by hand; u = 2^−24, 1+u is a tie and gives 1. The switch
// adds in the order of its team, from the left, before the lane does.
func TestMultimemOrder(t *testing.T) {
	const u = 0x1p-24
	for _, tt := range []struct {
		sources string
		inputs  [3]float32
		want    float32
	}{
		{"multimem{0,1,2} in", [3]float32{1, u, u}, 1},                 // (1 + u) + u
		{"multimem{0,1,2} in", [3]float32{u, u, 1}, 1 + 2*u},           // (u + u) + 1
		{"in, multimem{1,2} in", [3]float32{1, u, u}, 1 + 2*u},         // 1 + (u + u)
		{"multimem{1,2} in, in", [3]float32{u, 1, u}, 1},               // (1 + u) + u
		{"in, in, multimem{1,2} in", [3]float32{u, 1, 4 * u}, 1 + 6*u}, // (u + u) + (1 + 4u)
		{"in, multimem{1} in, in", [3]float32{u, 1, 0}, 1},             // (u + 1) + u
	} {
		s, err := schedule.Parse("schedule\ncollective reduce float32 sum\nranks 3\ncount 1\nrank 0\n" +
			"  lane 0\n    reduce " + tt.sources + " into out @0\nrank 1\nrank 2\n")
		require.NoError(t, err)
		out, err := Run(s, [][]float32{{tt.inputs[0]}, {tt.inputs[1]}, {tt.inputs[2]}})
		require.NoError(t, err)
		require.Equal(t, []float32{tt.want}, out[0], tt.sources)
	}
}

// TestMultimemThatCannotBe: operands of different lengths.
func TestMultimemThatCannotBe(t *testing.T) {
	s, err := schedule.Parse("schedule\ncollective all_reduce int32 sum\nranks 2\ncount 4\n" +
		"cut in block even 4\nrank 0\n  lane 0\n    reduce in, multimem{0,1} in[0] into out @0\nrank 1\n")
	require.NoError(t, err)
	_, err = Run(s, [][]int32{{1, 2, 3, 4}, {5, 6, 7, 8}})
	require.EqualError(t, err, "malformed: rank 0 lane 0 step 0: reduce combines 1 elements with 4")
}

// TestSilentPacketsTagsCompute: an all-gather whose blocks go by a silent put, a packet put and two
// tagged messages, received the other way round; kernels change nothing.
func TestSilentPacketsTagsCompute(t *testing.T) {
	s, err := schedule.Parse(`schedule mixed
collective all_gather int32
ranks 3
count 2
cut out block even 3 by rank
rank 0
  lane 0
    copy in into out[0] @0
    put in to 1 at out[0] silent @0
    signal to 1 @0
    put in to 2 at out[0] packet @0
    compute 5000ps @0
    recv from 1/0:4 into out[1] @0
    recv from 2 into out[2] @0
rank 1
  lane 0
    copy in into out[1] @0
    send in to 2/0:9 @0
    send in to 0/0:4 @0
    wait from 0 @0
    recv from 2/0:1 into out[2] @0
rank 2
  lane 0
    copy in into out[2] @0
    wait from put 0 @0
    send in to 1/0:1 @0
    send in to 0 @0
    recv from 1/0:9 into out[1] @0
`)
	require.NoError(t, err)
	out, err := Run(s, [][]int32{{1, 2}, {3, 4}, {5, 6}})
	require.NoError(t, err)
	for rank := range out {
		require.Equal(t, []int32{1, 2, 3, 4, 5, 6}, out[rank], rank)
	}
	r, err := Check(s, CheckOptions{})
	require.NoError(t, err)
	require.Equal(t, NumbersExact, r.Numbers)
}

// TestCustom: a schedule without a definition has outputs, and no verdict, whatever its type.
// Rank 1 gets the first block, of two elements, of rank 0's three.
func TestCustom(t *testing.T) {
	spec := collective.Spec{Kind: collective.Custom, Type: dtype.Int32, Ranks: 2,
		Splits: [][]int64{{3, 0}, {0, 2}}}
	head := schedule.Schedule{Spec: spec}
	head.Cuts[schedule.Input] = schedule.Cut{{Axis: schedule.Block, Split: schedule.Table, N: 2,
		Ends: [][]int64{{2, 3}, {0, 0}}}}
	s, err := schedule.Assemble(head, []int{1, 1},
		func(rank, _ int, add func(schedule.Step)) {
			first, all := schedule.Region{Run: 1, Times: 1}, schedule.Region{Run: 1, Times: 1}
			if all.Buffer = schedule.Output; rank == 0 {
				add(schedule.Step{From: []schedule.Source{{Region: first}},
					Send: []schedule.Dest{{Peer: schedule.Peer{Rank: 1}}}})
				return
			}
			add(schedule.Step{From: []schedule.Source{{Kind: schedule.Message}},
				To: []schedule.Region{all}})
		})
	require.NoError(t, err)
	inputs := [][]int32{{7, 8, 9}, {}}
	out, err := Run(s, inputs)
	require.NoError(t, err)
	require.Equal(t, [][]int32{{}, {7, 8}}, out)

	nothing := Report{Numbers: NumbersOff, Why: "custom has no definition to compare with"}
	r, err := Compare(spec, inputs, out)
	require.NoError(t, err)
	require.Equal(t, nothing, r)
	_, err = Define(spec, inputs)
	require.EqualError(t, err, ""+nothing.Why)
	for _, dt := range []dtype.Type{dtype.Int32, dtype.Uint8} {
		s.Spec.Type = dt
		r, err := Check(s, CheckOptions{})
		require.NoError(t, err)
		require.Equal(t, nothing, r)
	}
}
