package report

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	tables "collsim/formats/measured"
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
	asJSON, err := NCCLTestsJSON(in, r)
	require.NoError(t, err)
	for _, text := range [][]byte{[]byte(NCCLTests(in, r)), asJSON} {
		read, err := tables.ReadTables("x", text)
		require.NoError(t, err)
		require.Len(t, read, 5)
		at := 0
		for _, table := range read {
			require.Equal(t, []int{2, 8}, []int{table.Nodes, table.PerProcess})
			for i, row := range table.Rows {
				require.Equal(t, i%2 == 1, row.InPlace)
				of := r.Results[at/2]
				at++
				spec := of.Point.Spec
				require.Equal(t, []any{spec.Kind, spec.Ranks, spec.Bytes(), spec.Count, rootOf(spec)},
					[]any{table.Kind, table.Ranks, row.Size, row.Count, row.Root})
				if place := in[of.Point]; row.InPlace && place != nil {
					of = place
				}
				require.InEpsilon(t, float64(of.PerCall()), float64(row.Time), .002)
				algbw, _ := of.AlgBW()
				busbw, _ := of.BusBW()
				require.InDelta(t, algbw, row.AlgBW, row.AlgStep*1.0001)
				require.InDelta(t, busbw, row.BusBW, row.BusStep*1.0001)
				require.True(t, row.Wrong == 0 || row.InPlace)
			}
		}
		require.Len(t, r.Results, at/2)
	}
	var list []struct {
		Version int
		Results []struct {
			Size  int64
			Redop string
			Root  string
			Out   struct{ Time, AlgBW, Nwrong float64 } `json:"out_of_place"`
		}
	}
	require.NoError(t, json.Unmarshal(asJSON, &list))
	require.Len(t, list, 5)
	require.Equal(t, []any{3, "mulsum", "    -1", int64(8)}, []any{list[0].Version,
		list[0].Results[0].Redop, list[0].Results[0].Root, list[0].Results[0].Size})
	require.InDelta(t, float64(r.Results[0].PerCall())/1e6, list[0].Results[0].Out.Time, 1e-6)
}
