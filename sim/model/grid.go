package model

import (
	"cmp"
	"math/big"

	"collsim/device"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// Grid is a kernel as the SMs see it: equal blocks, each with the time of its arithmetic. Memory
// may make a wave of blocks longer.
type Grid struct {
	Blocks int64
	Time   unit.Time // of a block
	Op     *kernel.Op
	Tiling
	start    unit.Time  // added to the first wave: the start of the kernel
	cache    unit.Bytes // of the device, for a matmul whose reuse is counted; else 0
	memory   unit.Rate  // of the device; 0 where none is shared
	even     unit.Bytes // of a kernel whose blocks move equal parts of them
	isEven   bool
	unhidden unit.Share // part of the shorter of arithmetic and memory that adds to the longer
}

// opaqueWaves is the number of waves of blocks on all SMs that an opaque kernel stands for. With
// many waves its time on a part of the SMs grows evenly, as for a kernel of many blocks. Other
// kernels soon get an SM. On slightly fewer SMs it takes one wave more: 2 % of its time.
const opaqueWaves = 50

// GridOf returns the grid of a step's kernel on a rank.
//
// An opaque kernel has the blocks of its launch, each with the kernel's time. If the launch does
// not say, it has the blocks of opaqueWaves waves on all SMs, which together take that time. Where
// it states FLOPs and bytes, its blocks have equal parts of them.
//
// Any other kernel is cut by a tile: the device's or, for a matmul, one chosen by its shape
// (tilingOf). All blocks take as long as the first, which none exceeds. Blocks at the edges are
// padded, as in NVIDIA's Matrix Multiplication Background User's Guide (section 3.1). A block has
// its share of an SM, and of its arithmetic.
func (r *Rules) GridOf(rank int32, op *kernel.Op, l *schedule.Launch) Grid {
	g := Grid{Op: op, Tiling: Tiling{Split: 1}}
	if r.FreeCompute { // nothing is left of it
		return g
	}
	if op.Kind == kernel.Opaque && op.Time > 0 {
		r.opaque(&g, rank, op, l)
		return g
	}
	gpu := &r.Device.GPU
	g.unhidden = gpu.Unhidden
	if r.HasMemory() {
		g.memory = gpu.Memory()
	}
	if l == nil || l.Blocks == 0 { // those that stay have begun already
		g.start = r.Slowed(rank, gpu.KernelStart)
	}
	if !op.IsMatmul() {
		g.Tiling = Tiling{Tile: kernel.Tile(gpu.Tile), Split: 1}
		if gpu.Tile.Rows < 1 || gpu.Tile.Columns < 1 {
			g.Tile = anyTile
		}
		if op.Kind == kernel.Opaque || op.IsLayer() {
			r.evenly(&g, rank, l)
			return g
		}
		if g.Blocks = op.Blocks(g.Tile); g.Blocks > 0 {
			g.Time = r.Slowed(rank, r.arithmetic(op, op.Block(g.Tile, 0).FLOPs, int64(r.PerSM(l))))
		}
		return g
	}
	g.Tiling = r.tilingOf(op, l)
	g.Blocks = op.Blocks(g.Tile) * g.Split
	if g.Blocks == 0 {
		return g
	}
	g.Time = r.Slowed(rank, r.blockTime(op, g.Tiling, int64(r.PerSM(l))))
	if l == nil || l.Blocks == 0 {
		g.start = r.Slowed(rank, r.matmulStart(g.Split))
	}
	if r.HasMemory() && gpu.L2 > 0 && g.Split == 1 {
		g.cache = gpu.L2
		g.down = r.goesDown(g, l)
	}
	return g
}

// opaque sets the blocks of an opaque kernel of a known time.
func (r *Rules) opaque(g *Grid, rank int32, op *kernel.Op, l *schedule.Launch) {
	g.Time = r.Slowed(rank, min(op.Time, unit.Forever))
	if l != nil && l.Blocks > 0 {
		g.Blocks = int64(l.Blocks)
		return
	}
	waves := unit.Time(opaqueWaves)
	for g.Time%waves != 0 { // they are to end exactly when it does
		waves--
	}
	g.Blocks, g.Time = int64(r.Device.GPU.SMs)*int64(waves), g.Time/waves
}

// evenly sets blocks with equal parts of a kernel's FLOPs and bytes. The grid of an opaque kernel
// is not known: its blocks fill all SMs.
func (r *Rules) evenly(g *Grid, rank int32, l *schedule.Launch) {
	op := g.Op
	g.even, g.isEven = unit.Bytes(op.Moved()), true
	switch {
	case op.Kind != kernel.Opaque:
		g.Blocks = op.Blocks(g.Tile)
	case l != nil && l.Blocks > 0:
		g.Blocks = int64(l.Blocks)
	default:
		g.Blocks = int64(r.Device.GPU.SMs) * opaqueWaves
	}
	if g.Blocks > 0 {
		g.Time = r.Slowed(rank, r.arithmetic(op, over(op.FLOPs(), g.Blocks), int64(r.PerSM(l))))
	}
}

// arithmetic returns how long a block computes a number of operations on its part of an SM, rounded
// up.
func (r *Rules) arithmetic(op *kernel.Op, flops, perSM int64) unit.Time {
	gpu := &r.Device.GPU
	peak, share := peakOf(gpu, op)
	if peak == 0 || flops == 0 {
		return 0
	}
	// flops / (peak · share / SMs / perSM), where share is in millionths
	work := new(big.Int).Mul(big.NewInt(flops), big.NewInt(int64(gpu.SMs)*perSM))
	work.Mul(work, big.NewInt(int64(unit.Second)))
	work.Mul(work, big.NewInt(int64(whole)))
	speed := new(big.Int).Mul(big.NewInt(int64(peak)), big.NewInt(int64(share)))
	time, rest := work.QuoRem(work, speed, new(big.Int))
	if rest.Sign() > 0 {
		time.Add(time, big.NewInt(1))
	}
	if !time.IsInt64() {
		return unit.Forever
	}
	return min(unit.Time(time.Int64()), unit.Forever)
}

// peakOf returns the operations per second with which all SMs of a device compute an operation, and
// the share of that peak that is reached. 0 stands for no limit: the device gives no peak.
//
// A matmul uses the matrix units for its operands' type. float32 does not: it would be rounded to
// TF32, which PyTorch does not do by default and the numeric model does not do at all. Without such
// units a matmul uses the vector peak of its type. Attention is priced as a matmul, and so is what
// states its FLOPs: as one of bfloat16 if it has no operands. All else is computed in float64 where
// an operand has that type, else in float32. The float32 peak also stands for vector peaks that the
// device does not give.
func peakOf(gpu *device.GPU, op *kernel.Op) (device.FLOPS, unit.Share) {
	of := op.A
	switch {
	case op.Kind == kernel.Opaque && of == 0:
		of = dtype.BFloat16
	case op.IsMatmul() || op.Kind == kernel.Attention || op.Kind == kernel.Opaque:
	default:
		if op.A == dtype.Float64 || op.B == dtype.Float64 {
			if p := gpu.Vector.Float64; p > 0 {
				return p, whole
			}
		}
		return gpu.Vector.Float32, whole
	}
	share := cmp.Or(gpu.MatmulEfficiency, whole)
	if of == dtype.Float8E4M3 || of == dtype.Float8E5M2 {
		share = cmp.Or(gpu.Float8Efficiency, share)
	}
	if p := gpu.Tensor.Of(of); p > 0 && of != dtype.Float32 {
		return p, share
	}
	share = cmp.Or(gpu.VectorEfficiency, share)
	if p := gpu.Vector.Of(of); p > 0 {
		return p, share
	}
	return gpu.Vector.Float32, share
}

// bytes returns what n blocks, from one on, move between SMs and memory when they run together:
// their results, and each operand once. Blocks of one wave go through a matmul's K in step: the
// first read of an operand comes from memory, and the cache serves the others. The cache also holds
// what the latest blocks before them have touched, as far as it has room.
func (g *Grid) bytes(from, n int64) unit.Bytes {
	op := g.Op
	switch {
	case n == 0:
		return 0
	case g.isEven:
		return partOf(g.even, from+n, g.Blocks) - partOf(g.even, from, g.Blocks)
	case op.Kind == kernel.Opaque:
		return 0
	}
	if g.Split > 1 {
		all := g.whole()
		return partOf(all, from+n, g.Blocks) - partOf(all, from, g.Blocks)
	}
	if op.IsMatmul() {
		kept := g.kept(from)
		return g.touched(kept, from+n) - g.touched(kept, from)
	}
	elements := g.before(from+n) - g.before(from)
	read := int64(0)
	for _, t := range op.Operands() {
		read += int64(t.Type.Width())
	}
	switch op.Kind {
	case kernel.Sum, kernel.Mean:
		read *= op.In.Lengths()[op.Axis]
	case kernel.Expand:
		return unit.Bytes(unit.MultiplyCapped((elements+op.N-1)/max(op.N, 1), read) +
			unit.MultiplyCapped(elements, int64(op.Out.Width())))
	}
	return unit.Bytes(unit.MultiplyCapped(elements, read+int64(op.Out.Width())))
}

// Starts reports whether the kernel takes time besides its blocks.
func (g *Grid) Starts() bool { return g.start > 0 }

// Moves reports whether the blocks read and write memory.
func (g *Grid) Moves() bool { return g.isEven || g.Op.Kind != kernel.Opaque }

// before returns how many elements of the result the blocks before one write.
func (g *Grid) before(block int64) int64 {
	if block == g.Blocks {
		return g.Op.Output().Shape.Elements()
	}
	return g.Op.Block(g.Tile, block).Out.At
}

// Wave returns the time and the bytes of n blocks, from one on, that run together and have the
// memory to themselves. The time is the longer of their arithmetic and their bytes, with the
// unhidden part of the shorter. The kernel's first blocks add its start.
func (g *Grid) Wave(from, n int64) (takes unit.Time, bytes unit.Bytes) {
	takes = g.Time
	if g.memory > 0 {
		if bytes = g.bytes(from, n); g.unhidden > 0 || g.start > 0 {
			takes = g.overlapped(takes, bytes.Over(g.memory))
		}
	}
	if from == 0 {
		takes += g.start
	}
	return min(takes, unit.Forever), bytes
}

// overlapped returns how long arithmetic and memory take at the same time.
func (g *Grid) overlapped(a, b unit.Time) unit.Time {
	return min(max(a, b)+unit.Time(partOf(unit.Bytes(min(a, b)), int64(g.unhidden), int64(whole))),
		unit.Forever)
}

// Resident returns how long the whole grid computes on places that its blocks keep: the arithmetic
// of its waves. It also returns the bytes that all waves move.
func (g *Grid) Resident(places int64) (time unit.Time, n unit.Bytes) {
	for from := int64(0); from < g.Blocks; from += places {
		time = min(time+g.Time, unit.Forever)
		moved := g.bytes(from, min(places, g.Blocks-from))
		n = unit.Bytes(unit.AddCapped(int64(n), int64(moved)))
	}
	if g.unhidden > 0 && g.memory > 0 {
		time = g.overlapped(time, n.Over(g.memory))
	}
	return time, n
}

// CapOf returns the least rate, in units of 2⁻²⁰ B/s, at which n bytes take no longer than a time.
// It is the cap of a wave, whose arithmetic sets the pace of its bytes.
func CapOf(n unit.Bytes, t unit.Time) uint64 {
	w := WorkOf(n)
	if t == 0 || w.hi >= uint64(t) {
		return NoCap
	}
	return w.ceilOver(uint64(t))
}
