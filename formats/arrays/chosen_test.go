package arrays

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// TestChosen: of a file with several arrays that of a name is taken, as the rows of ranks, as a
// rank's own, or whole.
func TestChosen(t *testing.T) {
	dir := t.TempDir()
	one := func(name string, shape ...int64) Array {
		a := Array{Name: name, Type: dtype.Uint8, Width: 1, Shape: shape}
		for range a.Count() {
			a.Data = append(a.Data, byte(len(a.Data)))
		}
		return a
	}
	several := filepath.Join(dir, "several.safetensors")
	require.NoError(t, Write(several, []Array{one("x", 2, 3), one("y", 4), one("rank0", 1)}))
	got, err := ReadRanks(several, Want{Ranks: 2, Name: "x"})
	require.NoError(t, err)
	require.Equal(t, []byte{3, 4, 5}, got[1].Data)
	require.Equal(t, []int64{3}, got[1].Shape)
	got, err = ReadRanks(several, Want{Ranks: 1, Name: "y", Whole: true})
	require.NoError(t, err)
	require.Equal(t, []int64{4}, got[0].Shape)

	for rank, name := range []string{"0", "1"} {
		a := one("x", 2)
		a.Data[0] = byte(7 + rank)
		require.NoError(t, WriteResults(filepath.Join(dir, name+".npz"), []Array{one("z", 1), a}))
	}
	got, err = ReadRanks(filepath.Join(dir, "{rank}.npz"), Want{Ranks: 2, Name: "x"})
	require.NoError(t, err)
	require.Equal(t, []byte{8, 1}, got[1].Data)

	for _, c := range []struct {
		name, want string
		w          Want
	}{
		{several, `rank0 … rank1 are expected`, Want{Ranks: 2, Name: "w"}},
		{several, `one, or "w", is expected`, Want{Ranks: 1, Name: "w", Whole: true}},
		{several, "its first axis is the rank, and 3 are expected", Want{Ranks: 3, Name: "x"}},
		{several, "a count of 5 is expected", Want{Ranks: 1, Name: "y", Whole: true, Counts: []int64{5}}},
		{"{rank}.npz", "without {rank}", Want{Ranks: 1, Name: "x", Whole: true}},
		{filepath.Join(dir, "{rank}.npz"), `one, or "w", is expected, that of rank 0`,
			Want{Ranks: 2, Name: "w"}},
	} {
		_, err := ReadRanks(c.name, c.w)
		require.ErrorContains(t, err, c.want)
	}
}
