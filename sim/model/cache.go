package model

import (
	"sort"

	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/unit"
)

// The cache before a device's memory (decision 18): which operands the blocks of a matmul find in
// it, as other blocks of the kernel have read them. It depends on the order of the tiles, which is
// chosen here.

// goesDown reports whether the blocks of a matmul go down the columns of its tiles. The order is
// the one in which the matmul ends first if it has the device to itself. Of two that end together
// it is the one along the shorter side, as in CUTLASS (tile_scheduler_params.h,
// get_rasterization_order).
func (r *Rules) goesDown(g Grid, l *schedule.Launch) bool {
	places, stay := int64(r.Device.GPU.SMs)*int64(r.PerSM(l)), l != nil && l.Blocks > 0
	if stay {
		places = int64(l.Blocks)
	}
	rows, columns := g.sides()
	shorter := columns.tiles() > rows.tiles()
	if g.Blocks <= places || min(rows.tiles(), columns.tiles()) == 1 { // both orders are the same
		return shorter
	}
	var ends [2]unit.Time
	for i, down := range []bool{shorter, !shorter} {
		g.down = down
		ends[i] = g.Alone(places, stay)
	}
	return shorter == (ends[0] <= ends[1])
}

// Alone returns how long the grid takes on a number of places, for blocks, if nothing else uses the
// memory. Blocks run in waves; blocks that stay on their SMs run as a single one.
func (g *Grid) Alone(places int64, stay bool) (takes unit.Time) {
	if stay {
		time, n := g.Resident(places)
		return max(time, g.crosses(n))
	}
	for from := int64(0); from < g.Blocks; from += places {
		time, n := g.Wave(from, min(places, g.Blocks-from))
		takes = min(takes+max(time, g.crosses(n)), unit.Forever)
	}
	return takes
}

// crosses returns how long n bytes take at the bandwidth of the memory.
func (g *Grid) crosses(n unit.Bytes) unit.Time {
	if g.memory == 0 {
		return 0
	}
	return n.Over(g.memory)
}

// kept returns the first of the blocks before one whose operands and results are still in the
// cache: it holds the latest blocks that have touched no more than its size.
func (g *Grid) kept(block int64) int64 {
	if g.cache == 0 {
		return block
	}
	return int64(sort.Search(int(block), func(i int) bool {
		return g.touched(int64(i), block) <= g.cache
	}))
}

// side is an axis of a matmul's result: its length, and that of a tile, in elements.
type side struct{ length, tile int64 }

// tiles returns the number of tiles along the axis.
func (s side) tiles() int64 { return (s.length + s.tile - 1) / s.tile }

// upTo returns the elements of the axis in the tiles before one.
func (s side) upTo(tile int64) int64 { return min(tile*s.tile, s.length) }

// sides returns the two axes of a matmul's result.
func (g *Grid) sides() (rows, columns side) {
	return side{g.Op.M(), g.Tile.Rows}, side{g.Op.N, g.Tile.Columns}
}

// touched returns the bytes that the blocks of a matmul in [from, to) read and write, each element
// once: the rows and columns of the operands that their tiles need, and the tiles. Tiles are in the
// order of lines: rows of tiles, or columns where blocks go down.
func (g *Grid) touched(from, to int64) unit.Bytes {
	if from == to {
		return 0
	}
	op := g.Op
	lines, along := g.sides()
	if g.down {
		lines, along = along, lines
	}
	n := along.tiles()
	first, low, last, high := from/n, from%n, (to-1)/n, (to-1)%n
	rows, columns := lines.upTo(last+1)-lines.upTo(first), along.length
	switch {
	case last == first:
		columns = along.upTo(high+1) - along.upTo(low)
	case last == first+1 && high < low:
		columns += along.upTo(high+1) - along.upTo(low)
	}
	if g.down {
		rows, columns = columns, rows
	}
	before := func(block int64) int64 { // elements of the result
		line := block / n
		above := lines.upTo(line)
		return above*along.length + (lines.upTo(line+1)-above)*along.upTo(block%n)
	}
	read := op.K() * (rows*int64(op.A.Width()) + columns*int64(op.B.Width()))
	switch op.Scaling {
	case kernel.RowWise:
		read += (rows + columns) * int64(dtype.Float32.Width())
	case kernel.TensorWise:
		read += 2 * int64(dtype.Float32.Width())
	}
	if op.Bias != 0 {
		read += columns * int64(op.Bias.Width())
	}
	if op.ResultScale {
		read += int64(dtype.Float32.Width())
	}
	return unit.Bytes(read + (before(to)-before(from))*int64(op.Out.Width()))
}
