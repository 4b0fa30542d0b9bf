package run

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestSplitsOfAFile: sizes of blocks come from the file that the scenario names; what is wrong with
// it is told at the key.
func TestSplitsOfAFile(t *testing.T) {
	load := func(name string) (*Scenario, error) {
		text := `topology = { preset = "switch", ranks = 2, bandwidth = "1 GB/s", latency = "1 us" }
[[collective]]
kind = "all_to_allv"
algorithm = "direct"
splits = "` + name + `"
`
		files := map[string]string{"d.csv": "0,3\n5,1\n", "d.json": "[[0, 3], [5, 1]]",
			"wide.csv": "1,2,3\n4,5,6\n", "words.csv": "a,b\n"}
		return Load("s.toml", []byte(text), LoadOptions{
			Read: func(name string, _ unit.Bytes) ([]byte, error) {
				if text, ok := files[name]; ok {
					return []byte(text), nil
				}
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			}})
	}
	for _, name := range []string{"d.csv", "d.json"} {
		s, err := load(name)
		require.NoError(t, err)
		require.Equal(t, [][]int64{{0, 3}, {5, 1}}, s.Points[0].Spec.Splits)
	}
	for name, wrong := range map[string]string{
		"wide.csv":  `splits = "wide.csv": row 0 has 3 numbers; one for each of 2 ranks`,
		"words.csv": `splits = "words.csv": line 1 has "a"; a whole number is expected`,
		"none.csv":  `s.toml:5: collective.splits = "none.csv": `,
	} {
		_, err := load(name)
		require.ErrorContains(t, err, wrong)
	}
}
