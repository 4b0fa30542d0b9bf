package mpi

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/driven"
	"collsim/dtype"
	"collsim/schedule"
)

// sensitive are float32 whose sum depends on the order of the additions: exponents differ.
func sensitive(spec *collective.Spec, seed uint64) [][]byte {
	r := rand.New(rand.NewPCG(seed, 5))
	in := make([][]byte, spec.Ranks)
	for rank := range in {
		in[rank] = []byte{}
		for range spec.In(rank) {
			x := float32(math.Ldexp(r.NormFloat64(), r.IntN(12)))
			in[rank] = binary.LittleEndian.AppendUint32(in[rank], math.Float32bits(x))
		}
	}
	return in
}

// oracle is what package driven makes of float32.
func oracle(t *testing.T, s *schedule.Schedule, in [][]byte) [][]byte {
	t.Helper()
	numbers := make([][]float32, len(in))
	for rank := range in {
		numbers[rank] = make([]float32, len(in[rank])/4)
		dtype.Get(numbers[rank], in[rank])
	}
	results, err := driven.Run(s, numbers, driven.Options{})
	require.NoError(t, err)
	out := make([][]byte, len(results))
	for rank := range out {
		out[rank] = make([]byte, 4*len(results[rank]))
		dtype.Put(out[rank], results[rank])
	}
	return out
}

// differing is how many float32 of two results differ.
func differing(t *testing.T, a, b [][]byte) (n int) {
	t.Helper()
	require.Len(t, b, len(a))
	for rank := range a {
		require.Len(t, b[rank], len(a[rank]), "rank %d", rank)
		for i := 0; i < len(a[rank]); i += 4 {
			if string(a[rank][i:i+4]) != string(b[rank][i:i+4]) {
				n++
			}
		}
	}
	return n
}
