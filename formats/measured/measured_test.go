package measured

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestRead shows what is read from logs, JSON and CSV of several versions, what is refused, and
// what is noted.
func TestRead(t *testing.T) {
	for _, of := range []string{"read", "columns", "osu", "inspector", "ours", "library", "broken"} {
		datadriven.RunTest(t, "testdata/"+of, show)
	}
}

// show describes what is read of a text.
func show(_ *testing.T, d *datadriven.TestData) string {
	data, err := Read("in."+d.Cmd, []byte(d.Input))
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, table := range Tables(data.Rows) {
		fmt.Fprintf(&b, "%v %q %s %s, %d ranks", table.Kind, table.Algorithm, table.Type, table.Op,
			table.Ranks)
		if table.Heading != "" {
			fmt.Fprintf(&b, ", %s", table.Heading)
		}
		if table.PerRank {
			b.WriteString(", sizes of a rank's block")
		}
		if table.Simulated {
			fmt.Fprintf(&b, " on %d nodes, simulated", table.Nodes)
		}
		if table.PerProcess > 0 {
			fmt.Fprintf(&b, " on %d nodes, %d a process", table.Nodes, table.PerProcess)
		}
		b.WriteString("\n")
		for _, r := range table.Rows {
			place := map[bool]string{false: "out", true: "in"}[r.InPlace]
			fmt.Fprintf(&b, "  %d: %v count %d root %d %s: %v %v/%v wrong %v", r.Line, r.Size, r.Count,
				r.Root, place, r.Time, r.AlgBW, r.BusBW, r.Wrong)
			if r.Spread > 0 {
				fmt.Fprintf(&b, "; spread %v", r.Spread)
			}
			if r.Run > 1 {
				fmt.Fprintf(&b, "; run %d", r.Run)
			}
			if r.Choice != (Choice{}) {
				fmt.Fprintf(&b, "; %s %s on %d channels", r.Choice.Algorithm, r.Choice.Protocol,
					r.Choice.Channels)
			}
			b.WriteString("\n")
		}
	}
	if f := data.Facts; len(f.Rings)+f.Channels+len(f.Version) > 0 {
		fmt.Fprintf(&b, "facts: %+v\n", data.Facts)
	}
	for _, note := range slices.Concat(data.Notes, Check(data.Rows)) {
		b.WriteString("note: " + note.String() + "\n")
	}
	return b.String()
}

// FuzzRead holds the readers to: an error that is a *ParseError and says what was expected, or rows
// that have a time above 0 and stand in one table each.
func FuzzRead(f *testing.F) {
	f.Add("8 2 float sum -1 15.03 0.00 0.00 0 15.01 0.00 0.00 N/A\n")
	f.Add("[1,0]<stdout>:8 2 float 15.03 0.00 0.00 0 15.01 0.00 0.00 0 2025-10-14 12:00:01")
	f.Add("# Rank 3\n# x/all_reduce_perf\n 32 8 float sum -1 15 0 0 0 14 16 15 2 15 0 0 0 14 16 15 2")
	f.Add("#  Rank  0 Group  0 Pid  37300 on   node0 device  0\n32 8 float sum -1 15 0 0 0 14 0 0 2")
	f.Add("collective,size_bytes,median_us,p10_us,p90_us\nbcast,256,1.5,1.25,2e1\nbcast,512,2,,\n")
	f.Add("collective,size_bytes,time_us_ip,busbw_ip\nall_reduce,256,1.5,\"2.0000\"\n")
	f.Add("size_bytes,all_gather_us,ring_us\n256,1.5,2\n")
	f.Add(`{"args":["all_reduce_perf"],"config":{"devices":[{"rank":1,"pid":3,"hostname":"a"}]},` +
		`"results":[{"size":8,"count":2,"type":"float","redop":"sum","root":"    -1",` +
		`"out_of_place":{"time":12.5,"alg_bw":0.1,"bus_bw":0.2,"nwrong":null},"in_place":null}]}`)
	f.Add("# all_reduce_perf\n#  size count type redop root time algbw busbw #wrong time algbw " +
		"busbw #wrong\n0: 8 2 float sum -1node0:22:28 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING " +
		"proto LL channel{Lo..Hi}={0..1}\n0: 15.03 0.00 0.00\n0: 0 15.01 0.00 0.00 N/A\n")
	f.Add("node0:1:2 [0] NCCL INFO Channel 01/02 : 1 0\nNCCL version 2.21.5+cuda12.4\n" +
		"[1,0]<stdout>:8 2 float 15.03 0.00[1,0]<stdout>: 0.00 0 15.01 0.00 0.00 0")
	f.Add("# OSU MPI-CUDA Allgather Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size\n8 1.5 Pass\n")
	f.Add("# OSU NCCL-CUDA Bi-Directional Bandwidth Test v7.5\n0: 8 1.5\n0: 8 1.5\n")
	f.Add(`{"header":{"n_ranks":4},"coll_perf":{"coll":"AllGather","coll_msg_size_bytes":64,` +
		`"coll_exec_time_us":10}}` + "\n{\"p2p_perf\":{}}\n")
	f.Add(`[{"name":"AllReduce","gpus":4,"size":1024,"time":19.1,"busBw":0.08,"inPlace":1,` +
		`"#wrong":"N/A"}]`)
	f.Add(`{"scenario":"a","result":{"kind":"barrier","bytes":8,"time_ps":1000000,"call_ps":2}}`)
	f.Add("World Size,time (ms),size (B),busbw (Gbit/s)\n8,0.5,1048576,3.67\n,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		data, err := Read("in", []byte(text))
		if err != nil {
			var at *ParseError
			require.True(t, errors.As(err, &at))
			require.Equal(t, "in", at.File)
			require.Positive(t, at.Line+1)
			require.NotEmpty(t, at.Text)
			require.Nil(t, data)
			return
		}
		rows := data.Rows
		require.NotEmpty(t, rows)
		n := 0
		for _, table := range Tables(rows) {
			n += len(table.Rows)
		}
		require.Len(t, rows, n)
		for _, r := range rows {
			require.Equal(t, "in", r.File)
			require.Positive(t, r.Line)
			require.Positive(t, r.Time)
			require.GreaterOrEqual(t, r.Size, unit.Bytes(0))
		}
		Check(rows)
	})
}
