package mpi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/hw"
	"collsim/proof"
)

// specOf is a collective of float32 for a choice.
func specOf(t testing.TB, c Choice, ranks, root int, count int64) collective.Spec {
	f, err := functionOf(c.Function)
	if err != nil {
		t.Fatal(err)
	}
	s := collective.Spec{Kind: f.kind, Type: dtype.Float32, Ranks: ranks, Count: count}
	if s.Kind.Reduces() {
		s.Op = collective.Sum
	}
	if s.Kind.Rooted() {
		s.Root = root % ranks
	}
	if s.Kind == collective.Barrier {
		s.Type, s.Count = 0, 0
	}
	return s
}

// reducing are the choices that add, with what can be set of them.
func reducing() (all []Choice) {
	inner := []string{"", "linear", "chain", "pipeline", "binary", "binomial", "in-order_binary"}
	for _, kind := range []collective.Kind{collective.AllReduce, collective.Reduce,
		collective.ReduceScatter} {
		for _, c := range Choices(kind) {
			switch {
			case c.composed():
				for _, i := range inner {
					c.Inner = i
					all = append(all, c)
				}
				continue
			case c.Algorithm == "chain":
				all = append(all, Choice{Function: c.Function, Algorithm: c.Algorithm, Fanout: 2})
			case c.Algorithm == "segmented_ring":
				c.Segment = 100
			case c.Algorithm == "pipeline" || c.Algorithm == "binary":
				c.Segment = 64
			}
			all = append(all, c)
		}
	}
	return all
}

// openChoices are those that leave something to the library.
func openChoices() (all []Choice) {
	for _, f := range functions() {
		all = append(all, Choice{Function: f.name})
	}
	return append(all, Choice{Function: "allreduce", Algorithm: "nonoverlapping"},
		Choice{Function: "allgather", Algorithm: "linear"},
		Choice{Function: "reduce_scatter", Algorithm: "non-overlapping"},
		Choice{Function: "reduce_scatter_block", Algorithm: "basic_linear"})
}

// counts are of fewer elements than ranks, of few, of many that no number of ranks divides, and of
// so many that the library sends them in another way.
func counts(ranks int) []int64 {
	if ranks == 6 {
		return []int64{1, 5, 1009, 20011}
	}
	return []int64{1, 5, 1009}
}

// moving are the choices that only move.
func moving() (all []Choice) {
	for _, kind := range []collective.Kind{collective.Broadcast, collective.AllGather,
		collective.AllToAll, collective.Gather, collective.Scatter, collective.Barrier} {
		for _, c := range Choices(kind) {
			all = append(all, c)
			switch c.Algorithm {
			case "chain":
				c.Fanout, c.Segment = 2, 66
			case "pipeline", "binary_tree", "binomial", "knomial", "split_binary_tree", "linear_sync":
				c.Segment = 64
			default:
				continue
			}
			all = append(all, c)
		}
	}
	return all
}

// legal reports whether a choice is for so many ranks.
func (c Choice) legal(ranks int) bool { return c.Algorithm != "two_proc" || ranks == 2 }

// TestLikeProven: what is written down is a proven schedule, also in place, and of any count.
func TestLikeProven(t *testing.T) {
	for _, c := range append(reducing(), moving()...) {
		for ranks := 1; ranks <= 9; ranks++ {
			if !c.legal(ranks) {
				continue
			}
			for root, count := range []int64{64, 1, 2, 5, 0, 131} {
				spec := specOf(t, c, ranks, root, count)
				for _, spec.InPlace = range []bool{false, true} {
					if spec.InPlace && spec.Kind == collective.ReduceScatter {
						continue
					}
					s, err := Like(c, spec)
					require.NoError(t, err, "%v of %d ranks, %d elements", c, ranks, count)
					_, found := proof.Verify(s, proof.Options{})
					require.Empty(t, found, "%v of %d ranks, %d elements", c, ranks, count)
				}
			}
		}
	}
}

// testLikeBits: the library's bits are those of the schedules that are written down, whatever the
// ranks, the root and the count.
func testLikeBits(t *testing.T, d *Executor) {
	for _, c := range reducing() {
		for ranks := 2; ranks <= 6; ranks++ {
			for i, count := range counts(ranks) {
				spec := specOf(t, c, ranks, i, count)
				s, err := Like(c, spec)
				require.NoError(t, err)
				in := sensitive(&spec, uint64(ranks))
				r, err := d.Perform(context.Background(), &Call{Spec: spec, Choice: c, Inputs: in})
				require.NoError(t, err)
				n := differing(t, oracle(t, s, in), r.Outputs)
				if n != 0 {
					t.Errorf("%v, %d ranks, %d elements: %d differ", c, ranks, count, n)
				}
			}
		}
	}
}

// start starts so many ranks, which all jobs of fewer then use.
func (d *Executor) start(t testing.TB, ranks int) {
	t.Helper()
	c := Choice{Function: "barrier"}
	r, err := d.Perform(context.Background(), &Call{Spec: specOf(t, c, ranks, 0, 0), Choice: c,
		Inputs: make([][]byte, ranks), Env: hw.Env{}})
	require.NoError(t, err)
	require.Len(t, r.Outputs, ranks)
}

// testMoving: what only moves arrives where it must, by each of the library's algorithms, in both
// places and of a type that MPI doesn't have.
func testMoving(t *testing.T, d *Executor) {
	for _, kind := range []collective.Kind{collective.Broadcast, collective.AllGather,
		collective.AllToAll, collective.Gather, collective.Scatter, collective.Barrier} {
		for i, c := range Choices(kind) {
			for ranks := 2; ranks <= 5; ranks++ {
				if c.Algorithm == "two_proc" && ranks > 2 {
					continue
				}
				spec := specOf(t, c, ranks, i, 37)
				spec.InPlace = kind != collective.Barrier && i%2 == 1
				s, err := algos.ForKind(kind)[0].Build(spec, algos.Options{})
				if kind == collective.AllToAll && spec.InPlace { // for which ours is not
					s, err = Like(c, spec)
				}
				require.NoError(t, err)
				in := sensitive(&spec, uint64(ranks))
				r, err := d.Perform(context.Background(), &Call{Spec: spec, Choice: c, Inputs: in,
					Env: hw.Env{Warmup: 1, Repetitions: 2, Iterations: 2}})
				require.NoError(t, err)
				require.Zero(t, differing(t, oracle(t, s, in), r.Outputs), "%v, %d ranks", c, ranks)
				require.Len(t, r.Repetitions, 2)
			}
		}
	}
}

// TestTypes: operators and types besides, in place. Sums of 16 bits are those of Go's integers only
// without the library's vector instructions (its component op/avx), which saturate.
func TestTypes(t *testing.T) {
	device(t)
	d := New(Config{Arguments: []string{"--mca", "op", "^avx"}, Listen: "127.0.0.1:0"})
	defer d.Close()
	d.start(t, 3)
	for _, c := range []Choice{{Function: "allreduce", Algorithm: "ring"},
		{Function: "reduce", Algorithm: "binomial"}} {
		for _, op := range []collective.Op{collective.Sum, collective.Prod, collective.Min,
			collective.Max} {
			for _, typ := range []dtype.Type{dtype.Int8, dtype.Int16, dtype.Uint32, dtype.Int64} {
				spec := specOf(t, c, 3, 1, 20)
				spec.InPlace, spec.Op, spec.Type = true, op, typ
				in, math := make([][]byte, 3), hw.ArithmeticOf(&spec)
				for rank := range in {
					in[rank] = hw.Memory(20 * int64(typ.Width()))
					for i := range in[rank] {
						in[rank][i] = byte(7*rank + 31*i + 1)
					}
				}
				want := append(hw.Memory(0), in[0]...)
				math.Combine(want, in[1])
				math.Combine(want, in[2])
				r, err := d.Perform(context.Background(), &Call{Spec: spec, Choice: c, Inputs: in})
				require.NoError(t, err)
				require.Equal(t, want, append([]byte{}, r.Outputs[spec.Root]...), "%v %v %v", c, op, typ)
			}
		}
	}
}
