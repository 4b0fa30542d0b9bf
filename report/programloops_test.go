package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// TestSummedLoops: sums by loop have the times of all that they are of, in far fewer lines; ops of
// other tables stay apart though their names differ in a digit alone; few lines stay as they are.
func TestSummedLoops(t *testing.T) {
	text, err := scenarios.Example("layers")
	require.NoError(t, err)
	for _, c := range []struct {
		text string
		is   bool
	}{{strings.ReplaceAll(string(text), "loss{i}", "layer{i}_9"), true},
		{strings.NewReplacer("[3, 4]", "[1, 4]", "repeat = 3", "repeat = 1").
			Replace(string(text)), false}} {
		s, err := run.Load("s.toml", []byte(c.text), run.LoadOptions{})
		require.NoError(t, err)
		e, err := s.ExplainProgram(s.Programs[0], run.RunOptions{})
		require.NoError(t, err)
		sums := summedLoops(e)
		if !c.is {
			require.Same(t, e, sums)
			continue
		}
		total := func(list []run.OpShare, op string) (n unit.Time) {
			for _, one := range list {
				if strings.HasPrefix(one.Op, op) {
					n += one.Time
				}
			}
			return n
		}
		for _, op := range []string{"", "layer", "sum", "back"} {
			require.Equal(t, total(e.Shares, op), total(sums.Shares, op), op)
		}
		require.Less(t, 4*len(sums.Shares), len(e.Shares))
		printed := ProgramExplanationText(e, false)
		require.Contains(t, printed, "layer*_* (×12): kernels")
		require.Contains(t, printed, "layer*_* (×3): kernels", "casts are of another table")
		require.Contains(t, ProgramExplanationText(e, true), "layer2_3: kernels")
	}
}
