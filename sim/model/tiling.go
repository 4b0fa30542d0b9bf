package model

import (
	"math"
	"math/bits"

	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// The tiling of matmuls (decision 25). A matmul is cut by the device's tile. If the device has
// none, the tile and the split of K are chosen out of a list. The choice is the one with which the
// matmul ends first if it has the device to itself.

// Tiling is the cut of a kernel into blocks. A block computes a tile of the result; for a matmul,
// over one of Split equal parts of K.
type Tiling struct {
	Tile  kernel.Tile
	Split int64
	down  bool // blocks go down the columns, not along the rows
}

// anyTile is the tile where the device has none, and gives no bandwidth of its cache to compare
// tiles by.
var anyTile = kernel.Tile{Rows: 128, Columns: 128}

// tileSides returns the sides that a chosen tile may have, largest first: of two tilings that end
// together the one with the larger tile is chosen. NVIDIA's guide (section 2.3) lists those of 64
// to 256. Libraries have smaller ones for few rows or columns.
func tileSides() []int64 { return []int64{256, 192, 128, 96, 64, 32, 16} }

// splits returns the numbers of parts into which K may be cut; no part is shorter than leastK.
func splits() []int64 { return []int64{1, 2, 3, 4, 6, 8, 12, 16, 24, 32} }

const leastK = 128

// shape is all that a matmul's tiling depends on: the operation and its launch.
type shape struct {
	op            kernel.Op
	blocks, perSM int32
}

// tilingOf returns the tiling of a matmul, and remembers it: a program has few shapes, and runs
// each often.
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

// choose returns the tiling with which a matmul ends first, if each byte of its operands is read
// once from memory. K is not split where blocks stay. Only the choice depends on these float64s, no
// printed number does. Products are rounded before they are added, so no fused multiply-add can
// change it.
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

// pace holds the terms of an estimate of a matmul's time, in picoseconds.
type pace struct {
	read, parts  float64 // to move its operands and result; and to move one part of a split K
	flop, byte   float64 // of a block: for an operation, and for a byte from the cache
	block, split float64 // the starts of a block, and of the kernel that adds up the parts
	unhidden     float64 // the part of the shorter of arithmetic and memory that is not hidden
}

// of returns the estimated time of a matmul, in picoseconds, for a tiling whose blocks run in a
// number of waves.
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

// perByte returns the picoseconds of a byte of the memory.
func (r *Rules) perByte() float64 {
	if !r.HasMemory() {
		return 0
	}
	return float64(unit.Second) / float64(r.Device.GPU.Memory())
}

// perFLOP returns the picoseconds of an operation, on all SMs.
func (r *Rules) perFLOP(op *kernel.Op) float64 {
	peak, share := peakOf(&r.Device.GPU, op)
	if peak == 0 {
		return 0
	}
	return float64(unit.Second) / float64(peak) * (float64(whole) / float64(share))
}

// matmulStart returns the time of a matmul besides its blocks. If K is split, a second kernel adds
// up the parts.
func (r *Rules) matmulStart(split int64) unit.Time {
	gpu := &r.Device.GPU
	start := gpu.KernelStart + gpu.MatmulStart
	if split > 1 {
		start += gpu.KernelStart
	}
	return start
}

// blockTime returns how long a block of a matmul takes: its start, and the longer of its products
// and of reading its operands from the cache. A block of a chosen tile computes the whole tile, as
// matrix units do. One of the device's own tile computes what the first block has of it.
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

// over returns a / b, rounded up.
func over(a, b int64) int64 { return (a + b - 1) / b }

// partialWidth is the width of an element of the partial results of a split K: float32 or int32.
const partialWidth = 4

// whole returns the bytes that a matmul moves if it reads its operands once: operands, result, and
// the partial results of a split K, which are written and read.
func (g *Grid) whole() unit.Bytes {
	n := unit.AddCapped(g.Op.Read(), g.Op.Written())
	if g.Split > 1 {
		parts := unit.MultiplyCapped(g.Op.M(), g.Op.N)
		n = unit.AddCapped(n, unit.MultiplyCapped(parts, 2*partialWidth*g.Split))
	}
	return unit.Bytes(n)
}

// partOf returns n · a / b, rounded down, for a of at most b.
func partOf(n unit.Bytes, a, b int64) unit.Bytes {
	if a == 0 || b == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(a))
	quo, _ := bits.Div64(hi, lo, uint64(b)) // n · a / b is at most n
	return unit.Bytes(quo)
}
