package arrays

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/internal/tier"
)

// TestManyNames: what a name in a file costs is bounded, so that a million take about a second. A
// reader of JSON that allocates for every token, and a call of the system for every member, take
// ten times as long.
func TestManyNames(t *testing.T) {
	arrays := make([]Array, tier.Of(20_000, 1_000_000))
	for i := range arrays {
		arrays[i] = Array{Name: fmt.Sprintf("rank%d", i), Type: dtype.Uint8,
			Shape: []int64{1}, Data: []byte{byte(i)}}
	}
	for ext, most := range map[string]float64{"safetensors": 2, "npz": 20} {
		path := filepath.Join(t.TempDir(), "many."+ext)
		require.NoError(t, Write(path, arrays))
		var f *File
		allocations := testing.AllocsPerRun(1, func() {
			var err error
			f, err = Open(path, 0)
			require.NoError(t, err)
		})
		t.Logf("%s: %.1f allocations a name", ext, allocations/float64(len(arrays)))
		require.Less(t, allocations, most*float64(len(arrays)), ext)
		list := f.Arrays()
		require.Len(t, list, len(arrays))
		last, err := f.Read(len(list) - 1)
		require.NoError(t, err)
		require.Equal(t, arrays[len(arrays)-1].Name, last.Name)
		require.Equal(t, arrays[len(arrays)-1].Data, last.Data)
	}
}
