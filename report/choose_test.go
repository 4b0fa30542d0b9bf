package report

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/run"
	"collsim/unit"
)

// TestFastest: the winner is the least of all, of equals the first of the table, and the result
// tells who took part.
func TestFastest(t *testing.T) {
	for _, size := range []string{"64 B", "1 MiB"} {
		s := load(t, "s.toml", strings.Replace(small, `"ring"`, `"fastest"`, 1),
			"collective.bytes="+size, "topology.ranks=6")
		r := runAll(t, s).Results[0]
		require.Equal(t, "fastest", r.Point.Algorithm.Name)
		names := map[string]bool{}
		for _, c := range r.Candidates {
			names[c.Algorithm.Name] = true
		}
		kind := r.Point.Spec.Kind
		require.Len(t, names, len(algos.ForKind(kind))+len(algos.FurtherFor(kind)))
		least, winner := unit.Forever, ""
		for _, c := range r.Candidates {
			named := load(t, "s.toml", small, "collective.bytes="+size, "topology.ranks=6",
				"collective.algorithm="+c.Algorithm.String())
			switch {
			case c.AtLeast > 0:
				require.Greater(t, c.AtLeast, r.Time)
				require.LessOrEqual(t, c.AtLeast, runAll(t, named).Results[0].Time)
				continue
			case c.Why != "":
				require.Equal(t, unit.Time(-1), c.Time)
				_, err := named.Run(context.Background(), run.RunOptions{})
				require.ErrorContains(t, err, c.Why)
				continue
			}
			require.Equal(t, runAll(t, named).Results[0].Time, c.Time, c.Algorithm.Name)
			if c.Time < least {
				least, winner = c.Time, c.Algorithm.String()
			}
		}
		require.Equal(t, winner, r.Algorithm.String())
		require.Equal(t, least, r.Time)
		require.Equal(t, run.Proved, r.Proof)
	}
}

// TestFastestTie: without latency and limits nothing takes any time, and the table decides.
func TestFastestTie(t *testing.T) {
	s := load(t, "s.toml", strings.Replace(small, `"ring"`, `"fastest"`, 1), "topology.ranks=1")
	r := runAll(t, s).Results[0]
	require.Zero(t, r.Time)
	first := slices.IndexFunc(algos.Table(), func(a algos.Algorithm) bool {
		return a.Does(r.Point.Spec.Kind)
	})
	require.Equal(t, algos.Table()[first].Name, r.Algorithm.Name)
}

// TestSkipped: what "all" stands for and cannot do it is told, and is no result; if nothing can,
// that is an error.
func TestSkipped(t *testing.T) {
	s := load(t, "s.toml", strings.Replace(small, `"ring"`, `["ring", "hierarchical(inner=4)"]`, 1),
		"topology.ranks=6", `collective.bytes=["1 KiB", "2 KiB"]`)
	for _, p := range s.Points {
		p.Algorithm.Every = true
	}
	const why = "inner=4 does not divide 6 ranks"
	told := 0
	r, err := s.Run(context.Background(), run.RunOptions{Done: func(*run.Result) { told++ }})
	require.NoError(t, err)
	require.Len(t, r.Results, 2)
	require.Equal(t, 2, told)
	require.Len(t, r.Skipped, 2)
	require.Contains(t, r.Skipped[0].Why, why)
	require.Contains(t, Table(r), "# skipped  hierarchical(inner=4): "+why)
	require.Contains(t, Table(r), "(2 points)\n")
	skipped := decoded(t, r)["skipped"].([]any)
	require.Len(t, skipped, 2)
	require.Equal(t, "hierarchical(inner=4)", skipped[1].(map[string]any)["algorithm"])
	require.Equal(t, 2048.0, skipped[1].(map[string]any)["bytes"])

	e, err := s.Estimate(r.Skipped[0].Point)
	require.NoError(t, err)
	require.Contains(t, e.Skipped, why)
	proofs, err := s.Verify(-1)
	require.NoError(t, err)
	require.Len(t, proofs, 2)

	s.Points = s.Points[2:]
	_, err = s.Run(context.Background(), run.RunOptions{})
	require.ErrorContains(t, err, "s.toml:8: collective.algorithm")
	require.ErrorContains(t, err, "no algorithm can do this; hierarchical(inner=4): "+why)
	_, err = s.RunPoint(s.Points[0], run.RunOptions{})
	require.ErrorContains(t, err, why)
}
