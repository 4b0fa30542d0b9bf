package run_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/formats/arrays"
	"collsim/run"
)

// TestInputsOfRanksThatHaveNone: what the library refuses in a call the command refuses in a file:
// an input of a rank that is not the root, by name. Rows of one array are of all ranks.
func TestInputsOfRanksThatHaveNone(t *testing.T) {
	dir := t.TempDir()
	one := arrays.Array{Type: dtype.Uint8, Shape: []int64{4}, Data: []byte{1, 2, 3, 4}}
	write := func(name string, list ...arrays.Array) string {
		path := filepath.Join(dir, name)
		require.NoError(t, arrays.WriteRanks(path, list))
		return path
	}
	all := write("all.npz", one, one)
	root := write("root.npz", arrays.Array{}, one)
	rows := write("rows.npy", one, one)
	for _, kind := range []string{"broadcast", "scatter"} {
		for _, size := range []string{"", "count = 4\n"} {
			if kind == "scatter" && size != "" {
				size = "count = 2\n"
			}
			load := func(path string) error {
				_, err := run.Load(filepath.Join(dir, "s.toml"), []byte(fmt.Sprintf("[topology]\n"+
					"preset = \"switch\"\nranks = 2\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n"+
					"[collective]\nkind = %q\nroot = 1\ndtype = \"uint8\"\ninput = %q\n", kind,
					filepath.Base(path))+size), run.LoadOptions{})
				return err
			}
			require.ErrorContains(t, load(all), kind+" takes one input, the root's; rank 0, which is "+
				"not the root, has one of shape 4")
			require.NoError(t, load(root), kind+size)
			require.NoError(t, load(rows), kind+size)
		}
	}
}
