package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/kernel"
	"collsim/unit"
)

// TestEvenly: layers and opaque kernels that state their cost are cut into blocks that share FLOPs
// and bytes, on 4 SMs of 1 TFLOP/s for matrices of bfloat16 and 400 GFLOP/s for float32. Attention
// of 2 heads and 300 queries has 2·⌈300/128⌉ blocks; 2·2·300·300·2·8 FLOPs are 960 000 a block,
// 3.84 µs on a quarter of 1 TFLOP/s. gelu of 100 × 80 has blocks of 40 × 50 elements, whose
// 8 · 2000 operations take 160 ns at 100 GFLOP/s. An opaque kernel has 50 blocks on every SM.
func TestEvenly(t *testing.T) {
	rules := Rules{Env: Env{Device: device.Ideal()}}
	gpu := &rules.Device.GPU
	gpu.SMs, gpu.HBM, gpu.Tile = 4, unit.Rate(100*unit.GB), device.Tile{Rows: 40, Columns: 50}
	gpu.Tensor.BFloat16, gpu.Vector.Float32 = 1e12, 4e11
	const bf16 = ":bfloat16"
	qkv := "300x16" + bf16 + "+300x16" + bf16 + "+300x16" + bf16 + "->300x16" + bf16
	for text, want := range map[string]struct {
		blocks int64
		time   unit.Time
		bytes  unit.Bytes
	}{
		"attention " + qkv + " heads=2":                     {6, 3840 * unit.Nanosecond, 4 * 9600},
		"gelu 100x80" + bf16 + "->100x80" + bf16:            {4, 160 * unit.Nanosecond, 2 * 16000},
		"opaque flops=2e8 bytes=1001":                       {200, 4000 * unit.Nanosecond, 1001},
		"opaque bytes=7":                                    {200, 0, 7},
		"opaque 8x8" + bf16 + "->8" + bf16 + " flops=2e+08": {200, 4000 * unit.Nanosecond, 144},
		"cross_entropy 100x80" + bf16 + "+100:int32->1" + bf16: {4, 80 * unit.Nanosecond,
			16000 + 400 + 2},
	} {
		op, err := kernel.Parse(text)
		require.NoError(t, err)
		g := rules.GridOf(0, &op, nil)
		require.Equal(t, want.blocks, g.Blocks, text)
		require.Equal(t, want.time, g.Time, text)
		require.True(t, g.Moves())
		require.Equal(t, want.bytes, g.bytes(0, g.Blocks), text)
		part := g.bytes(0, g.Blocks/2)
		require.InDelta(t, float64(want.bytes)/2, float64(part), 1, text)
		require.Equal(t, want.bytes-part, g.bytes(g.Blocks/2, g.Blocks-g.Blocks/2), text)
	}
	op, err := kernel.Parse("opaque 8x8:bfloat16->8:bfloat16 5 us")
	require.NoError(t, err)
	g := rules.GridOf(0, &op, nil)
	require.False(t, g.Moves())
	require.Equal(t, 100*unit.Nanosecond, g.Time) // one of 50 waves
}
