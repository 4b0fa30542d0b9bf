package model

import (
	"math"
	"math/bits"

	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// How a matmul is cut into blocks (decision 25): by the device's tile, or by the one of a list, and
// the split of K, by which it ends first if it has the device to itself.

// Tiling is how a kernel is cut: a block computes a tile of the result, of a matmul over one of
// Split equal parts of K.
type Tiling struct {
	Tile  kernel.Tile
	Split int64
	down  bool // its blocks go down the columns, not along the rows
}

// anyTile is a tile where the device has none, and nothing says what another one costs.
var anyTile = kernel.Tile{Rows: 128, Columns: 128}

// tileSides are those that a chosen tile may have, largest first: of two tilings that end together
// the one of the larger tile is taken. NVIDIA's guide (section 2.3) lists those of 64 to 256;
// smaller ones are what libraries have for few rows or columns.
func tileSides() []int64 { return []int64{256, 192, 128, 96, 64, 32, 16} }

// splits are the numbers of parts into which K may be cut, none of which is shorter than leastK.
func splits() []int64 { return []int64{1, 2, 3, 4, 6, 8, 12, 16, 24, 32} }

const leastK = 128

// shape is what a tiling depends on.
type shape struct {
	op            kernel.Op
	blocks, perSM int32
}

// tilingOf is a matmul's, remembered: a program has few shapes, and runs them often.
func (r *Rules) tilingOf(op *kernel.Op, l *schedule.Launch) Tiling {
	gpu := &r.Device.GPU
	switch {
	case gpu.Tile.Rows >= 1 && gpu.Tile.Columns >= 1:
		return Tiling{Tile: kernel.Tile(gpu.Tile), Split: 1}
	case gpu.L2Bandwidth == 0:
		return Tiling{Tile: anyTile, Split: 1}
	}
	key := shape{op: *op, perSM: r.PerSM(l)}
	if l != nil {
		key.blocks = l.Blocks
	}
	t, known := r.tilings[key]
	if !known {
		t = r.choose(op, key)
		if r.tilings != nil {
			r.tilings[key] = t
		}
	}
	return t
}

// choose is the tiling by which a matmul ends first, each byte of its operands being read once.
// Where blocks stay, K is not split. Nothing that is printed comes of its float64s but the choice,
// and products are rounded before they are added.
func (r *Rules) choose(op *kernel.Op, key shape) (best Tiling) {
	gpu, perSM := &r.Device.GPU, int64(key.perSM)
	places := int64(gpu.SMs) * perSM
	c := pace{read: float64(op.Read()+op.Written()) * r.perByte(),
		parts: float64(2*partialWidth*op.M()) * float64(op.N) * r.perByte(),
		flop:  r.perFLOP(op) * float64(places),
		byte:  float64(places) * float64(unit.Second) / float64(gpu.L2Bandwidth),
		block: float64(gpu.BlockStart), split: float64(gpu.KernelStart),
		unhidden: float64(gpu.Unhidden) / float64(whole)}
	if key.blocks > 0 {
		places = int64(key.blocks)
	}
	ends := math.Inf(1)
	for _, rows := range tileSides() {
		for _, columns := range tileSides() {
			t := Tiling{Tile: kernel.Tile{Rows: rows, Columns: columns}}
			tiles := op.Blocks(t.Tile)
			for _, t.Split = range splits() {
				if t.Split > 1 && (key.blocks > 0 || tiles*t.Split > 4*places || op.K()/t.Split < leastK) {
					break
				}
				if takes := c.of(op, t, over(tiles*t.Split, places)); takes < ends {
					best, ends = t, takes
				}
			}
		}
	}
	return best
}

// pace is what an estimate of a matmul's time is made of, in picoseconds.
type pace struct {
	read, parts  float64 // to move its operands and result, and one of the parts of a split K
	flop, byte   float64 // of a block: an operation, a byte from the cache
	block, split float64 // starts
	unhidden     float64
}

// of is the estimate of so many waves.
func (c *pace) of(op *kernel.Op, t Tiling, waves int64) float64 {
	rows, columns, k := t.Tile.Rows, t.Tile.Columns, over(op.K(), t.Split)
	products := float64(2*rows*columns*k) * c.flop
	loads := float64((rows*int64(op.A.Width())+columns*int64(op.B.Width()))*k) * c.byte
	arithmetic, memory, start := float64(waves)*(max(products, loads)+c.block), c.read, 0.0
	if t.Split > 1 {
		memory += float64(c.parts * float64(t.Split))
		start = c.split
	}
	return max(arithmetic, memory) + float64(c.unhidden*min(arithmetic, memory)) + start
}

// perByte and perFLOP are picoseconds of a byte of the memory, and of an operation of all SMs.
func (r *Rules) perByte() float64 {
	if !r.HasMemory() {
		return 0
	}
	return float64(unit.Second) / float64(r.Device.GPU.Memory())
}

func (r *Rules) perFLOP(op *kernel.Op) float64 {
	peak, share := Peak(&r.Device.GPU, op)
	if peak == 0 {
		return 0
	}
	return float64(unit.Second) / float64(peak) * (float64(whole) / float64(share))
}

// matmulStart is what a matmul takes besides its blocks: a kernel more adds up the parts of a K
// that is split.
func (r *Rules) matmulStart(split int64) unit.Time {
	gpu := &r.Device.GPU
	start := gpu.KernelStart + gpu.MatmulStart
	if split > 1 {
		start += gpu.KernelStart
	}
	return start
}

// blockTime is how long a block of a matmul takes: its start, and the longer of its products and of
// reading its operands from the cache. A block of a tile that was chosen has all of its tile, which
// matrix units compute whole; of the device's own tile what the first block has of it.
func (r *Rules) blockTime(op *kernel.Op, t Tiling, perSM int64) unit.Time {
	gpu := &r.Device.GPU
	rows, columns, k := t.Tile.Rows, t.Tile.Columns, over(op.K(), t.Split)
	if gpu.Tile.Rows >= 1 || gpu.L2Bandwidth == 0 {
		rows, columns = min(rows, op.M()), min(columns, op.N)
	}
	time := r.arithmetic(op, 2*rows*columns*k, perSM)
	if gpu.L2Bandwidth > 0 {
		read := unit.MultiplyCapped(k, rows*int64(op.A.Width())+columns*int64(op.B.Width()))
		read = unit.MultiplyCapped(read, int64(gpu.SMs)*perSM)
		time = max(time, unit.Bytes(read).Over(gpu.L2Bandwidth))
	}
	return min(time+gpu.BlockStart, unit.Forever)
}

func over(a, b int64) int64 { return (a + b - 1) / b }

// partialWidth is of what the parts of a result are that are added up: float32, or int32.
const partialWidth = 4

// whole is what a matmul moves that reads its operands once: with them and its result the parts of
// a split K, which are written and read.
func (g *Grid) whole() unit.Bytes {
	n := unit.AddCapped(g.Op.Read(), g.Op.Written())
	if g.Split > 1 {
		parts := unit.MultiplyCapped(g.Op.M(), g.Op.N)
		n = unit.AddCapped(n, unit.MultiplyCapped(parts, 2*partialWidth*g.Split))
	}
	return unit.Bytes(n)
}

// partOf is n · a / b, rounded down, for a of at most b.
func partOf(n unit.Bytes, a, b int64) unit.Bytes {
	if a == 0 || b == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(a))
	quo, _ := bits.Div64(hi, lo, uint64(b)) // n · a / b is at most n
	return unit.Bytes(quo)
}
