package report

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/nccllog"
	"collsim/run"
)

// TestNCCLTestsReadBack: what is printed in the columns of nccl-tests is read as a log of it, with
// the same collectives, ranks, sizes, times and bandwidths as far as they are printed.
func TestNCCLTestsReadBack(t *testing.T) {
	s := load(t, "s.toml", `topology.preset = "dgx-h100"
topology.nodes = 2
benchmark.calls = 20
benchmark.processes = "one"
[[collective]]
kind = "all_reduce"
algorithm = "nccl:auto"
bytes = ["8 B", "64 KiB", "1 MiB"]
op = "premulsum(factor=0.5)"
[[collective]]
kind = "reduce"
algorithm = "nccl:ring"
bytes = "1 MiB"
root = 3
dtype = "bfloat16"
[[collective]]
kind = "all_gather"
algorithm = "nccl:auto"
bytes = "1 MiB"
[[collective]]
kind = "all_to_all"
algorithm = "nccl:p2p"
bytes = "1 MiB"
[[collective]]
kind = "send_recv"
algorithm = "nccl:p2p"
bytes = "1 MiB"
[check]
proof = false
`)
	r := runAll(t, s)
	in := InPlace{}
	for _, p := range s.Points {
		twin := *p
		twin.Spec.InPlace = true
		if one, err := s.RunPoint(&twin, run.RunOptions{}); err == nil {
			in[p] = one
		}
	}
	require.Len(t, in, 5) // all but sends and receives
	tables, err := nccllog.ReadLog("x", []byte(NCCLTests(in, r)))
	require.NoError(t, err)
	require.Len(t, tables, 5)
	at := 0
	for _, table := range tables {
		for _, row := range table.Rows {
			result := r.Results[at]
			at++
			spec := result.Point.Spec
			require.Equal(t, []any{spec.Kind, spec.Ranks, spec.Bytes(), spec.Count, rootOf(spec)},
				[]any{table.Kind, table.Ranks, row.Size, row.Count, row.Root})
			place := in[result.Point]
			if place == nil {
				place = result
			}
			for _, c := range []struct {
				of   *run.Result
				read nccllog.Timing
			}{{result, row.Out}, {place, row.In}} {
				require.InEpsilon(t, float64(c.of.PerCall()), float64(c.read.Time), .002)
				algbw, _ := c.of.AlgBW()
				busbw, _ := c.of.BusBW()
				require.InDelta(t, algbw, c.read.AlgBW, c.read.AlgStep*1.0001)
				require.InDelta(t, busbw, c.read.BusBW, c.read.Step*1.0001)
			}
			require.Zero(t, row.Out.Wrong)
		}
	}
	require.Len(t, r.Results, at)

	text, err := NCCLTestsJSON(in, r)
	require.NoError(t, err)
	var list []struct {
		Version int
		Results []struct {
			Size  int64
			Redop string
			Root  string
			Out   struct{ Time, AlgBW, Nwrong float64 } `json:"out_of_place"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &list))
	require.Len(t, list, 5)
	require.Equal(t, []any{3, "mulsum", "    -1", int64(8)}, []any{list[0].Version,
		list[0].Results[0].Redop, list[0].Results[0].Root, list[0].Results[0].Size})
	require.InDelta(t, float64(r.Results[0].PerCall())/1e6, list[0].Results[0].Out.Time, 1e-6)
}
