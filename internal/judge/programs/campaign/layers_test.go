package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/judge/programs"
	"collsim/reference"
	"collsim/schedule"
)

// layersText is a layer of a transformer with its loss and an optimizer's step, on two ranks.
const layersText = `[topology]
preset = "switch"
ranks = 2
bandwidth = "10 GB/s"
latency = "1 us"
[program]
gradient = "full"
tensor = [{name = "ids", shape = [2, 4], dtype = "int32"}, {name = "table", shape = [9, 8]},
  {name = "n", shape = [8]}, {name = "b", shape = [8]}, {name = "wqkv", shape = [8, 16]},
  {name = "wo", shape = [8, 8]}, {name = "wg", shape = [8, 6]}, {name = "wu", shape = [8, 6]},
  {name = "wd", shape = [6, 8]}, {name = "targets", shape = [8], dtype = "int64"},
  {name = "m", shape = [6, 8]}, {name = "v", shape = [6, 8]}]
op = [{kernel = "embedding", in = ["ids", "table"], out = "x"},
  {kernel = "rms_norm eps=0.01", in = ["x", "n"], out = "h"},
  {kernel = "matmul", in = ["h", "wqkv"], out = "qkv"},
  {kernel = "attention heads=4 kv_heads=2 causal", in = "qkv", out = "a"},
  {kernel = "matmul", in = ["a", "wo"], out = "ap"},
  {call = "all_reduce", in = "ap", out = "as"},
  {kernel = "add", in = ["x", "as"], out = "x2"},
  {kernel = "layer_norm", in = ["x2", "n", "b"], out = "h2"},
  {kernel = "matmul", in = ["h2", "wg"], out = "g"},
  {kernel = "matmul", in = ["h2", "wu"], out = "u"},
  {kernel = "gelu tanh", in = "u", out = "ug"},
  {kernel = "swiglu", in = ["g", "ug"], out = "f"},
  {kernel = "gelu", in = "f", out = "fg"},
  {kernel = "matmul", in = ["fg", "wd"], out = "dp"},
  {call = "all_reduce", in = "dp", out = "d"},
  {kernel = "silu", in = "d", out = "ds"}, {kernel = "relu", in = "ds", out = "dr"},
  {kernel = "shard axis=1 over=all", in = "dr", out = "dc"},
  {call = "all_gather axis 1", in = "dc", out = "dg"},
  {kernel = "route k=3", in = "dg", out = "dt"},
  {kernel = "softmax", in = "dt", out = "s"}, {kernel = "add", in = ["s", "x2"], out = "l"},
  {kernel = "cross_entropy", in = ["l", "targets"], out = "loss"},
  {call = "all_reduce avg", in = "wd_grad", out = "gd"},
  {kernel = "adam_m", in = ["m", "gd"], out = "m2"},
  {kernel = "adam_v beta2=0.75", in = ["v", "gd"], out = "v2"},
  {kernel = "adam lr=0.5 step=3 weight_decay=0.25", in = ["wd", "m2", "v2"], out = "wd2"},
  {kernel = "sgd lr=0.25", in = ["wo", "wo_grad"], out = "wo2"}]
`

// TestLayersAgree: results and gradients of layers are the judge's, who has functions of package
// math, and derivatives by dual numbers: to 14 digits in float64, and to the precision of narrower
// types.
func TestLayersAgree(t *testing.T) {
	for typ, near := range map[string]float64{"float64": 1e-14, "float32": 1e-6, "bfloat16": 0.01} {
		text := strings.NewReplacer("]},", fmt.Sprintf(`], dtype = %q},`, typ), "]}]\nop",
			fmt.Sprintf("], dtype = %q}]\nop", typ)).Replace(layersText)
		o, err := public(text)
		require.NoError(t, err)
		require.Empty(t, o.kind, o.why)
		require.Contains(t, []string{"exact", "bounded"}, o.numbers, o.with)
		judged, err := programs.Read(text)
		require.NoError(t, err)
		given, err := reference.GivenTensors(o.low.Schedule, reference.Exact, 0)
		require.NoError(t, err)
		want, err := judged.Evaluate(inputs(o.low.Schedule, given))
		require.NoError(t, err)
		require.False(t, want.Exact)
		out, err := reference.RunTensors(o.low.Schedule, given, reference.RunOptions{})
		require.NoError(t, err)
		require.Subset(t, want.Names, []string{"loss", "wd2", "wo2", "table_grad", "n_grad", "b_grad",
			"wqkv_grad", "wg_grad", "wu_grad"})
		most, zeros, all := 0.0, 0, 0
		for _, name := range want.Names {
			at := o.low.Where[name]
			for rank := range 2 {
				right := want.Values(name, rank)
				held := programs.Numbers(typ, out[at.Tensor-schedule.FirstTensor][rank])
				have := held[at.Offset(rank):][:len(right)]
				for i, x := range right {
					off := math.Abs(have[i]-x) / max(math.Abs(x), 1)
					require.LessOrEqual(t, off, near, "%s: %s of rank %d, element %d: %v, not %v", typ, name,
						rank, i, have[i], x)
					most, all = max(most, off), all+1
					if x == 0 {
						zeros++
					}
				}
			}
		}
		require.Less(t, zeros, all/4, typ)
		t.Logf("%s: off by at most %.2g", typ, most)
	}
}
