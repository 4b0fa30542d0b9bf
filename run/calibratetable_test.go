package run_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/formats/measured"
	"collsim/report"
	"collsim/run"
	"collsim/unit"
)

// tableOf is a table of a ring all_reduce on 8 ranks, 14·(5 us + n/8 at 50 GB/s), in place and, 2
// us slower, out of it; busbw is so many times algbw.
func tableOf(t *testing.T, factor float64) *measured.Table {
	t.Helper()
	var b strings.Builder
	b.WriteString("size_bytes,collective,type,time_us_ip,algbw_ip,busbw_ip,time_us_oop\n")
	for n := 1 << 10; n <= 1<<28; n *= 2 {
		us := 14 * (5 + float64(n)/8/50e3)
		algbw := float64(n) / us / 1e3
		fmt.Fprintf(&b, "%d,all_reduce,float,%.4f,%.3f,%.3f,%.4f\n", n, us, algbw, factor*algbw, us+2)
	}
	tables, err := measured.ReadTables("ring.csv", []byte(b.String()))
	require.NoError(t, err)
	require.Len(t, tables, 1)
	return &tables[0]
}

func TestFitTable(t *testing.T) {
	f, err := run.FitTable(tableOf(t, 1.75), run.TableOptions{Ranks: 8})
	require.NoError(t, err)
	require.Equal(t, "ring", f.Algorithm.String())
	require.True(t, f.InPlace)
	require.Empty(t, f.Notes)
	require.Len(t, f.Ranges.Ranges, 1)
	e := f.Ranges.Ranges[0].Fit.Estimates
	require.InEpsilon(t, 5e6, e[0].Value, 1e-3)
	require.InEpsilon(t, 20.0, e[1].Value, 1e-3) // picoseconds a byte
	require.Less(t, f.Ranges.HeldOut.Median, 1e-4)

	// Its preset is a network on which that algorithm takes these times.
	s := loadText(t, f.Preset()+work)
	r, err := s.Run(t.Context(), run.RunOptions{})
	require.NoError(t, err)
	want := 14 * (5e6 + float64(unit.MiB)/8*20) // 1 MiB
	require.InEpsilon(t, want, float64(r.Results[0].Time), 1e-3)

	out, err := run.FitTable(tableOf(t, 1.75), run.TableOptions{Ranks: 8, Place: "out"})
	require.NoError(t, err)
	require.False(t, out.InPlace)
	require.InEpsilon(t, 5e6+2e6/14, out.Ranges.Ranges[0].Fit.Estimates[0].Value, 1e-3)

	// Against the closed form of another algorithm the same times are another machine's:
	// 2·3 latencies, and rounds of all the vector.
	tree, err := run.FitTable(tableOf(t, 1.75), run.TableOptions{Ranks: 8,
		Algorithm: "recursive_doubling"})
	require.NoError(t, err)
	require.Equal(t, "recursive-doubling", tree.Algorithm.String())
	e = tree.Ranges.Ranges[0].Fit.Estimates
	require.InEpsilon(t, 5e6*14/3, e[0].Value, 1e-3)
	require.InEpsilon(t, 20.0*14/8/3, e[1].Value, 1e-3)
}

// TestFitTableLacks: what a table does not say is asked for; what contradicts it is told.
func TestFitTableLacks(t *testing.T) {
	plain := func(change func(*measured.Table)) *measured.Table {
		table := tableOf(t, 1.75)
		change(table)
		return table
	}
	asIs := func(*measured.Table) {}
	for _, tt := range []struct {
		change  func(*measured.Table)
		options run.TableOptions
		missing string
		text    string
	}{
		{asIs, run.TableOptions{}, "ranks", "busbw is to algbw as with 8"},
		{func(t *measured.Table) { t.Kind = 0 }, run.TableOptions{Ranks: 8}, "kind",
			"does not say of which collective"},
		{asIs, run.TableOptions{Ranks: 8, Kind: collective.Broadcast}, "kind",
			"of all_reduce, not of broadcast"},
		{asIs, run.TableOptions{Ranks: 1}, "ranks", "1 ranks: 2 or more"},
		{asIs, run.TableOptions{Ranks: 8, Algorithm: "rign"}, "algorithm", "ring"},
		{asIs, run.TableOptions{Ranks: 8, Algorithm: "ring(segment=3)"}, "algorithm", "segment"},
		{asIs, run.TableOptions{Ranks: 8, Algorithm: "ring("}, "algorithm", "name is expected"},
		{asIs, run.TableOptions{Ranks: 8, Algorithm: "file:x.xml"}, "algorithm", "file"},
		{func(t *measured.Table) { t.Kind = collective.AllToAllV }, run.TableOptions{Ranks: 8},
			"algorithm", "no closed form for tables of all_to_allv"},
		{func(t *measured.Table) { t.Rows = nil }, run.TableOptions{Ranks: 8}, "",
			"no time of a size above 0"},
		{func(t *measured.Table) {
			for i := range t.Rows {
				t.Rows[i].InPlace = false
			}
		}, run.TableOptions{Ranks: 8, Place: "in"}, "place", "no times in of place"},
	} {
		_, err := run.FitTable(plain(tt.change), tt.options)
		var e *run.TableError
		require.ErrorAs(t, err, &e, tt.text)
		require.Equal(t, tt.missing, e.Missing)
		require.Contains(t, e.Text, tt.text)
	}
	f, err := run.FitTable(tableOf(t, 1.75), run.TableOptions{Ranks: 16})
	require.NoError(t, err)
	require.Equal(t, []string{"busbw is not to algbw as with 16 ranks, but as with 8"}, f.Notes)
	require.Contains(t, f.Preset(), "# Note: busbw is not")
	listed := tableOf(t, 1.75)
	listed.Ranks = 4
	f, err = run.FitTable(listed, run.TableOptions{Ranks: 8})
	require.NoError(t, err)
	require.Equal(t, []string{"the table lists 4 ranks, not 8"}, f.Notes)
}

// TestUsualAlgorithm: every kind that nccl-tests measures has one, which is ours.
func TestUsualAlgorithm(t *testing.T) {
	for _, k := range collective.Kinds() {
		if k.Splits() || k == collective.Barrier {
			require.Empty(t, run.UsualAlgorithm(k))
			continue
		}
		table := tableOf(t, 1)
		table.Kind = k
		f, err := run.FitTable(table, run.TableOptions{Ranks: 8})
		require.NoError(t, err, k.String())
		require.Equal(t, run.UsualAlgorithm(k), f.Algorithm.String())
	}
	table := tableOf(t, 1.75)
	table.Algorithm = "Recursive_Doubling" // one of ours, under its own name
	f, err := run.FitTable(table, run.TableOptions{Ranks: 8})
	require.NoError(t, err)
	require.Equal(t, "recursive-doubling", f.Algorithm.String())
	table.Algorithm = "ADASUM"
	f, err = run.FitTable(table, run.TableOptions{Ranks: 8})
	require.NoError(t, err)
	require.Equal(t, "ring", f.Algorithm.String())
	require.Contains(t, f.Title(), "there called ADASUM")
}

func TestTableFitsJSON(t *testing.T) {
	f, err := run.FitTable(tableOf(t, 1.75), run.TableOptions{Ranks: 8})
	require.NoError(t, err)
	text, err := report.TableFitsJSON(f, f)
	require.NoError(t, err)
	var j struct {
		Tables []struct {
			File, Kind, Algorithm, Preset string
			Table, Ranks                  int
			InPlace                       bool `json:"in_place"`
			Ranges                        []struct {
				From      int64 `json:"from_bytes"`
				Latency   struct{ Value, Low, High float64 }
				Bandwidth struct{ Value, Low, High float64 }
			}
			HeldOut struct {
				Points int
				Median float64
			} `json:"held_out"`
			Residuals []map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(text, &j))
	require.Len(t, j.Tables, 2)
	table := j.Tables[0]
	require.Equal(t, "ring.csv", table.File)
	require.Equal(t, [2]int{1, 8}, [2]int{table.Table, table.Ranks})
	require.Equal(t, f.Preset(), table.Preset)
	require.InEpsilon(t, 5e6, table.Ranges[0].Latency.Value, 1e-3)
	require.InEpsilon(t, 50.0, table.Ranges[0].Bandwidth.Value, 1e-3)
	require.LessOrEqual(t, table.Ranges[0].Bandwidth.Low, table.Ranges[0].Bandwidth.High)
	require.Len(t, table.Residuals, 19)
	require.Equal(t, 4, table.HeldOut.Points)
	require.Contains(t, report.TableFitsText(f), "ring.csv, table 1: all_reduce of float on 8 "+
		"ranks, in place, as ring\n  1 KiB to 256 MiB       latency      5.00 us  "+
		"bandwidth      50 GB/s\n")
}

// TestFitTableOfOthers: sizes of blocks become those of vectors, and rows left out are named.
func TestFitTableOfOthers(t *testing.T) {
	text := "# OSU MPI-CUDA Allgather Latency Test v7.5\n# Size       Avg Latency(us)\n"
	for n := 1 << 10; n <= 1<<26; n *= 2 {
		text += fmt.Sprintf("%d %.4f\n", n, 7*(5+float64(n)/50e3))
	}
	tables, err := measured.ReadTables("osu.log", []byte(text+"0 torn\n1 0.00\n"))
	require.NoError(t, err)
	f, err := run.FitTable(&tables[0], run.TableOptions{Ranks: 8})
	require.NoError(t, err)
	require.Equal(t, unit.Bytes(8*unit.KiB), f.Table.Rows[0].Size)
	e := f.Ranges.Ranges[0].Fit.Estimates
	require.InEpsilon(t, 5e6, e[0].Value, 1e-3)
	require.InEpsilon(t, 20.0, e[1].Value, 1e-3)
	require.Equal(t, []string{"osu.log:21: a row is left out: column 3 = \"0.00\": a time above 0 " +
		"in microseconds is expected", "sizes are of the block of a rank; those of 8 ranks are 8 times " +
		"as large"}, f.Notes)
	require.Contains(t, f.Title(), "by OSU MPI-CUDA Allgather Latency Test")

}

// TestFitTableOfOurs: what collsim writes is read back, whatever the form, and is the network that
// was simulated.
func TestFitTableOfOurs(t *testing.T) {
	s := loadText(t, "[topology]\npreset = \"switch\"\nranks = 8\nbandwidth = \"50 GB/s\"\n"+
		"latency = \"2.5 us\"\n[[collective]]\nkind = \"all_gather\"\nalgorithm = \"ring\"\n"+
		"bytes = { from = \"8 KiB\", to = \"64 MiB\", factor = 2 }\ndtype = \"uint8\"\n[benchmark]\n")
	r, err := s.Run(t.Context(), run.RunOptions{})
	require.NoError(t, err)
	asJSON, err := report.JSON(r)
	require.NoError(t, err)
	asCSV, err := report.CSV(r)
	require.NoError(t, err)
	var lines []byte
	for _, one := range r.Results {
		line, err := report.JSONLine(s, one)
		require.NoError(t, err)
		lines = append(append(lines, line...), '\n')
	}
	for _, text := range [][]byte{asJSON, asCSV, lines} {
		tables, err := measured.ReadTables("ours", text)
		require.NoError(t, err)
		require.Len(t, tables, 1)
		for i, row := range tables[0].Rows {
			of := r.Results[i]
			require.Equal(t, []any{true, "ring", "uint8", 8, of.Point.Spec.Bytes(), of.PerCall()},
				[]any{row.Simulated, row.Algorithm, row.Type, row.Ranks, row.Size, row.Time})
		}
		f, err := run.FitTable(&tables[0], run.TableOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"the times are simulated, not measured"}, f.Notes)
		e := f.Ranges.Ranges[0].Fit.Estimates
		require.InEpsilon(t, 5e6, e[0].Value, 1e-3)
		require.InEpsilon(t, 20.0, e[1].Value, 1e-3)
	}
}
