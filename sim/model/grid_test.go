package model

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// TestBytesOfWaves: what blocks move that run together is each element of an operand that one of
// them reads, once, unless the cache has it from the blocks before, and what they write; element by
// element, of random kernels, caches and waves.
func TestBytesOfWaves(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	texts := []string{"matmul m=17 k=5 n=23 float32*float32->float16",
		"matmul m=3x4 k=2 n=9 bfloat16*bfloat16->float32", "add 7x9 float32+bfloat16->float32",
		"scaled_matmul m=16 k=8 n=20 float8_e4m3fn*float8_e4m3fn->bfloat16 row-wise bias=bfloat16",
		"scaled_matmul m=9 k=3 n=5 float8_e4m3fn*float8_e4m3fn->float8_e4m3fn tensor-wise result-scale",
		"cast 5x11 float32->int8", "sum 4x8x6 axis=0 bfloat16->bfloat16",
		"sum 4x8x6 axis=1 bfloat16->float32", "mean 3x5x2 axis=2 float32->float32"}
	found, downs := 0, 0
	for range 3000 {
		op, err := kernel.Parse(texts[rng.IntN(len(texts))])
		require.NoError(t, err)
		rules := Rules{Env: Env{Device: device.Ideal()}}
		tile := device.Tile{Rows: 1 + rng.Int64N(6), Columns: 1 + rng.Int64N(6)}
		gpu := device.GPU{SMs: 1 + rng.IntN(9), Tile: tile, HBM: 1}
		if rng.IntN(3) > 0 {
			gpu.L2 = unit.Bytes(1 + rng.IntN(1000))
		}
		rules.Device.GPU = gpu
		g := rules.GridOf(0, &op, nil)
		require.Equal(t, op.Blocks(kernel.Tile(tile)), g.Blocks)
		require.False(t, g.down && gpu.L2 == 0)
		if g.down {
			downs++
		}
		block := func(i int64) kernel.Block {
			if rows := (op.M() + tile.Rows - 1) / tile.Rows; g.down {
				i = i%rows*(g.Blocks/rows) + i/rows
			}
			return op.Block(kernel.Tile(tile), i)
		}
		operands, seen := op.Operands(), map[[2]int64]bool{}
		touch := func(b kernel.Block) (n int64) { // bytes that were not seen
			for j, s := range b.In {
				for k := range s.Elements() {
					at := [2]int64{int64(j), s.At + k/s.Length*s.Stride + k%s.Length}
					if !seen[at] {
						seen[at] = true
						n += int64(operands[j].Type.Width())
					}
				}
			}
			return n + b.Written
		}
		from := rng.Int64N(g.Blocks)
		n := 1 + rng.Int64N(g.Blocks-from)
		for i, held := from-1, int64(0); i >= 0; i-- {
			before := maps.Clone(seen)
			if held += touch(block(i)); held > int64(gpu.L2) {
				seen = before
				break
			}
		}
		want, cold := int64(0), int64(0)
		for i := from; i < from+n; i++ {
			want += touch(block(i))
		}
		clear(seen)
		for i := from; i < from+n; i++ {
			cold += touch(block(i))
		}
		if want < cold {
			found++
		}
		require.EqualValues(t, want, g.bytes(from, n), "%v, %v, blocks %d to %d", op, tile, from, from+n)

		// Alone, waves follow each other, the last of the blocks that are left.
		takes, first := unit.Time(0), g.Blocks-g.Blocks%n
		for i := int64(0); i < first; i += n {
			takes += max(g.Time, g.bytes(i, n).Over(gpu.HBM))
		}
		if first < g.Blocks {
			takes += max(g.Time, g.bytes(first, g.Blocks-first).Over(gpu.HBM))
		}
		require.Equal(t, takes, g.Alone(n, false), "%v, %v, waves of %d", op, tile, n)
	}
	require.Greater(t, found, 500, "waves that find something in the cache")
	require.Greater(t, downs, 300, "grids down the columns")
}

// TestBlockTime: a tile of 128x256 and K 8192 is 2·128·256·8192 FLOP; an H100 has 989.4 TFLOP/s at
// 80.3 %, of which a block with an SM to itself has one in 132: 89.20 us. With half an SM it takes
// twice as long, rounded up. A float32 matmul has the vector peak, 66.9 TFLOP/s; sums have that
// without the efficiency; bfloat16 on a device without such units takes float32's.
func TestBlockTime(t *testing.T) {
	h100, err := device.Lookup("h100-sxm")
	require.NoError(t, err)
	h100.GPU.Tile = device.Tile{Rows: 128, Columns: 256}
	h100.GPU.MatmulEfficiency, h100.GPU.VectorEfficiency = 803_000, 0
	h100.GPU.BlockStart, h100.GPU.L2Bandwidth = 0, 0
	rules := Rules{Env: Env{Device: h100}}
	timeOf := func(text string, perSM int32) unit.Time {
		op, err := kernel.Parse(text)
		require.NoError(t, err)
		return rules.GridOf(0, &op, &schedule.Launch{PerSM: perSM}).Time
	}
	const flops = 2 * 128 * 256 * 8192
	const bf16 = "matmul m=8192 k=8192 n=8192 bfloat16*bfloat16->bfloat16"
	exact := flops * 132 / (989.4e12 * 0.803) * 1e12
	require.InDelta(t, exact, float64(timeOf(bf16, 1)), 1)
	require.EqualValues(t, 89_198_255, timeOf(bf16, 0))
	require.InDelta(t, 2*exact, float64(timeOf(bf16, 2)), 1)
	require.InDelta(t, flops*132/(66.9e12*0.803)*1e12,
		float64(timeOf("matmul m=8192 k=8192 n=8192 float32*float32->float32", 1)), 1)
	// A row of 16 is no tile of 128: 2·16·256·8192 FLOP.
	require.InDelta(t, exact/8,
		float64(timeOf("matmul m=16 k=8192 n=8192 bfloat16*bfloat16->bfloat16", 1)), 1)
	require.InDelta(t, 128*256*132/66.9e12*1e12,
		float64(timeOf("add 8192x8192 bfloat16+bfloat16->bfloat16", 1)), 1)
	require.Zero(t, timeOf("cast 8192x8192 float32->bfloat16", 1))
	rules.Slowdown = []unit.Share{2_000_000}
	require.InDelta(t, 2*exact, float64(timeOf(bf16, 1)), 2)
	rules.Slowdown = nil
	gpu := &rules.Device.GPU // without matrix units for them, as V100
	gpu.Tensor.BFloat16, gpu.Vector.BFloat16 = 0, 0
	require.InDelta(t, flops*132/(66.9e12*0.803)*1e12, float64(timeOf(bf16, 1)), 1)
	gpu.VectorEfficiency = 500_000
	require.InDelta(t, flops*132/(66.9e12*0.5)*1e12, float64(timeOf(bf16, 1)), 1)
}
