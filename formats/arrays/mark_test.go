package arrays

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/formats/npy"
)

// TestMarked: what WriteRanks has written is known for that, in each format and of any shape; what
// Write has, or NumPy, is not.
func TestMarked(t *testing.T) {
	dir := t.TempDir()
	ends := func(name string) (head, tail []byte) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return text[:min(len(text), 4096)], text[max(0, len(text)-4096):]
	}
	one := Array{Name: "rank0", Type: dtype.Float32, Shape: []int64{2000},
		Data: slices.Repeat([]byte{0, 0, 128, 63}, 2000)}
	deep := Array{Type: dtype.Uint8, Shape: slices.Repeat([]int64{1}, 32), Data: []byte{1}}
	for _, name := range []string{"a.npy", "a.npz", "a.safetensors"} {
		ending := filepath.Ext(name)
		for _, ranks := range [][]Array{{one, one}, {deep}} {
			require.NoError(t, WriteRanks(filepath.Join(dir, name), ranks))
			head, tail := ends(name)
			require.True(t, Marked(ending, head, tail), name)
			for _, other := range []string{".npy", ".npz", ".safetensors", ".csv"} {
				require.Equal(t, other == ending, Marked(other, head, tail))
			}
			require.False(t, Marked(ending, head[:1], tail[:1]))
			require.False(t, Marked(ending, nil, nil))
		}
		require.NoError(t, Write(filepath.Join(dir, name), []Array{one}))
		head, tail := ends(name)
		require.False(t, Marked(ending, head, tail), name)
	}
	require.NoError(t, WriteRanks(filepath.Join(dir, "{rank}.npy"), []Array{one, deep}))
	for _, name := range []string{"0.npy", "1.npy"} {
		head, tail := ends(name)
		require.True(t, Marked(".npy", head, tail))
	}

	// A long header may end at the same byte; it is no mark.
	long := []byte("\x93NUMPY\x01\x00\xb6\x02{'descr': [")
	long = append(long, strings.Repeat("('f', '<f4'), ", 48)...)
	long = append(append(long, "]}"...), strings.Repeat(" ", npy.MarkedAt)...)[:npy.MarkedAt]
	long[npy.MarkedAt-1] = '\n'
	require.False(t, Marked(".npy", long, nil))
}

// TestMarkedBytes pins where the marks are.
func TestMarkedBytes(t *testing.T) {
	dir := t.TempDir()
	written := func(name string) string {
		require.NoError(t, WriteRanks(filepath.Join(dir, name), []Array{{Type: dtype.Uint8,
			Shape: []int64{2}, Data: []byte{7, 8}}}))
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(text)
	}
	const dict = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }"
	require.Equal(t, "\x93NUMPY\x01\x00\xb6\x02"+dict+strings.Repeat(" ", 704-10-1-len(dict))+
		"\n\x07\x08", written("a.npy"))
	require.Equal(t, `{"__metadata__":{"software":"collsim"},`+
		`"rank0":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`,
		strings.TrimRight(written("a.safetensors")[8:][:96], " "))
	npz := written("a.npz")
	require.Equal(t, 1, strings.Count(npz, "collsim"))
	require.Contains(t, npz, "collsimPK\x05\x06")
}
