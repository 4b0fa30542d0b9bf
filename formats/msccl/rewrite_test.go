package msccl_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/internal/foreign"
	"collsim/formats/msccl"
	"collsim/internal/samples"
	"collsim/schedule"
)

// Every collected file that is right is read, written and read again: it stays right, sends the
// same bytes in as many messages, with as many slots, and adds in the same order. Written a second
// time it is the same to the byte.
func TestCollectedFilesRewritten(t *testing.T) {
	samples.Each(t, "msccl_xml", func(t *testing.T, set samples.Set) {
		rewritten := 0
		for _, c := range set.Cases {
			if c["verdict"] == "OK" {
				t.Run(c["file"], func(t *testing.T) { testRewritten(t, set.Path(c["file"]), c["proto"]) })
				rewritten++
			}
		}
		require.Equal(t, samples.Of(set, 27, 112), rewritten)
	})
}

func testRewritten(t *testing.T, path, protocol string) {
	f := readFile(t, path, foreign.Options{})
	var file, again bytes.Buffer
	o := msccl.WriteOptions{Runtime: "none", Protocol: protocol}
	_, err := msccl.Write(&file, f.Schedule, o)
	require.NoError(t, err)
	back, err := msccl.Read(bytes.NewReader(file.Bytes()), foreign.Options{Runtime: "none",
		Count: max(f.Schedule.Spec.Count, largest(f.Schedule))})
	require.NoError(t, err)
	got, lines := judge(back)
	require.Empty(t, lines)
	want, _ := judge(f)
	require.Equal(t, want.BytesSent, got.BytesSent)
	require.Equal(t, want.Messages, got.Messages)
	require.Equal(t, want.MinSlots, got.MinSlots)
	require.Equal(t, want.KeepsRankOrder, got.KeepsRankOrder)
	require.Equal(t, want.SameTree, got.SameTree)
	_, err = msccl.Write(&again, back.Schedule, o)
	require.NoError(t, err)
	require.Equal(t, file.String(), again.String())
}

// largest is the elements of the largest buffer of a custom collective, 0 of others.
func largest(s *schedule.Schedule) int64 {
	most := int64(0)
	for r := 0; r < s.Spec.Ranks && s.Spec.Splits != nil; r++ {
		most = max(most, s.Spec.In(r), s.Spec.Out(r))
	}
	return most
}
