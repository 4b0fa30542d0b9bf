package model

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/kernel"
)

// TestKeptWaves: a wave that is kept is what Wave returns, whatever blocks a kernel has next.
func TestKeptWaves(t *testing.T) {
	op, err := kernel.Parse("cast 1000 float32->bfloat16")
	require.NoError(t, err)
	r := &Rules{}
	r.Device.GPU = device.GPU{SMs: 4, HBM: 1 << 30, Tile: device.Tile{Rows: 1, Columns: 16}}
	grids, rng := Grids{}, rand.New(rand.NewPCG(1, 1))
	want := r.GridOf(0, &op, nil)
	require.Greater(t, want.Blocks, int64(20))
	for range 50 {
		g := grids.Of(r, 0, &op, nil)
		for at, wave := int64(0), 0; at < g.Blocks; wave++ {
			n := min(1+rng.Int64N(9), g.Blocks-at)
			takes, bytes := want.Wave(at, n)
			gotTakes, gotBytes := g.WaveAt(wave, at, n)
			require.Equal(t, takes, gotTakes)
			require.Equal(t, bytes, gotBytes)
			at += n
		}
	}
}
