package calibrate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/measured"
	"collsim/unit"
)

// FuzzPoints holds tables, of whatever a file has in it, to this: their points can all be fitted.
func FuzzPoints(f *testing.F) {
	f.Add("8 2 float sum -1 15.03 0.00 0.00 0 15.01 0.00 0.00 N/A\n")
	f.Add("[1,0]<stdout>:8 2 float 15.03 0.00 0.00 0 15.01 0.00 0.00 0 2025-10-14 12:00:01")
	f.Add("# Rank 3\n# x/all_reduce_perf\n 32 8 float sum -1 15 0 0 0 14 16 15 2 15 0 0 0 14 16 15 2")
	f.Add("collective,size_bytes,median_us,p10_us,p90_us\nbcast,256,1.5,1.25,2e1\nbcast,512,2,,\n")
	f.Add("collective,size_bytes,time_us_ip,busbw_ip\nall_reduce,256,1.5,\"2.0000\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		tables, err := measured.ReadTables("in", []byte(text))
		if err != nil {
			return
		}
		for i := range tables {
			points := PointsOf(&tables[i], i%2 == 0, true)
			if len(points) == 0 || len(points) > 40 {
				continue
			}
			r, err := FitRanges([]Series{{Points: points, Curve: hockney, Message: same}}, Options{})
			require.NoError(t, err)
			require.Len(t, r.Residuals, len(points))
		}
	})
}

func TestPointsOfDerivedTimesSpreadAsTheyWereRounded(t *testing.T) {
	tables, err := measured.ReadTables("in", []byte("collective,size_bytes,time_us_oop,busbw_oop\n"+
		"all_reduce,32768,40,1.2500\nall_reduce,65536,50,2.1754\nall_reduce,65536,50,\n"))
	require.NoError(t, err)
	// Half of 0.01 GB/s in 1.25 of 40 us; half of 0.0001 in 2.1754 of 50 us; not printed.
	require.Equal(t, []Point{{32768, 40 * unit.Microsecond, 160 * unit.Nanosecond},
		{65536, 50 * unit.Microsecond, 1149 * unit.Picosecond}, {65536, 50 * unit.Microsecond, 0}},
		PointsOf(&tables[0], false, true))
	require.Zero(t, PointsOf(&tables[0], false, false)[0].Spread)
	require.Empty(t, PointsOf(&tables[0], true, true))
}

// TestPointsOfRuns makes one point of a size that was measured often, and leaves others.
func TestPointsOfRuns(t *testing.T) {
	record := func(size int, us ...int) (text string) {
		for _, t := range us {
			text += fmt.Sprintf(`{"header":{"n_ranks":2},"coll_perf":{"coll":"AllReduce",`+
				`"coll_msg_size_bytes":%d,"coll_exec_time_us":%d}}`+"\n", size, t)
		}
		return text
	}
	tables, err := measured.ReadTables("in", []byte(record(8, 9, 5, 7, 6, 8)+record(16, 3, 4)))
	require.NoError(t, err)
	require.Equal(t, []Point{{8, 7 * unit.Microsecond, 2 * unit.Microsecond},
		{16, 3 * unit.Microsecond, 0}, {16, 4 * unit.Microsecond, 0}}, PointsOf(&tables[0], false, false))
}
