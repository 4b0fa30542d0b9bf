package run

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestSpare: a point comes to the same, and is refused for the same, by however many processors.
func TestSpare(t *testing.T) {
	for _, c := range []struct {
		proof, refused string // what comes out, or what the error says
		sets           []string
	}{
		{Proved, "", nil},
		{Off, "", []string{"check.proof=false"}},
		{Failed, "", []string{"sim.slots=1"}}, // and the simulation stalls
		{Off, "", []string{"sim.slots=1", "check.proof=false"}},
		{Proved, "", []string{`collective.algorithm="double-binary-tree"`, "topology.ranks=21"}},
		{Proved, "", []string{`collective.algorithm="hierarchical(inner=2)"`,
			`collective.gradient="full"`, `collective.op="max"`}},
		{"", "not folded", []string{`sim.engine="fold"`, "collective.bytes=4"}},
		{"", "not swept", []string{`sim.engine="sweep"`, `device.preset="h100-sxm"`}},
	} {
		s, err := Load("s.toml", []byte(swept), LoadOptions{
			Set: slices.Concat([]string{`collective.algorithm="ring"`}, c.sets)})
		require.NoError(t, err)
		require.Len(t, s.Points, 1)
		for _, o := range []RunOptions{{}, {Trace: true, Links: true}} {
			alone, err := onCores(1, s, o)
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
			} else {
				require.NoError(t, err)
				require.Equal(t, c.proof, alone.Results[0].Proof)
			}
			for _, cores := range []int{2, 8} {
				together, other := onCores(cores, s, o)
				require.Equal(t, err, other)
				require.Equal(t, alone, together, "%v on %d", c, cores)
			}
		}
	}
}

func onCores(n int, s *Scenario, o RunOptions) (*Report, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	report, err := s.Run(context.Background(), o)
	if err != nil {
		return nil, err
	}
	for _, r := range report.Results {
		if r.Gradient != nil {
			r.Gradient.made = nil // functions are not compared
		}
	}
	return report, nil
}

// TestSpareMemory: what memory has no room for twice is proven before it is simulated.
func TestSpareMemory(t *testing.T) {
	for free, want := range map[unit.Bytes]bool{0: true, 900 * unit.KiB: false,
		1800 * unit.KiB: true} {
		s, err := Load("s.toml", []byte(exchange), LoadOptions{Free: Memory{free, "this machine"}})
		require.NoError(t, err)
		_, workers, spare, err := s.workers(runs, 2)
		require.NoError(t, err)
		require.Equal(t, 1, workers)
		require.Equal(t, want, spare, "%v", free)
	}
	s, err := Load("s.toml", []byte(swept), LoadOptions{}) // of two points
	require.NoError(t, err)
	for cores, want := range map[int]bool{1: false, 2: false, 3: false, 4: true} {
		_, workers, spare, err := s.workers(runs, cores)
		require.NoError(t, err)
		require.Equal(t, min(cores, 2), workers)
		require.Equal(t, want, spare, "%d processors", cores)
	}
}
