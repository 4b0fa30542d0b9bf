package msccl_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/internal/foreign"
	"collsim/formats/msccl"
	"collsim/proof"
	"collsim/schedule"
)

// megabyte is a file of 1 MB: a ring all_reduce on 66 gpus, 131 steps each.
func megabyte(b *testing.B) []byte {
	ring := schedule.Plan{Name: "ring", Chunks: 66, Spec: collective.Spec{Kind: collective.AllReduce,
		Op: collective.Sum, Type: dtype.Float32, Ranks: 66, Count: 66},
		Lane: func(l *schedule.Lane) {
			r, p := l.Rank, l.Ranks
			l.Send(r+1, l.Chunk(r))
			for i := 1; i < p-1; i++ {
				l.ReduceSend(r-1, r+1, l.Chunk(r-i))
			}
			l.Completes()
			l.ReduceCopySend(r-1, r+1, l.Chunk(r+1))
			for i := 0; i < p-2; i++ {
				l.CopySend(r-1, r+1, l.Chunk(r-i))
			}
			l.Recv(r-1, l.Chunk(r+2))
		}}
	s, err := schedule.Build(ring)
	require.NoError(b, err)
	var file bytes.Buffer
	_, err = msccl.Write(&file, s, msccl.WriteOptions{})
	require.NoError(b, err)
	require.Greater(b, file.Len(), 1_000_000)
	return file.Bytes()
}

func BenchmarkVerify1MB(b *testing.B) {
	file := megabyte(b)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		f, err := msccl.Read(bytes.NewReader(file), foreign.Options{})
		require.NoError(b, err)
		_, found := proof.Verify(f.Schedule, proof.Options{Iterations: 1})
		require.Empty(b, found)
	}
}

func BenchmarkRead1MB(b *testing.B) {
	file := megabyte(b)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := msccl.Read(bytes.NewReader(file), foreign.Options{})
		require.NoError(b, err)
	}
}
