package goal_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/goal"
	"collsim/formats/internal/foreign"
)

// BenchmarkRead reads our own ring all_reduce of 256 ranks, 13 MB of text, back.
func BenchmarkRead(b *testing.B) {
	ring, err := algos.Find(collective.AllReduce, "ring")
	require.NoError(b, err)
	s, err := ring.Build(collective.Spec{Kind: collective.AllReduce, Ranks: 256,
		Count: 1 << 20, Type: dtype.Float32, Op: collective.Sum}, algos.Options{})
	require.NoError(b, err)
	var text bytes.Buffer
	require.NoError(b, goal.Write(&text, s))
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		_, err := goal.Read(bytes.NewReader(text.Bytes()), foreign.Options{})
		require.NoError(b, err)
	}
}
