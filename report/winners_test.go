package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/report"
	"collsim/run"
)

// TestWinners holds the map against the times of all results, one by one.
func TestWinners(t *testing.T) {
	d := runExample(t, "compare", "check.numbers=false", "sweep.topology.ranks=[4,8]")
	m, err := report.NewWinners("", "", d.Report)
	require.NoError(t, err)
	require.Equal(t, "bytes", m.XName)
	require.Equal(t, []string{"4", "8"}, m.Y)
	require.Len(t, m.X, 6)
	least, names := map[string]*run.Result{}, map[string]bool{}
	for _, r := range d.Results {
		at := fmt.Sprint(r.Point.Topology.Ranks, r.Point.Spec.Bytes())
		if least[at] == nil || r.Time < least[at].Time {
			least[at] = r
		}
	}
	for i, y := range m.Y {
		for j, x := range m.X {
			w := m.Cells[i][j]
			want := least[y+" "+strings.Replace(strings.Replace(x, "K", " K", 1), "M", " M", 1)]
			require.Same(t, want, w.Best, "%s ranks, %s", y, x)
			require.Greater(t, w.Next.Time, w.Best.Time)
			share, ok := w.Share()
			require.True(t, ok)
			require.InDelta(t, float64(want.Bounds.Lower)/float64(want.Time), share, 1e-12)
			names[w.Best.Algorithm.String()] = true
		}
	}
	require.Greater(t, len(names), 1)
	text := m.Text(d.Report)
	require.Contains(t, text, "lower bound as a share of its time: bytes across, ranks")
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, " %") {
			require.LessOrEqual(t, len(line), 80, line)
		}
	}
	csv, err := m.CSV()
	require.NoError(t, err)
	require.Equal(t, 13, strings.Count(string(csv), "\n"))

	turned, err := report.NewWinners("topology.ranks", "bytes", d.Report)
	require.NoError(t, err)
	require.Same(t, m.Cells[1][2].Best, turned.Cells[2][1].Best)
}

// TestWinnersOf: results that are wrong, or came to no end, win nothing; a cell without any is
// empty.
func TestWinnersOf(t *testing.T) {
	d := runExample(t, "compare", "check.numbers=false")
	m, err := report.NewWinners("", "", d.Report)
	require.NoError(t, err)
	best := m.Cells[0][0].Best
	best.Violations = []run.Violation{{Kind: "race"}}
	second := m.Cells[0][0].Next
	m, err = report.NewWinners("", "", d.Report)
	require.NoError(t, err)
	require.Same(t, second, m.Cells[0][0].Best)
	for _, r := range d.Results {
		if r.Point.Spec.Bytes() == best.Point.Spec.Bytes() {
			r.Timed = false
		}
	}
	m, err = report.NewWinners("", "", d.Report)
	require.NoError(t, err)
	require.Nil(t, m.Cells[0][0].Best)
	require.Contains(t, m.Text(d.Report), " - ")
}
