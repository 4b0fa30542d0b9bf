package calibrate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestRead shows what is read from logs and CSV files of several versions, and what is refused.
func TestRead(t *testing.T) {
	datadriven.RunTest(t, "testdata/read", func(t *testing.T, d *datadriven.TestData) string {
		var tables []Table
		var err error
		if d.Cmd == "log" {
			tables, err = Read("in.log", []byte(d.Input))
		} else {
			tables, err = Read("in.csv", []byte(d.Input))
		}
		if err != nil {
			return err.Error() + "\n"
		}
		var b strings.Builder
		for _, table := range tables {
			fmt.Fprintf(&b, "%v %q %s %s, %d ranks\n", table.Kind, table.Algorithm, table.Type, table.Op,
				table.Ranks)
			for _, r := range table.Rows {
				fmt.Fprintf(&b, "  %v count %d root %d: %s | %s", r.Size, r.Count, r.Root, shown(r.Out),
					shown(r.In))
				if r.Out.Spread > 0 {
					fmt.Fprintf(&b, "; spread %v", r.Out.Spread)
				}
				b.WriteString("\n")
			}
		}
		return b.String()
	})
}

func shown(t Timing) string {
	return fmt.Sprintf("%v %v/%v wrong %v", t.Time, t.AlgBW, t.BusBW, t.Wrong)
}

// FuzzRead holds the readers to: an error that is a *ParseError, or tables whose points can all be
// fitted or are told not to.
func FuzzRead(f *testing.F) {
	f.Add("8 2 float sum -1 15.03 0.00 0.00 0 15.01 0.00 0.00 N/A\n")
	f.Add("[1,0]<stdout>:8 2 float 15.03 0.00 0.00 0 15.01 0.00 0.00 0 2025-10-14 12:00:01")
	f.Add("# Rank 3\n# x/all_reduce_perf\n 32 8 float sum -1 15 0 0 0 14 16 15 2 15 0 0 0 14 16 15 2")
	f.Add("collective,size_bytes,median_us,p10_us,p90_us\nbcast,256,1.5,1.25,2e1\nbcast,512,2,,\n")
	f.Add("collective,size_bytes,time_us_ip,busbw_ip\nall_reduce,256,1.5,\"2.0000\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		tables, err := Read("in", []byte(text))
		if err != nil {
			var at *ParseError
			require.True(t, errors.As(err, &at))
			require.Positive(t, at.Line+1)
			require.NotEmpty(t, at.Text)
			require.Empty(t, tables)
			return
		}
		for i := range tables {
			require.NotEmpty(t, tables[i].Rows)
			points := tables[i].Points(i%2 == 0, true)
			if len(points) == 0 || len(points) > 40 {
				continue
			}
			r, err := FitRanges([]Series{{Points: points, Curve: Hockney, Message: same}}, Options{})
			require.NoError(t, err)
			require.Len(t, r.Residuals, len(points))
		}
	})
}

func TestPointsOfDerivedTimesSpreadAsTheyWereRounded(t *testing.T) {
	tables, err := ReadCSV("in", []byte("collective,size_bytes,time_us_oop,busbw_oop\n"+
		"all_reduce,32768,40,1.2500\nall_reduce,65536,50,2.1754\nall_reduce,65536,50,\n"))
	require.NoError(t, err)
	// Half of 0.01 GB/s in 1.25 of 40 us; half of 0.0001 in 2.1754 of 50 us; not printed.
	require.Equal(t, []Point{{32768, 40 * unit.Microsecond, 160 * unit.Nanosecond},
		{65536, 50 * unit.Microsecond, 1149 * unit.Picosecond}, {65536, 50 * unit.Microsecond, 0}},
		tables[0].Points(false, true))
	require.Zero(t, tables[0].Points(false, false)[0].Spread)
	require.Empty(t, tables[0].Points(true, true))
}
