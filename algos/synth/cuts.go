package synth

import "collsim/schedule"

// A strand is one of the equal parts of a root's block, and the tree down which it goes. Parts of
// equal trees have lanes of their own, as all have: so each gets an equal share of a link that it
// shares with others, which is what trees are made for.
type strand struct {
	*Tree
	part     int       // of the root's block, if all roots have as many
	children [][]int32 // by rank
}

// strands lists the strands of a forest by root and part.
func (f *Forest) strands() (list []strand) {
	for i := range f.Trees {
		t := &f.Trees[i]
		children := make([][]int32, len(t.Parent))
		for rank, parent := range t.Parent {
			if parent >= 0 {
				children[parent] = append(children[parent], int32(rank))
			}
		}
		for range t.Units {
			list = append(list, strand{t, len(list) % int(f.Units), children})
		}
	}
	return list
}

// ints converts ranks.
func ints(ranks []int32) []int {
	list := make([]int, len(ranks))
	for i, r := range ranks {
		list[i] = int(r)
	}
	return list
}

// part returns where the i-th of n nearly equal parts of a length ends; the first are larger.
func part(length, n, i int64) (end int64) {
	return (i+1)*(length/n) + min(i+1, length%n)
}

// table returns a cut of a buffer into blocks that end there, alike on all ranks or one row a rank.
func table(ends ...[]int64) schedule.Cut {
	return schedule.Cut{{Axis: schedule.Block, Split: schedule.Table, Ends: ends}}
}

// evenly cuts a vector into all strands.
func (f *Forest) evenly(length int64) schedule.Cut {
	var ends []int64
	for i := range f.Total {
		ends = append(ends, part(length, f.Total, i))
	}
	return table(ends)
}

// whole cuts a vector, which has a block for each root, into strands.
func (f *Forest) whole(length int64) schedule.Cut {
	var ends []int64
	for block := range int64(f.Roots) {
		from := part(length, int64(f.Roots), block-1)
		size := part(length, int64(f.Roots), block) - from
		for i := range f.Units {
			ends = append(ends, from+part(size, f.Units, i))
		}
	}
	return table(ends)
}

// own cuts the block of every rank into its own strands.
func (f *Forest) own(length int64) schedule.Cut {
	var ends []int64
	for i := range f.Units {
		ends = append(ends, part(length, f.Units, i))
	}
	return table(ends)
}

// fine cuts each block of a cut for channels, and these into tiles.
func fine(cut schedule.Cut, channels, tiles int) schedule.Cut {
	if channels > 1 {
		cut = append(cut, schedule.Level{Axis: schedule.Channel, N: int64(channels)})
	}
	if tiles > 1 {
		cut = append(cut, schedule.Level{Axis: schedule.Tile, N: int64(tiles)})
	}
	return cut
}
