package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/unit"
)

// product is a matmul of two matrices of size x size float32 on a device that it has for itself.
type product struct {
	size, rows, columns int // of a tile
	sms, perSM          int
	stay                int // blocks that stay, 0 for none
	peak                int // FLOP/s
	memory              int // B/s
	cache               int
}

// products are random ones.
func products(rng *rand.Rand) product {
	p := product{size: 4 + rng.IntN(20), rows: 1 + rng.IntN(6), columns: 1 + rng.IntN(6),
		sms: 1 + rng.IntN(6), perSM: 1 + rng.IntN(3), peak: 1 + rng.IntN(10000),
		memory: 1 + rng.IntN(1000)}
	p.cache = rng.IntN(12 * p.size * p.size)
	if rng.IntN(2) == 0 {
		p.stay = 1 + rng.IntN(p.sms*p.perSM)
	}
	return p
}

// takes is what the simulation says.
func (p product) takes(t testing.TB, sharing Sharing) unit.Time {
	t.Helper()
	launch := fmt.Sprintf("per_sm=%d", p.perSM)
	if p.stay > 0 {
		launch += fmt.Sprintf(" blocks=%d", p.stay)
	}
	s, err := schedule.Parse(fmt.Sprintf("schedule test\ncollective all_reduce float32 sum\nranks 1\n"+
		"count %d\ncut in block even 2\ncut out block even 2\nrank 0\n  lane 0\n    compute (matmul "+
		"m=%d k=%[2]d n=%[2]d float32*float32->float32) in[0], in[1] into out[0] launch(sms %s)\n",
		2*p.size*p.size, p.size, launch))
	require.NoError(t, err)
	env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
	env.Sharing = sharing
	env.Device = onGPU(t)
	g := &env.Device.GPU
	g.SMs, g.L2, g.HBM = p.sms, unit.Bytes(p.cache), unit.Rate(p.memory*int(unit.MB))
	g.Vector.Float32 = device.FLOPS(p.peak) * 1_000_000
	g.Tile = device.Tile{Rows: int64(p.rows), Columns: int64(p.columns)}
	r, err := Run(s, env, Options{})
	require.NoError(t, err)
	return r.Time
}

// naive is how long it takes if its blocks come in an order. The cache is what the last blocks have
// used, elements of both matrices and of the result: of as many blocks as fit into it with all that
// they used.
func (p product) naive(tiles [][2]int) unit.Time {
	uses := func(tile [2]int) (list []int) { // elements of three matrices, one behind the other
		for i := tile[0]; i < min(tile[0]+p.rows, p.size); i++ {
			for j := tile[1]; j < min(tile[1]+p.columns, p.size); j++ {
				list = append(list, (2*p.size+i)*p.size+j)
				for k := range p.size {
					list = append(list, i*p.size+k, (p.size+k)*p.size+j)
				}
			}
		}
		return list
	}
	places := p.sms * p.perSM
	if p.stay > 0 {
		places = p.stay
	}
	// Operations over a place's part of the peak, in ps; rounded up.
	flops := 2 * min(p.rows, p.size) * min(p.columns, p.size) * p.size
	arithmetic := (flops*p.sms*p.perSM*1_000_000 + p.peak - 1) / p.peak
	memory := func(bytes int) int { return (bytes*1_000_000 + p.memory - 1) / p.memory }
	waves, total, time := 0, 0, 0
	for begun := 0; begun < len(tiles); begun += places {
		has := make([]bool, 3*p.size*p.size)
		for i, held := begun-1, 0; i >= 0; i-- {
			var more []int
			for _, e := range uses(tiles[i]) {
				if !has[e] {
					has[e], more = true, append(more, e)
				}
			}
			if held += 4 * len(more); held > p.cache {
				for _, e := range more {
					has[e] = false
				}
				break
			}
		}
		moved := 0
		for _, tile := range tiles[begun:min(begun+places, len(tiles))] {
			for _, e := range uses(tile) {
				if !has[e] {
					has[e], moved = true, moved+4
				}
			}
		}
		waves, total, time = waves+1, total+moved, time+max(arithmetic, memory(moved))
	}
	if p.stay > 0 { // all is one flow
		time = max(waves*arithmetic, memory(total))
	}
	return unit.Time(time)
}

// orders are its tiles along the rows, and down the columns.
func (p product) orders() (along, down [][2]int) {
	for i := 0; i < p.size; i += p.rows {
		for j := 0; j < p.size; j += p.columns {
			along = append(along, [2]int{i, j})
		}
	}
	for j := 0; j < p.size; j += p.columns {
		for i := 0; i < p.size; i += p.rows {
			down = append(down, [2]int{i, j})
		}
	}
	return along, down
}

// TestCacheAgainstNaive: a matmul takes what a cache says, to the picosecond, that is a list of
// elements; in the better of both orders, and along the rows where there is none.
func TestCacheAgainstNaive(t *testing.T) {
	helped, turned := 0, 0
	simtest.Law(t, 600, "the naive cache agrees", func(t testing.TB, rng *rand.Rand) bool {
		p := products(rng)
		if rng.IntN(4) == 0 {
			p.cache = 0
		}
		along, down := p.orders()
		want := p.naive(along)
		if p.cache > 0 {
			other := p.naive(down)
			if other < want {
				turned++
			}
			want = min(want, other)
			without := p
			without.cache = 0
			if want < without.naive(along) {
				helped++
			}
		}
		require.Equal(t, want, p.takes(t, Sharing(rng.IntN(2))), "%+v", p)
		return true
	})
	require.Greater(t, helped, 3, "a cache helps")
	require.Greater(t, turned, 1, "down the columns is better")
}

// TestMoreCacheIsNeverSlower: a kernel that has the device to itself never ends later with a larger
// cache, nor with one instead of none.
func TestMoreCacheIsNeverSlower(t *testing.T) {
	faster := 0
	simtest.Law(t, 1000, "more cache is never slower", func(t testing.TB, rng *rand.Rand) bool {
		p := products(rng)
		sharing := Sharing(rng.IntN(2))
		with := p.takes(t, sharing)
		if p.cache = p.cache * rng.IntN(4) / 4; rng.IntN(4) == 0 {
			p.cache = 0
		}
		less := p.takes(t, sharing)
		if with < less {
			faster++
		}
		require.LessOrEqual(t, with, less, "%+v", p)
		return true
	})
	require.Greater(t, faster, 3)
}
