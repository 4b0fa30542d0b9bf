package extern

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/report"
	"collsim/run"
)

// TestColumn: a column of one's own is in the table, in JSON and in CSV, behind all others; and
// where there is no time, there is no cost.
func TestColumn(t *testing.T) {
	s, err := run.Load("example:ring", nil, run.LoadOptions{})
	require.NoError(t, err)
	r, err := s.Run(context.Background(), run.RunOptions{})
	require.NoError(t, err)
	stalled := *r.Results[0]
	stalled.Timed = false
	r.Results = append(r.Results, &stalled)
	columns := append(report.Columns(), Cost(3.6))

	// 9.40924096 ms on 8 ranks at 0.001 USD a second.
	const cost = 9.40924096e-3 * 8 * 0.001
	var heads, rows []string
	for line := range strings.Lines(columns.Table(r)) {
		if strings.HasPrefix(line, " ") {
			rows = append(rows, line)
		} else if strings.Contains(line, "#wrong") {
			heads = append(heads, line)
		}
	}
	require.Len(t, heads, 1)
	require.True(t, strings.HasSuffix(heads[0], " %bound      cost\n"), heads[0])
	require.Len(t, rows, 2)
	require.True(t, strings.HasSuffix(rows[0], "    99.9   7.5e-05\n"), rows[0])
	require.True(t, strings.HasSuffix(rows[1], "       N/A\n"), rows[1])

	text, err := columns.JSON(r)
	require.NoError(t, err)
	var object struct {
		Results []struct {
			Time *int64 `json:"time_ps"`
			Cost *struct{ USD float64 }
		}
	}
	require.NoError(t, json.Unmarshal(text, &object))
	require.Len(t, object.Results, 2)
	require.InEpsilon(t, cost, object.Results[0].Cost.USD, 1e-12)
	require.Nil(t, object.Results[1].Cost)

	text, err = columns.CSV(r)
	require.NoError(t, err)
	lines, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	last := len(lines[0]) - 1
	require.Equal(t, "known_error_p90", lines[0][last-1])
	require.Equal(t, []string{"cost_usd", "0.00007527392768", ""},
		[]string{lines[0][last], lines[1][last], lines[2][last]})
}
