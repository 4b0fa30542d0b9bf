package model

import (
	"fmt"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// presets are all devices with a model of a GPU.
func presets() (list []device.Device) {
	for _, p := range device.Catalogue()[1:] {
		list = append(list, p.Device)
	}
	return list
}

func matmulOf(m, k, n int64) kernel.Op {
	op, err := kernel.Parse(fmt.Sprintf("matmul m=%d k=%d n=%d float16*float16->float16", m, k, n))
	if err != nil {
		panic(err)
	}
	return op
}

// takes is a matmul's time on a device of its own, of so many SMs.
func takes(d *device.Device, m, k, n, sms int64) unit.Time {
	r, op := Rules{Env: Env{Device: *d}}, matmulOf(m, k, n)
	g := r.GridOf(0, &op, nil)
	return g.Alone(sms, false)
}

// TestLawsOfMatmuls: on every GPU, a matmul is no faster than its bytes cross the memory, than its
// operations take at the peak, or than a kernel may be. With fewer SMs it is no faster, and half of
// a dimension takes no longer than all of it, but for what the cache and a wave that is not full
// do: a tenth. (Fewer SMs may part blocks into waves of like sizes, whose bytes hide their
// arithmetic: of 60,000 shapes 11 are faster with three quarters of the SMs, at most by 5 %.)
func TestLawsOfMatmuls(t *testing.T) {
	devices := presets()
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = 300
	properties := gopter.NewProperties(parameters)
	size := gen.Int64Range(1, 6000)
	properties.Property("a matmul keeps to peaks, floor and SMs", prop.ForAll(
		func(at int, m, k, n int64) string {
			d := &devices[at]
			g, sms := &d.GPU, int64(d.GPU.SMs)
			op := matmulOf(m, k, n)
			all := takes(d, m, k, n, sms)
			bytes := unit.Bytes(op.Read() + op.Written())
			peak, _ := peakOf(g, &op)
			compute := float64(op.FLOPs()) / float64(peak) * float64(unit.Second)
			switch {
			case all < bytes.Over(g.HBM):
				return fmt.Sprintf("%s: %v moves in %v", d.Name, all, bytes.Over(g.HBM))
			case float64(all) < compute*(1-1e-9):
				return fmt.Sprintf("%s: %v computes in %v", d.Name, all, unit.Time(compute))
			case all < g.KernelStart:
				return fmt.Sprintf("%s: %v is less than any kernel takes", d.Name, all)
			case 1.1*float64(takes(d, m, k, n, max(sms*3/4, 1))) < float64(all):
				return d.Name + ": faster with fewer SMs"
			}
			for _, half := range [][3]int64{{m / 2, k, n}, {m, k / 2, n}, {m, k, n / 2}} {
				if half[0]*half[1]*half[2] == 0 {
					continue
				}
				if less := takes(d, half[0], half[1], half[2], sms); float64(less) > 1.1*float64(all) {
					return fmt.Sprintf("%s: %v takes %v, all of it %v", d.Name, half, less, all)
				}
			}
			return ""
		}, gen.IntRange(0, len(devices)-1), size, size, size))
	properties.TestingRun(t)
}

// TestFloor: every kernel takes its start, even of one element.
func TestFloor(t *testing.T) {
	for _, d := range presets() {
		r := Rules{Env: Env{Device: d}}
		for _, text := range []string{"cast 1024 float32->bfloat16", "add 1 float32+float32->float32",
			"sum 8x4 axis=0 float32->float32"} {
			op, err := kernel.Parse(text)
			require.NoError(t, err)
			g := r.GridOf(0, &op, nil)
			require.GreaterOrEqual(t, g.Alone(int64(d.GPU.SMs), false), d.GPU.KernelStart, text)
		}
	}
}

// TestTilings: few columns have narrow tiles, few tiles and a long K are split, large matmuls have
// large tiles; a tile of the user's is the tile of all, without a split, and so is 128x128 where
// nothing says what smaller ones cost.
func TestTilings(t *testing.T) {
	d, err := device.Lookup("a100-80gb")
	require.NoError(t, err)
	cut := func(m, k, n int64) Tiling {
		r, op := Rules{Env: Env{Device: d}}, matmulOf(m, k, n)
		return r.GridOf(0, &op, nil).Tiling
	}
	require.Greater(t, cut(128, 8192, 1280).Split, int64(1), "10 tiles of 128x128 on 108 SMs")
	require.Equal(t, int64(16), cut(8, 4096, 4096).Tile.Rows)
	require.GreaterOrEqual(t, cut(8192, 8192, 8192).Tile.Columns*cut(8192, 8192, 8192).Tile.Rows,
		int64(128*256))
	d.GPU.Tile = device.Tile{Rows: 64, Columns: 32}
	require.Equal(t, Tiling{Tile: kernel.Tile{Rows: 64, Columns: 32}, Split: 1, down: true},
		cut(128, 8192, 1280))
	d.GPU.Tile, d.GPU.L2Bandwidth = device.Tile{}, 0
	require.Equal(t, anyTile, cut(128, 8192, 1280).Tile)
}

// TestResidentKernelsAreNotSplit: a kernel whose blocks stay has no start of its own and all of K.
func TestResidentKernelsAreNotSplit(t *testing.T) {
	d, err := device.Lookup("a100-80gb")
	require.NoError(t, err)
	r, op := Rules{Env: Env{Device: d}}, matmulOf(128, 8192, 1280)
	g := r.GridOf(0, &op, &schedule.Launch{Blocks: 8})
	require.Equal(t, int64(1), g.Split)
	require.False(t, g.Starts())
}

// TestSplitMoves: parts of a split K are written and read in float32 besides what all of it moves,
// and waves move it all.
func TestSplitMoves(t *testing.T) {
	op := matmulOf(100, 1000, 300)
	g := Grid{Op: &op, Tiling: Tiling{Tile: anyTile, Split: 3}, Blocks: 9}
	require.EqualValues(t, op.Read()+op.Written()+3*2*4*100*300, g.bytes(0, 9))
	require.EqualValues(t, g.bytes(0, 9), g.bytes(0, 4)+g.bytes(4, 5))
}
