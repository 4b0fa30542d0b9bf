package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
	"collsim/sim"
	"collsim/unit"
)

// TestExplainCompute: rank 0 computes 3 ms before it sends 1 KiB over two links of 1 GB/s and 2 us
// together, as rank 1 does for 1 ms after it has received. Without the kernels 2 us and 1024 ns are
// left.
func TestExplainCompute(t *testing.T) {
	const text = `schedule mine
collective broadcast float32
ranks 4
count 256
rank 0
  lane 0
    copy in into out @0
    compute 3000000000ps @0
    send in to 1 @0
rank 1
  lane 0
    recv from 0 into out @0
    compute 1000000000ps @0
    send out to 2 @1
rank 2
  lane 0
    recv from 1 into out @1
    send out to 3 @2
rank 3
  lane 0
    recv from 2 into out @2
`
	files := map[string]string{"mine.schedule": text}
	scenario := strings.NewReplacer(`"ring"`, `"file:mine.schedule"`, `"all_reduce"`, `"broadcast"`,
		"op = ", "# ").Replace(small)
	s, err := run.Load("s.toml", []byte(scenario),
		run.LoadOptions{Read: func(name string, _ unit.Bytes) ([]byte, error) {
			return []byte(files[name]), nil
		}})
	require.NoError(t, err)
	e := explained(t, s)
	const moved = 3 * (1024*unit.Nanosecond + 2*unit.Microsecond)
	require.Equal(t, 4*unit.Millisecond+moved, e.Result.Time)
	require.Equal(t, sim.Compute, e.Shares[0].What)
	require.Equal(t, 4*unit.Millisecond, e.Shares[0].Time)
	require.Equal(t, sim.Compute, e.Unlimited.Changed.What)
	require.Equal(t, moved, e.Unlimited.Time)
	require.Regexp(t, `compute +99.8 % +4000.00  the schedule's own compute steps`,
		ExplanationText(e))
	require.Regexp(t, `if compute steps took no time +9.07 us  then latency`, ExplanationText(e))
}

// TestNumbersOff: the reason is told.
func TestNumbersOff(t *testing.T) {
	r := &run.Result{Numbers: run.Off, NumbersOff: "custom has no definition to compare with"}
	require.Equal(t, []string{"numbers  off: custom has no definition to compare with"},
		numberLines([]*run.Result{r}))
}
