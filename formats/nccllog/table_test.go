package nccllog

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

// FuzzRead holds the readers to: an error that is a *ParseError, or tables that have rows.
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
			for _, r := range tables[i].Rows {
				require.Positive(t, r.Line)
				require.GreaterOrEqual(t, r.Size, unit.Bytes(0))
				require.GreaterOrEqual(t, min(r.Out.Time, r.In.Time), unit.Time(0))
			}
		}
	})
}
