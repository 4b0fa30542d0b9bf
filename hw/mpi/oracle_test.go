package mpi

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/reference"
	"collsim/schedule"
)

// sensitive are float32 whose sum depends on the order of the additions: exponents differ.
func sensitive(spec *collective.Spec, seed uint64) [][]byte {
	in := make([][]byte, spec.Ranks)
	for rank := range in {
		in[rank] = sensitiveOf(spec, rank, seed)
	}
	return in
}

// sensitiveOf are those of one rank.
func sensitiveOf(spec *collective.Spec, rank int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, uint64(rank)))
	in := []byte{}
	for range spec.In(rank) {
		x := float32(math.Ldexp(r.NormFloat64(), r.IntN(12)))
		in = binary.LittleEndian.AppendUint32(in, math.Float32bits(x))
	}
	return in
}

// oracle is what the interpreter makes of the same inputs.
func oracle(t *testing.T, s *schedule.Schedule, in [][]byte) [][]byte {
	t.Helper()
	out, err := reference.RunBytes(s, in, reference.RunOptions{})
	require.NoError(t, err)
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
