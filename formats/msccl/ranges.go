package msccl

import (
	"collsim/formats/internal/foreign"
	"collsim/unit"
)

// tiling describes how the runtime executes the steps of a file at some sizes. It moves as many
// chunks at once as fit a slot of a connection, so a step of cnt chunks is ⌈cnt/atOnce⌉ messages.
// Where a slot does not hold a chunk, the whole program runs once for each tile.
type tiling struct {
	atOnce      int32
	least, most int64 // elements of a chunk; most 0 is unlimited
}

// tilings lists all tilings of the file, from the smallest sizes on. Moving more chunks at once
// than the largest cnt makes no difference. Neither do more than two tiles, since tiles share no
// elements and no messages.
func (l *lowering) tilings() []tiling {
	place, largest := l.tile, int32(1)
	for _, blocks := range l.transfers {
		for _, list := range blocks {
			for i := range list {
				largest = max(largest, list[i].count)
			}
		}
	}
	var all []tiling
	least := int64(1)
	for n := min(largest, maxCount-1); n > 0; n-- {
		if most := place / int64(n); most >= least {
			all = append(all, tiling{n, least, most})
			least = most + 1
		}
	}
	return append(all, tiling{1, place + 1, 0})
}

// ranges lists the ranges of sizes in which the file is the same schedule with messages of other
// sizes. Each has a function that reads the file at one of its sizes.
func (l *lowering) ranges() []foreign.Range {
	var all []foreign.Range
	chunks, grain := int64(l.program.chunks), l.grain()
	bytes := func(chunk int64) unit.Bytes {
		return unit.Bytes(chunk * chunks * int64(l.spec.Type.Width()))
	}
	for _, w := range l.tilings() {
		first := (w.least + grain - 1) / grain * grain
		last := w.most / grain * grain
		if w.most > 0 && first > last {
			continue // no size has such chunks
		}
		r := foreign.Range{From: bytes(first), To: bytes(last), Steps: l.steps(w)}
		if l.chunk < w.least || w.most > 0 && l.chunk > w.most {
			o := *l.options
			o.Count, o.Bytes = 0, r.From
			r.Read = func() (*foreign.File, error) { return lower(l.program, l.scanner, &o) }
		}
		all = append(all, r)
	}
	return all
}

// grain returns the common divisor of the elements of a chunk, over all sizes that the runtime
// accepts.
func (l *lowering) grain() int64 {
	switch ranks := int64(l.ranks); {
	case !inBlocks(l.spec.Kind, 0):
		return 1
	case l.runtime.perRank: // the chunks divide the count of a rank
		return ranks
	default:
		return ranks / unit.GCD(ranks, int64(l.program.chunks))
	}
}

// steps returns the number of steps of the schedule with a tiling, for two tiles where there are
// several.
func (l *lowering) steps(w tiling) (n int64) {
	for _, blocks := range l.transfers {
		for _, list := range blocks {
			for i := range list {
				n += int64((list[i].count + w.atOnce - 1) / w.atOnce)
			}
		}
	}
	if w.most == 0 {
		n *= 2
	}
	return n
}
