package run

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/unit"
)

// TestTakesMeasured: the bound on the memory of a stage is above the largest resident set of the
// command when it did that stage alone (run without proof and numbers, verify, explain, run with
// numbers alone) on two cores, with all elements checked, and at most six times that.
func TestTakesMeasured(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, c := range takings() {
		text := fmt.Sprintf("[topology]\npreset = \"switch\"\nranks = %d\nbandwidth = \"25 GB/s\"\n"+
			"latency = \"1 us\"\n[collective]\nkind = %q\nalgorithm = %q\ndtype = \"float32\"\n"+
			"bytes = %q\n[check]\nfull = true\n", c.ranks, c.kind, c.algorithm, c.bytes)
		s, err := Load("s.toml", []byte(text), LoadOptions{})
		require.NoError(t, err)
		m, err := s.make(s.Points[0], s.Points[0].Algorithm)
		require.NoError(t, err)
		takes := commandBytes + m.takes(s.Points[0], c.do, 2).peak()
		ratio := float64(takes) / float64(unit.MiB) / c.mebibytes
		require.True(t, 1 <= ratio && ratio <= 6, "%v: %.2f", c, ratio)
	}
}

// taking is the memory that the command was seen to take for a collective, in MiB.
type taking struct {
	ranks                  int
	kind, algorithm, bytes string
	do                     stages
	mebibytes              float64
}

// takings are some of each stage. In the long tier they are of many ranks, too, and more are of
// ranks that have steps of their own, which take long to look at.
func takings() []taking {
	rows := []taking{
		{1024, "all_reduce", "ring", "1 MiB", simulates, 19},
		{1024, "all_to_all", "direct", "4 MiB", simulates, 25},
		{1024, "all_to_all", "pairwise", "4 MiB", simulates, 23},
		{1024, "all_to_all", "bruck", "4 MiB", simulates, 22},
		{512, "all_reduce", "one-shot", "4 MiB", simulates, 334},
		{1024, "all_reduce", "ring", "1 MiB", proves, 20},
		{1024, "all_to_all", "direct", "4 MiB", proves, 22},
		{1024, "all_to_all", "pairwise", "4 MiB", proves, 20},
		{1024, "all_to_all", "bruck", "4 MiB", proves, 20},
		{512, "all_reduce", "rabenseifner", "4 MiB", proves, 23},
		{500, "all_reduce", "rabenseifner", "4 MiB", proves, 45},
		{1024, "all_reduce", "double-binary-tree", "4 MiB", proves, 34},
		{512, "all_reduce", "two-shot", "4 MiB", proves, 335},
		{1024, "all_reduce", "ring", "4 MiB", simulates | logs, 215},
		{512, "all_to_all", "direct", "4 MiB", simulates | logs, 500},
		{1024, "all_reduce", "ring", "1 MiB", computes, 691},
		{1024, "all_to_all", "pairwise", "4 MiB", computes, 794},
		{1024, "all_to_all", "bruck", "4 MiB", computes, 331},
		{8, "all_reduce", "ring", "1 GiB", computes, 83},
		{8, "all_reduce", "recursive-doubling", "1 GiB", computes, 81},
	}
	if !tier.Long {
		return rows
	}
	return append(rows, []taking{
		{512, "all_to_all", "direct", "4 MiB", simulates, 278},
		{512, "reduce_scatter", "direct", "4 MiB", proves, 242},
		{512, "all_reduce", "one-shot", "4 MiB", proves, 201},
		{512, "all_to_all", "direct", "4 MiB", proves, 22},
		{2048, "all_reduce", "ring", "1 MiB", simulates, 22},
		{4096, "all_reduce", "double-binary-tree", "4 MiB", simulates, 24},
		{4096, "all_reduce", "rabenseifner", "4 MiB", simulates, 26},
		{4000, "all_reduce", "rabenseifner", "4 MiB", simulates, 125},
		{512, "all_reduce", "two-shot", "4 MiB", simulates, 577},
		{512, "reduce_scatter", "direct", "4 MiB", simulates, 333},
		{2048, "all_reduce", "ring", "1 MiB", proves, 21},
		{2048, "all_reduce", "rabenseifner", "4 MiB", proves, 25},
		{2048, "all_reduce", "double-binary-tree", "4 MiB", proves, 34},
		{512, "all_reduce", "one-shot", "4 MiB", simulates | logs, 422},
		{2048, "all_reduce", "ring", "1 MiB", computes, 1258},
		{4096, "all_reduce", "double-binary-tree", "4 MiB", computes, 115},
		{4096, "all_reduce", "rabenseifner", "4 MiB", computes, 730},
		{4096, "all_reduce", "ring", "16 MiB", proves, 22},
	}...)
}

// TestNumbersInLittle: a check of numbers is refused where what check.memory lets it take is more
// than there is; with less of it, or without numbers, the same runs.
func TestNumbersInLittle(t *testing.T) {
	text := "[topology]\npreset = \"switch\"\nranks = 8\nbandwidth = \"25 GB/s\"\n" +
		"latency = \"1 us\"\n[collective]\nkind = \"all_reduce\"\nalgorithm = \"ring\"\n" +
		"bytes = \"1 TiB\"\n"
	for set, want := range map[string]string{
		"check.full=true":      "s.toml: check.memory: its check of numbers takes up to",
		`check.memory="1 MiB"`: "", "check.numbers=false": ""} {
		s, err := Load("s.toml", []byte(text), LoadOptions{Set: []string{set},
			Free: Memory{8 * unit.MiB, "this machine"}})
		require.NoError(t, err)
		_, err = s.Run(context.Background(), RunOptions{})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

// TestWorkOfRoles: what is counted of one rank of each role is what is counted of all.
func TestWorkOfRoles(t *testing.T) {
	for _, ranks := range []int{2, 3, 37, 64, 100} {
		text := fmt.Sprintf("[topology]\npreset = \"switch\"\nranks = %d\nbandwidth = \"25 GB/s\"\n"+
			"latency = \"1 us\"\n[collective]\nkind = \"all_reduce\"\nslices = 2\n"+
			"algorithm = \"double-binary-tree(segment=40KiB)\"\nbytes = \"1 MiB\"\n", ranks)
		s, err := Load("s.toml", []byte(text), LoadOptions{})
		require.NoError(t, err)
		m, err := s.make(s.Points[0], s.Points[0].Algorithm)
		require.NoError(t, err)
		of := m.members[0].schedule
		require.True(t, of.AlikeInRoles())
		c, lanes := counter{s: of, known: map[schedule.Peer]struct{}{}}, 0
		for rank := range ranks {
			c.walk(rank)
			lanes = max(lanes, of.Program(rank).Lanes())
		}
		require.Equal(t, c.work, workOf(of), "%d ranks", ranks)
		require.Equal(t, lanes, lanesOf(of), "%d ranks", ranks)
	}
}
