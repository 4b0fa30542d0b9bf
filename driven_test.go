package collsim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/driven"
	"collsim/dtype"
	"collsim/reference"
)

// TestMessageDriven: every algorithm, carried out by callbacks with messages that arrive in any
// order, gives the bits that the interpreter gives.
func TestMessageDriven(t *testing.T) {
	runs := 0
	for _, a := range algos.Table() {
		for _, kind := range a.Kinds {
			for _, ranks := range []int{1, 2, 3, 4, 6, 8} {
				r := rand.New(rand.NewPCG(uint64(ranks), 7))
				spec := drivenSpec(kind, ranks, r)
				s, err := a.Build(spec, algos.Options{})
				if err != nil {
					continue // not for so many ranks
				}
				in := make([][]float32, ranks)
				for rank := range in {
					for range spec.In(rank) {
						in[rank] = append(in[rank], float32(r.NormFloat64()))
					}
				}
				want, err := reference.Run(s, in)
				require.NoError(t, err)
				for range 3 {
					got, err := driven.Run(s, in, driven.Options{Next: r.IntN})
					require.NoError(t, err)
					for rank := range want {
						require.Equal(t, bitsOf(want[rank]), bitsOf(got[rank]), "%s %v, rank %d of %d",
							a.Name, kind, rank, ranks)
					}
					runs++
				}
			}
		}
	}
	require.Greater(t, runs, 400)
}

func drivenSpec(kind collective.Kind, ranks int, r *rand.Rand) collective.Spec {
	s := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks}
	rows := 0
	switch {
	case kind == collective.Barrier:
		s.Type = 0
	case kind == collective.AllToAllV:
		rows = ranks
	case kind.Splits():
		rows = 1
	default:
		s.Count = int64(ranks) + r.Int64N(9)
	}
	if kind.Rooted() {
		s.Root = r.IntN(ranks)
	}
	if kind.Reduces() {
		s.Op = []collective.Op{collective.Sum, collective.Avg}[r.IntN(2)]
	}
	for range rows {
		row := make([]int64, ranks)
		for i := range row {
			row[i] = r.Int64N(5)
		}
		s.Splits = append(s.Splits, row)
	}
	return s
}

func bitsOf(x []float32) []uint32 {
	bits := make([]uint32, len(x))
	for i := range x {
		bits[i] = math.Float32bits(x[i])
	}
	return bits
}
