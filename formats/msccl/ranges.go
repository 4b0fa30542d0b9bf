package msccl

import (
	"collsim/formats/internal/foreign"
	"collsim/unit"
)

// way is how the runtime carries the steps of a file out at some sizes: it moves so many chunks at
// once as fit a place of a connection, so that a step of cnt chunks is ⌈cnt/atOnce⌉ messages; and
// where a place does not hold a chunk, the whole program runs once a tile.
type way struct {
	atOnce      int32
	least, most int64 // elements of a chunk; most 0 is any number
}

// ways are all that there are, from the smallest sizes on. More chunks at once than the largest cnt
// make no difference, and neither do more tiles than two: each has elements and messages of its
// own.
func (l *lowering) ways() []way {
	place, largest := l.tile, int32(1)
	for _, blocks := range l.transfers {
		for _, list := range blocks {
			for i := range list {
				largest = max(largest, list[i].count)
			}
		}
	}
	var all []way
	least := int64(1)
	for n := min(largest, maxCount-1); n > 0; n-- {
		if most := place / int64(n); most >= least {
			all = append(all, way{n, least, most})
			least = most + 1
		}
	}
	return append(all, way{1, place + 1, 0})
}

// ranges are the sizes for which the file is the same schedule but for the sizes of messages, each
// with how it is read at one of them.
func (l *lowering) ranges() []foreign.Range {
	var all []foreign.Range
	chunks, grain := int64(l.program.chunks), l.grain()
	bytes := func(chunk int64) unit.Bytes {
		return unit.Bytes(chunk * chunks * int64(l.spec.Type.Width()))
	}
	for _, w := range l.ways() {
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

// grain is what divides the elements of a chunk, of every size that the runtime takes.
func (l *lowering) grain() int64 {
	switch ranks := int64(l.ranks); {
	case !inBlocks(l.spec.Kind, 0):
		return 1
	case l.runtime.perRank: // the chunks divide the count of a rank
		return ranks
	default:
		return ranks / gcd(ranks, int64(l.program.chunks))
	}
}

// steps is how many steps the schedule has that is carried out that way, of two tiles where they
// are several.
func (l *lowering) steps(w way) (n int64) {
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
