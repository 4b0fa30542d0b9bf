package run_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/run"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
)

// madeHere is an all_reduce of 1 MiB on a switch, by a program.
func madeHere(t *testing.T, ranks int) *scenarios.Point {
	network, err := scenarios.NewTopology(topology.Params{Preset: "switch", Ranks: 4,
		Bandwidth: 12_500_000_000, Latency: 500 * unit.Nanosecond})
	require.NoError(t, err)
	return scenarios.NewPoint(
		collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Factor: 1,
			Type: dtype.Float32, Ranks: ranks, Count: 1 << 18}, network)
}

// TestNewPointIsAFilesPoint: a point that a program makes has the defaults of a file, and its
// result is the same.
func TestNewPointIsAFilesPoint(t *testing.T) {
	s, err := run.Load("s.toml", []byte(`[topology]
preset = "switch"
ranks = 4
bandwidth = "100 Gbit/s"
latency = "500 ns"

[collective]
kind = "all_reduce"
count = 262144
`), run.LoadOptions{})
	require.NoError(t, err)
	made, err := run.New("made", madeHere(t, 4))
	require.NoError(t, err)
	theirs, ours := *s.Points[0], *made.Points[0]
	require.Equal(t, theirs.Topology, ours.Topology)
	theirs.Topology, ours.Topology = nil, nil
	require.Equal(t, theirs, ours)

	of, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	mine, err := made.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	require.Equal(t, of.Results[0].Time, mine.Results[0].Time)
	require.Equal(t, of.Results[0].Algorithm, mine.Results[0].Algorithm)
	require.Equal(t, "exact", mine.Results[0].Numbers)
}

// TestNewRefuses what does not fit together, naming the point and its key: there is no line.
func TestNewRefuses(t *testing.T) {
	_, err := run.New("made", madeHere(t, 8))
	require.EqualError(t, err, "all_reduce/fastest/1048576: topology.ranks: the network has 4, the "+
		"collective 8")
	p := madeHere(t, 4)
	p.Algorithm.Name = "rnig"
	_, err = run.New("made", p)
	require.ErrorContains(t, err, "all_reduce/rnig/1048576: collective.algorithm: ")
	p = madeHere(t, 4)
	p.Algorithm = scenarios.Algorithm{Name: "ring", Channels: 1, Slices: 1,
		Params: []scenarios.Param{{Name: "colour", Value: "red"}}}
	_, err = run.New("made", p)
	require.ErrorContains(t, err, "colour")
	p = madeHere(t, 4)
	p.Algorithm = scenarios.Algorithm{Name: "hierarchical", Channels: 1, Slices: 1,
		Params: []scenarios.Param{{Name: "inner", Value: "3"}}}
	made, err := run.New("made", p)
	require.NoError(t, err)
	_, err = made.Run(context.Background(), run.RunOptions{})
	require.ErrorContains(t, err, "all_reduce/hierarchical(inner=3)/1048576: collective.algorithm: ")
	_, err = made.Explain(p, run.RunOptions{})
	var located *scenarios.Error
	require.ErrorAs(t, err, &located)
	require.Equal(t, "collective.algorithm", located.Key)
}

// TestNewReadsFiles: a schedule from a file is read, proven and run as one of a scenario is.
func TestNewReadsFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mine.schedule")
	s, err := run.New("made", madeHere(t, 4))
	require.NoError(t, err)
	ring := madeHere(t, 4)
	ring.Algorithm.Name = "ring"
	built, err := s.Build(ring)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, []byte(built.String()), 0o644))
	p := madeHere(t, 4)
	p.Algorithm = scenarios.Algorithm{Name: "file", File: name, Channels: 1, Slices: 1}
	made, err := run.New("made", p, ring)
	require.NoError(t, err)
	report, err := made.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	require.Equal(t, report.Results[0].Time, report.Results[1].Time)
	require.Equal(t, run.Proved, report.Results[0].Proof)
	p.Algorithm.File = name + "x"
	_, err = run.New("made", p)
	require.ErrorContains(t, err, "cannot be read")
}
