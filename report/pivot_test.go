package report

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// pivotOf makes a table that must be right.
func pivotOf(t *testing.T, column, across string, reports ...*run.Report) *Pivot {
	t.Helper()
	var list []*run.Scenario
	for _, r := range reports {
		list = append(list, r.Scenario)
	}
	p, err := NewPivot(column, across, list...)
	require.NoError(t, err)
	return p
}

// swept is a scenario with three swept keys.
const swept = `[sweep]
"topology.ranks" = [4, 6]
"topology.link.bandwidth" = ["1 GB/s", "50 %"]
"collective.bytes" = ["1 KiB", "4 KiB"]
[[topology.link]]
match = "gpu0->*"
bandwidth = "1 GB/s"
`

// TestPivot: every result is in the cell of its labels, whatever goes across, and nothing else is.
func TestPivot(t *testing.T) {
	both := strings.Replace(small, `"ring"`, `["ring", "one-shot"]`, 1)
	r := runAll(t, load(t, "s.toml", both+swept))
	require.Len(t, r.Results, 16)
	for across, down := range map[string][]string{
		"":               {"ranks", "bandwidth", "algorithm"},
		"algorithm":      {"ranks", "bandwidth", "bytes"},
		"topology.ranks": {"bandwidth", "algorithm", "bytes"},
		"bandwidth":      {"ranks", "algorithm", "bytes"},
		"dtype":          {"ranks", "bandwidth", "algorithm", "bytes"},
	} {
		text, err := pivotOf(t, "time_ps", across, r).CSV(r)
		require.NoError(t, err)
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		require.NoError(t, err)
		require.Equal(t, down, rows[0][:len(down)])
		cells := 0
		for _, row := range rows[1:] {
			for i, cell := range row[len(down):] {
				cells++
				labels := map[string]string{}
				for j, name := range down {
					labels[name] = row[j]
				}
				name := map[string]string{"": "bytes", "topology.ranks": "ranks"}[across]
				if name == "" {
					name = across
				}
				labels[name] = rows[0][len(down)+i]
				found := 0
				for _, one := range r.Results {
					if fmt.Sprint(one.Point.Spec.Ranks) == labels["ranks"] &&
						one.Algorithm.String() == labels["algorithm"] &&
						fmt.Sprint(int64(one.Point.Spec.Bytes())) == labels["bytes"] &&
						one.Point.Axes[1].Text == labels["bandwidth"] {
						require.Equal(t, fmt.Sprint(int64(one.Time)), cell)
						found++
					}
				}
				require.Equal(t, 1, found, "%v", labels)
			}
		}
		require.Equal(t, 16, cells)
	}
}

// TestPivotText: what is no row is behind a #, columns that do not fit follow, rounded sizes keep
// the column of what was asked for, and what is not there is told from what has no value.
func TestPivotText(t *testing.T) {
	s := load(t, "s.toml", small+
		"[sweep]\n\"topology.ranks\" = [4, 6]\n",
		`collective.bytes={ from = "1000 B", to = "64 kB", factor = 2 }`, "check.numbers=false")
	r := runAll(t, s)
	last := len(r.Results) - 1
	r.Results[last-1].Time, r.Results = 0, r.Results[:last] // without a bandwidth; interrupted
	text := pivotOf(t, "busbw", "", r).Text(r)
	require.Contains(t, text, "\n# busbw (GB/s) across bytes: all_reduce, float32, sum, ring\n"+
		"# ranks   1KB   2KB   4KB   8KB  16KB  32KB  64KB\n"+
		"  4      0.11  0.20  0.33  0.50  0.67  0.80  0.89\n")
	require.Regexp(t, `\n  6    (  0\.\d\d){5}   N/A     -\n#\n# proof `, text)
	wide := pivotOf(t, "id", "", r).Text(r)
	table, _, _ := strings.Cut(wide, "# proof ")
	for _, line := range strings.Split(table, "\n") {
		require.LessOrEqual(t, len(line), 80)
	}
	require.Equal(t, 7, strings.Count(wide, "\n# ranks"), "a block for each column that is too wide")

	table = pivotOf(t, "%bound", "ranks", r).Markdown(r)
	require.True(t, strings.HasPrefix(table, "%bound across ranks: all_reduce, float32, sum, ring\n\n"+
		"| bytes |    4 |    6 |\n| ----- | ---: | ---: |\n| 1KB   | "), table)
	require.Contains(t, table, "\n| 64KB  |")
}

// TestPivotOfOne: without anything that differs there is one cell.
func TestPivotOfOne(t *testing.T) {
	r := runAll(t, load(t, "s.toml", small))
	text, err := pivotOf(t, "wrong", "", r).CSV(r)
	require.NoError(t, err)
	require.Equal(t, "bytes,1024\n#wrong,0\n", string(text))
}

// TestPivotOfSeveral: scenarios are told apart by their files, backward passes by their names.
func TestPivotOfSeveral(t *testing.T) {
	a := runAll(t, load(t, "a.toml", small))
	b := runAll(t, load(t, "b.toml", small, "collective.bytes=2 KiB"))
	text, err := pivotOf(t, "algorithm", "scenario", a, b).CSV(a, b)
	require.NoError(t, err)
	require.Equal(t, "bytes,a.toml,b.toml\n1024,ring,\n2048,,ring\n", string(text))

	g := load(t, "g.toml", small+"gradient = \"full\"\n", "collective.kind=all_gather")
	r, err := g.Run(t.Context(), run.RunOptions{})
	require.NoError(t, err)
	text, err = pivotOf(t, "rounds", "", r).CSV(r)
	require.NoError(t, err)
	require.Equal(t, "collective,kind,op,1024\n,all_gather,none,3\n"+
		"all_gather:grad,reduce_scatter,sum,3\n", string(text))
}

// TestPivotRefused: what names nothing is told with what there is, and so are two results for one
// cell.
func TestPivotRefused(t *testing.T) {
	s := load(t, "s.toml", small)
	for _, c := range []struct {
		column, across string
		list           []*run.Scenario
		want           PivotError
	}{
		{"busb", "", []*run.Scenario{s}, PivotError{Text: "no column of that name",
			Hint: "did you mean busbw? there are size, count, type, redop, root, time, call, algbw, " +
				"busbw, #wrong, %bound, once, " +
				"measured, measured_bw, error, and the columns of --csv"}},
		{"time", "bandwidth", []*run.Scenario{s}, PivotError{Text: "the points have no such key",
			Across: true, Hint: "there are ranks, scenario, collective, kind, dtype, op, root, " +
				"in_place, algorithm, bytes"}},
		{"time", "", []*run.Scenario{s, s}, PivotError{
			Text: "all_reduce/ring/1024 and all_reduce/ring/1024 belong in one cell",
			Hint: "choose with --only, or give each [[collective]] a name"}},
		{"time", "", nil, PivotError{Text: "there are no points"}},
	} {
		_, err := NewPivot(c.column, c.across, c.list...)
		var e *PivotError
		require.ErrorAs(t, err, &e)
		require.Equal(t, c.want, *e)
	}
}
