package mscclpp

import (
	"fmt"
	"slices"
	"sort"

	"collsim/schedule"
)

// write is a range of packets that a node writes into a rank's scratch buffer.
type write struct {
	put
	rank     int32
	from, to int64
	readers  []int32 // the first node of each lane that awaits it
}

// flags holds the writes to a rank's scratch buffer, by the intervals between their ends.
type flags struct {
	starts  []int64
	writers [][]int32 // writes to the interval that begins there
}

// maxOverlaps bounds the intervals of all writes together.
const maxOverlaps = 1 << 22

// maxLooks bounds the comparisons of readers with writes.
const maxLooks = 1 << 26

// pairPackets finds the writes whose packets each node awaits. Within a launch a flag is raised
// once: if several nodes write a word, its readers continue after any of them.
func (l *lowering) pairPackets() error {
	writes := l.packetWrites()
	byRank, err := l.intervals(writes)
	if err != nil {
		return err
	}
	for rank := range l.lanes {
		for _, lane := range l.lanes[rank] {
			known := map[int32]bool{} // writes that the lane has awaited
			for _, i := range lane {
				if l.looks > maxLooks {
					return fmt.Errorf("packets are read where more than %d writes overlap", maxLooks)
				}
				for _, w := range l.awaited(i, writes, &byRank[rank]) {
					if !known[w] {
						known[w] = true
						writes[w].readers = append(writes[w].readers, i)
					}
				}
			}
		}
	}
	numbers := map[[2]int32]int32{} // of packets, by rank and lane
	for w := range writes {
		n := &l.nodes[writes[w].node]
		l.deliver(&writes[w], numbers, [2]int32{n.rank, n.lane})
	}
	return nil
}

// packetWrites lists the writes of packets.
func (l *lowering) packetWrites() []write {
	var writes []write
	for i := range l.nodes {
		for j := range l.nodes[i].dst {
			x := &l.nodes[i].dst[j]
			owners := x.team
			switch x.letter {
			case 'p', 'R':
				owners = []int32{x.rank}
			case 'S':
			default:
				continue
			}
			for _, rank := range owners {
				if x.n > 0 {
					writes = append(writes, write{put: put{int32(i), int32(j)}, rank: rank, from: x.off,
						to: x.off + x.n})
				}
			}
		}
	}
	return writes
}

// intervals divides every rank's scratch buffer at the ends of writes.
func (l *lowering) intervals(writes []write) ([]flags, error) {
	byRank := make([]flags, len(l.plan.gpus))
	for _, w := range writes {
		f := &byRank[w.rank]
		f.starts = append(f.starts, w.from, w.to)
	}
	for rank := range byRank {
		f := &byRank[rank]
		slices.Sort(f.starts)
		f.starts = slices.Compact(f.starts)
		f.writers = make([][]int32, len(f.starts))
	}
	overlaps := 0
	for i, w := range writes {
		f := &byRank[w.rank]
		for k := f.at(w.from); f.starts[k] < w.to; k++ {
			f.writers[k] = append(f.writers[k], int32(i))
			if overlaps++; overlaps > maxOverlaps {
				return nil, fmt.Errorf("packets overlap in more than %d places", maxOverlaps)
			}
		}
	}
	return byRank, nil
}

// at returns the interval that begins at off or, if none does, the next.
func (f *flags) at(off int64) int {
	return sort.Search(len(f.starts), func(k int) bool { return f.starts[k] >= off })
}

// awaited returns the writes that a node's packets await.
func (l *lowering) awaited(i int32, writes []write, f *flags) []int32 {
	var all []int32
	for s := range l.nodes[i].src {
		x := &l.nodes[i].src[s]
		if x.letter != 'p' || x.n == 0 {
			continue
		}
		k := f.at(x.off)
		if k == len(f.starts) || f.starts[k] > x.off {
			k--
		}
		gap := k < 0
		for ; k >= 0 && k < len(f.starts) && f.starts[k] < x.off+x.n; k++ {
			gap = gap || len(f.writers[k]) == 0
			l.looks += 1 + len(f.writers[k])
			if w := l.first(i, f.writers[k], writes); w >= 0 {
				all = append(all, w)
			}
		}
		if gap {
			l.wanting(i, "%s reads packets of scratch chunk %d that nobody writes",
				l.nodes[i].op.what.name, x.index)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// first returns the one of a word's writers that a reader awaits. It is −1 if any of several may
// come first, so that none is certain to precede the reader.
func (l *lowering) first(i int32, writers []int32, writes []write) int32 {
	reader := &l.nodes[i]
	alone := int32(-1)
	for k, w := range writers {
		n := &l.nodes[writes[w].node]
		if n.rank == reader.rank && n.lane == reader.lane && writes[w].node < i {
			return w // it has seen that flag raised
		}
		if k == 0 {
			alone = w
		} else if first := &l.nodes[writes[writers[0]].node]; n.rank != first.rank ||
			n.lane != first.lane {
			alone = -1
			l.note("packets of scratch chunk %d of rank %d are written more than once in a launch: "+
				"whoever reads them goes on after any of the writes", l.chunkOf(&writes[w]), reader.rank)
		}
	}
	return alone
}

// chunkOf returns the chunk in which a write begins.
func (l *lowering) chunkOf(w *write) int64 { return w.from / max(1, l.chunk) }

// deliver orders the readers of a write after it. A single lane on another rank gets the data's own
// message. Several get a flag each, after the data. Lanes of the same rank await an event.
func (l *lowering) deliver(w *write, numbers map[[2]int32]int32, lane [2]int32) {
	writer := &l.nodes[w.node]
	var far []int32
	for _, i := range w.readers {
		reader := &l.nodes[i]
		reader.hears = true
		switch {
		case reader.rank != writer.rank:
			far = append(far, i)
		case reader.lane != writer.lane:
			reader.awaits = append(reader.awaits, w.node)
		case i <= w.node:
			l.wanting(i, "%s reads packets that its own thread block writes later",
				reader.op.what.name)
		}
	}
	alone := len(far) == 1 && writer.dst[w.dst].letter == 'R'
	for _, i := range far {
		reader := &l.nodes[i]
		number := tag(numbers[lane], tagPacket)
		numbers[lane]++
		class := schedule.Free
		if alone {
			class = schedule.Puts
		}
		to := schedule.Peer{Rank: reader.rank, Lane: reader.lane, Class: class, Tag: number}
		if alone {
			l.observe(w.put, to)
		} else {
			l.signal(w.node, to, false)
		}
		reader.waits = append(reader.waits, schedule.Source{Kind: schedule.Message,
			Peer: schedule.Peer{Rank: writer.rank, Lane: writer.lane, Class: class, Tag: number}})
	}
}
