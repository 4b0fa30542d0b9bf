package msccl

import (
	"fmt"

	"collsim/schedule"
)

// Bounds on the steps of the unrolled tile loop: of all thread blocks, and of one that is too long
// to be rolled up into a loop again.
const (
	maxSteps    = 1 << 22
	maxTiles    = 1 << 20
	maxUnrolled = 1 << 19
	rolledUp    = 64
)

// unmatchedTag is above all channels: no receive has it.
const unmatchedTag = maxBlocks + 1

// assemble writes the program of every thread block once for each tile.
func (l *lowering) assemble() (*schedule.Schedule, error) {
	lanes := make([]int, l.ranks)
	steps, long, memory := int64(0), int64(0), int32(0)
	for g := range lanes {
		lanes[g] = max(1, len(l.transfers[g]))
		memory = max(memory, l.program.gpus[g].chunks[scratch])
		for _, list := range l.transfers[g] {
			n := int64(l.before(list)) * l.tiles
			if steps += n; len(list) > rolledUp && l.tiles > 1 {
				long += n
			}
		}
	}
	if steps > maxSteps || long > maxUnrolled {
		return nil, fmt.Errorf("%d tiles of %d bytes a chunk make %d steps, more than this reader "+
			"takes: a smaller size is expected", l.tiles, l.protocol.bytes, steps)
	}
	head := schedule.Schedule{Name: l.program.name, Spec: l.spec, Slots: l.protocol.slots, Slices: 1,
		Memory: int64(memory) * l.chunk}
	for b := range head.Cuts {
		head.Cuts[b] = l.cut(schedule.Buffer(b), head.Memory)
	}
	return schedule.Assemble(head, lanes, func(rank, lane int, add func(schedule.Step)) {
		if lane >= len(l.transfers[rank]) {
			return
		}
		for tile := range l.tiles {
			for i := range l.transfers[rank][lane] {
				l.write(spot{rank, lane, i, int32(tile)}, add)
			}
		}
	})
}

// spot is a transfer of a thread block of a GPU, in a tile.
type spot struct {
	rank, lane, index int
	tile              int32
}

// write adds the steps of a transfer: several if it has more chunks than the runtime moves at once.
// The runtimes' operators commute to the bit, so the order of message and local operand makes no
// difference; the one of the lower rank is on the left.
func (l *lowering) write(at spot, add func(schedule.Step)) {
	t := &l.transfers[at.rank][at.lane][at.index]
	b := &l.program.gpus[at.rank].blocks[at.lane]
	for c := int32(0); c < t.count; c += l.piece {
		n := min(l.piece, t.count-c)
		region := func(p operand, chunk int32) schedule.Region {
			return l.region(at, operand{p.buffer, chunk + c}, n)
		}
		step := schedule.Step{Round: t.round + at.tile, Post: t.flag && c+n == t.count}
		if t.kind.receives() {
			peer := l.peer(l.sender, connection{int(b.receive), at.rank, b.channel}, b.receive)
			step.From = append(step.From, schedule.Source{Kind: schedule.Message, Peer: peer})
		}
		if t.kind == reduce {
			step.From = append(step.From, schedule.Source{Region: region(t.to, t.to.chunk)})
		}
		if t.kind.reads() {
			step.From = append(step.From, schedule.Source{Region: region(t.from, t.from.chunk)})
		}
		for _, chunk := range t.more {
			step.From = append(step.From, schedule.Source{Region: region(t.from, chunk)})
		}
		if t.kind.receives() && t.kind.reads() && int(b.receive) > at.rank {
			step.From[0], step.From[1] = step.From[1], step.From[0]
		}
		if t.kind.writes() {
			step.To = []schedule.Region{region(t.to, t.to.chunk)}
		}
		if t.kind.sends() {
			peer := l.peer(l.receiver, connection{at.rank, int(b.send), b.channel}, b.send)
			step.Send = []schedule.Dest{{Peer: peer}}
		}
		if c == 0 {
			step.Await = l.events(at)
		}
		add(step)
	}
}

// events returns the events that a transfer awaits in a tile. Posts are counted over all tiles.
func (l *lowering) events(at spot) []schedule.Event {
	var events []schedule.Event
	for _, e := range l.awaits[at.rank][at.lane][at.index] {
		events = append(events, schedule.Event{Lane: e.Lane,
			Value: e.Value + at.tile*l.posts[at.rank][e.Lane]})
	}
	return events
}

// peer returns the thread block at the other end of a connection; if there is none, a lane that
// never answers.
func (l *lowering) peer(
	ends map[connection]int32, key connection, rank int32,
) schedule.Peer {
	if block, ok := ends[key]; ok {
		return schedule.Peer{Rank: rank, Lane: block, Tag: key.channel}
	}
	return schedule.Peer{Rank: rank, Tag: unmatchedTag + key.channel}
}

// region returns n chunks of a tile. The last chunk determines the buffer: where two buffers
// overlap, as in place, it decides whether the smaller one holds all chunks.
func (l *lowering) region(at spot, p operand, n int32) schedule.Region {
	p, _ = l.locate(at.rank, operand{p.buffer, p.chunk + n - 1})
	return schedule.Region{Buffer: [...]schedule.Buffer{schedule.Input, schedule.Output,
		schedule.Scratch}[p.buffer], Tile: at.tile, First: p.chunk - (n - 1), Run: n, Times: 1}
}

// cut divides a buffer into chunks, and into tiles if a tile does not hold a chunk.
func (l *lowering) cut(b schedule.Buffer, memory int64) schedule.Cut {
	longest, same := memory, true
	if b != schedule.Scratch {
		length := l.spec.In
		if b == schedule.Output {
			length = l.spec.Out
		}
		longest = 0
		for r := range l.ranks {
			n := length(r)
			same = same && (n == 0 || longest == 0 || n == longest)
			longest = max(longest, n)
		}
	}
	if longest == 0 {
		return nil
	}
	chunks := (longest + l.chunk - 1) / l.chunk
	level := schedule.Level{Axis: schedule.Block, Split: schedule.Even, N: chunks}
	if !same || longest%l.chunk != 0 {
		ends := make([]int64, chunks)
		for i := range ends {
			ends[i] = int64(i+1) * l.chunk
		}
		level = schedule.Level{Axis: schedule.Block, Split: schedule.Table, Ends: [][]int64{ends}}
	}
	cut := schedule.Cut{level}
	if l.tiles > 1 {
		cut = append(cut, schedule.Level{Axis: schedule.Tile, Split: schedule.Size, N: l.tile})
	}
	return cut
}
