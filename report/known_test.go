package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/fidelity"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// TestKnown: a result of NCCL's on a machine with public tables says how far off those were, by the
// class of its size; on one without, that none is known; elsewhere nothing.
func TestKnown(t *testing.T) {
	result := func(algorithm, machine string, nodes int, bytes unit.Bytes) *run.Result {
		return &run.Result{Point: &scenarios.Point{Topology: &scenarios.Topology{Machine: machine,
			Nodes: nodes}, Spec: collective.Spec{Kind: collective.AllReduce, Op: collective.Sum,
			Type: dtype.Float32, Ranks: 8 * nodes, Count: int64(bytes) / 4}},
			Algorithm: scenarios.Algorithm{Name: algorithm}}
	}
	require.Empty(t, knownLines([]*run.Result{result("ring", "p5", 1, unit.KiB),
		result("nccl:ring", "", 1, unit.KiB)}))
	require.Equal(t, []string{"off by   not known: no public table of dgx-h100, several nodes"},
		knownLines([]*run.Result{result("nccl:ring", "dgx-h100", 2, unit.KiB)}))
	several := []*run.Result{result("nccl:auto", "p5", 1, unit.KiB),
		result("nccl:auto", "p5", 1, 2*unit.KiB), result("nccl:auto", "p5", 1, unit.GiB)}
	lines := knownLines(several)
	require.Regexp(t, `^off by   < 64 KiB \d+ % \(p90 \d+ %\), from 16 MiB \d+ % \(p90 \d+ %\)\n`+
		` +in 1 public table of p5$`, strings.Join(lines, "\n"))
	k, ok := knownOf(several[2])
	require.True(t, ok)
	require.Equal(t, fidelity.KnownError("p5", false, unit.GiB), k)
	for _, c := range knownColumns() {
		require.Equal(t, Value{}, c.Value(result("nccl:ring", "dgx-h100", 2, unit.KiB)), c.Key)
		require.NotEqual(t, Value{}, c.Value(several[0]), c.Key)
	}
}
