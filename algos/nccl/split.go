package nccl

import (
	"math/bits"

	"collsim/collective"
	"collsim/schedule"
)

// What an element of NCCL's is: it moves what it does not add as bytes.
func elementBytes(s *collective.Spec) int64 {
	if s.Kind.Reduces() {
		return int64(s.Type.Width())
	}
	return 1
}

// part is a channel's share of a vector, or of every rank's block, and its chunk, all in
// elements.
type part struct{ count, chunk int64 }

// parts cuts a call into channels, one behind the other (enqueue.cc, scheduleCollTasksToPlan).
// Traffic is what is sent for a byte of the count, by LL four times as much.
func (c *Choice) parts(s *collective.Spec) (all []part) {
	const least = 32 << 10 // of a channel, in traffic
	elem := elementBytes(s)
	count := s.Count * int64(s.Type.Width()) / elem
	each := int64(1)
	switch s.Kind {
	case collective.AllReduce:
		each = 2
	case collective.AllGather, collective.ReduceScatter:
		each = int64(s.Ranks)
	}
	if c.Protocol == LL {
		each *= 4
	}
	traffic := up(max(least, count*elem*each)/int64(min(c.Channels, c.all)), 16) * 16
	cell := up(up(least, each), 16) * 16 // bytes
	cells := up(count*elem, cell)
	share := min(cells, up(traffic, cell*each)) // cells of a channel
	lo := min(cells, share)
	if c.all == 1 {
		lo = cells
	}
	mid, hi := (cells-lo)/share, (cells-lo)%share
	if n := 1 + mid + min(hi, 1); n > int64(c.all) { // more than there are
		mid = int64(c.all) - 2
		share = (cells - lo) / (mid + 1)
		hi = share + (cells-lo)%(mid+1)
	}
	if hi == 0 && mid > 0 {
		hi, mid = share, mid-1
	}
	all = append(all, part{count: lo * cell / elem})
	for range mid {
		all = append(all, part{count: share * cell / elem})
	}
	if hi > 0 {
		all = append(all, part{count: hi * cell / elem})
	}
	all[len(all)-1].count -= cells*cell/elem - count
	for i := range all {
		all[i].chunk = c.chunk(s, all[i].count*elem) / elem
	}
	return all
}

// sends returns how many bytes some lane sends at least, and some rank to others of its node, flags
// included. Ranks of a ring or a tree send together what each of them but one has to pass on, once
// or, of an all_reduce, twice: some rank sends the mean of that, and some lane its share of the
// largest part; in a tree one lane of a rank sends up, another down. Of several nodes each has a
// chain of its ranks, whose last one sends to another node. Of other algorithms both are 0: their
// lanes do not wait for what they send.
func (c *Choice) sends(s *collective.Spec) (lane, rank int64) {
	if s.Empty() || c.Algorithm != Ring && c.Algorithm != Tree {
		return 0, 0
	}
	n := int64(s.Ranks)
	for _, p := range c.parts(s) {
		bytes := p.count * elementBytes(s)
		rank += bytes
		lane = max(lane, bytes)
	}
	each := func(bytes int64) int64 {
		switch {
		case s.Kind == collective.AllReduce:
			return 2 * bytes / n * (n - 1)
		case byBlocks(s):
			return bytes * (n - 1)
		}
		return bytes
	}
	if rank = each(rank); c.Algorithm == Ring {
		lane = each(lane)
	}
	if perNode := int64(c.model.perNode); c.model.nodes > 1 {
		rank = rank / perNode * (perNode - 1)
	}
	with := func(bytes int64) int64 { return bytes + bytes/120*c.Protocol.flags() }
	return with(lane), with(rank)
}

// up returns a/b rounded up.
func up(a, b int64) int64 { return (a + b - 1) / b }

// chunk returns the bytes of a chunk of a channel that has so many (enqueue.cc,
// calcCollChunking): what the slots of a chunk hold, less where that leaves too few chunks to
// follow one another.
func (c *Choice) chunk(s *collective.Spec, bytes int64) int64 {
	if s.Kind == collective.AllGather || s.Kind == collective.ReduceScatter {
		bytes *= int64(s.Ranks)
	}
	steps, _ := c.steps(s.Kind)
	size := c.model.buffer(c.Protocol) / slots * steps
	switch c.Protocol {
	case LL:
		size /= 2
	case LL128:
		size = size / 16 * 15
	}
	switch {
	case c.Way == Way{Tree, LL128}:
		perNode := float64(c.model.perNode)
		levels := 1 + float64(bits.Len(uint(c.model.nodes))-1) + float64(.1*perNode)
		for float64(bytes/size) < levels*64/perNode && size > 128<<10 {
			size /= 2
		}
		for float64(bytes/size) < levels*16/perNode && size > 32<<10 {
			size /= 2
		}
	case c.Algorithm.usesSwitch():
		size = c.switchChunk(bytes)
	case c.Algorithm == PAT:
		times := int64(32)
		if s.Kind == collective.ReduceScatter {
			times = 16
		}
		for size*times > bytes && size > 64<<10 {
			size /= 2
		}
	}
	return size / c.Protocol.grain() * c.Protocol.grain()
}

// switchChunk returns the bytes of a head's chunk: less for short parts, so that there are enough
// loops.
func (c *Choice) switchChunk(bytes int64) int64 {
	most, mostOfTree := c.model.switchChunks()
	steps := []struct{ times, size int64 }{{64, 64 << 10}, {8, 32 << 10}, {2, 16 << 10}}
	at := int64(c.model.heads()) // chunks at a time
	if c.model.overNetwork(c.Algorithm) {
		at *= int64(c.Channels)
		if c.model.bandwidth(collective.AllReduce, c.Way) < 150 {
			most = min(most, 32<<10)
		}
	}
	if c.Algorithm == NVLSTree {
		most = min(most, mostOfTree)
		steps = []struct{ times, size int64 }{{32, 256 << 10}, {16, 128 << 10}, {4, 64 << 10},
			{1, 32 << 10}}
	}
	for _, s := range steps {
		if bytes < s.times*at*most {
			most = min(most, s.size)
		}
	}
	return most
}

// handsLines reports whether a call hands on parts of a slice as they come. LL and LL128 do so,
// word by word and line by line; where ranks form a chain or a tree, that hides most of a slice's
// time at each of them. On a ring every rank sends all the time: whole slices take as long.
func (c *Choice) handsLines(kind collective.Kind) bool {
	return c.Protocol != Simple && (c.Algorithm == Tree || kind.Rooted())
}

// mostPieces is the number of pieces of a slice of LL and LL128 in chains and trees.
const mostPieces = 8

// pass returns the bytes of data that the threads of a channel send at once. 512 threads of LL
// send a line of 8 each; 640 threads of LL128 send 8 words of 8, 15 of 16 of them data
// (device/prims_ll.h, prims_ll128.h).
func (p Protocol) pass() int64 { return [...]int64{LL: 512 * 8, LL128: 640 * 64 / 16 * 15}[p] }

// pieces says where a buffer is cut, in elements of the collective's type: a piece is a slice of
// a chunk. In one loop a channel does a chunk, or in a ring's all_reduce one chunk for each rank.
type pieces struct {
	ends           []int64
	first          []int // of a channel
	loops          []int // of a channel
	chunks, slices int   // of a loop, of a chunk
}

// piecesOf cuts a call.
func (c *Choice) piecesOf(s *collective.Spec) *pieces {
	steps, slice := c.steps(s.Kind)
	x := &pieces{chunks: 1, slices: int(steps / slice)}
	if c.Algorithm == Ring && s.Kind == collective.AllReduce {
		x.chunks = s.Ranks
	}
	elem, at := elementBytes(s), int64(0)
	least := c.model.buffer(c.Protocol) / slots / elem * slice / 32 // of a slice
	if c.handsLines(s.Kind) {
		x.slices *= c.pieces
		least = up(c.Protocol.pass(), elem)
	}
	for _, p := range c.parts(s) {
		if c.Algorithm.usesSwitch() && s.Kind == collective.AllReduce { // a chunk for every head
			p.chunk *= int64(c.model.heads())
		}
		x.first = append(x.first, len(x.ends))
		loops := 0
		for rest := p.count; rest > 0; loops++ {
			chunk, loop := p.chunk, min(rest, p.chunk*int64(x.chunks))
			if x.chunks > 1 && rest < p.chunk*int64(x.chunks) {
				chunk = up(up(rest, int64(x.chunks)), 16/elem) * (16 / elem)
			}
			for i := range int64(x.chunks) {
				from := at + min(i*chunk, loop)
				n := min(chunk, at+loop-from)
				size := max(up(n, 16*int64(x.slices))*16, least)
				for k := range int64(x.slices) {
					x.ends = append(x.ends, from+min(n, (k+1)*size))
				}
			}
			at, rest = at+loop, rest-loop
		}
		x.loops = append(x.loops, loops)
	}
	for i := range x.ends { // of bytes that are elements
		x.ends[i] = x.ends[i] * elem / int64(s.Type.Width())
	}
	return x
}

// isEven reports whether all chunks of a loop are of equal sizes, slice by slice.
func (x *pieces) isEven() bool {
	for channel, loops := range x.loops {
		for loop := range loops {
			for i := range x.chunks * x.slices {
				if x.size(x.at(channel, loop, 0, i)) != x.size(x.at(channel, loop, 0, i%x.slices)) {
					return false
				}
			}
		}
	}
	return true
}

// size returns the elements of a piece.
func (x *pieces) size(i int) int64 {
	if i == 0 {
		return x.ends[0]
	}
	return x.ends[i] - x.ends[i-1]
}

// strip returns the number of a slice of all chunks of a loop.
func (x *pieces) strip(channel, loop, slice int) int {
	return x.first[channel]/x.chunks + loop*x.slices + slice
}

// ofStrip returns the number of a chunk's piece of a strip.
func (x *pieces) ofStrip(strip, chunk int32) int32 {
	slices := int32(x.slices)
	return (strip/slices*int32(x.chunks)+chunk)*slices + strip%slices
}

// at returns the number of a piece.
func (x *pieces) at(channel, loop, chunk, slice int) int {
	return x.first[channel] + (loop*x.chunks+chunk)*x.slices + slice
}

// byBlocks reports whether a kind has a block for every rank.
func byBlocks(s *collective.Spec) bool {
	return s.Kind == collective.AllGather || s.Kind == collective.ReduceScatter
}

// cuts returns the cuts of the buffers: a vector is cut into pieces, or each of the ranks' blocks
// is.
func cuts(s *collective.Spec, ends []int64, byRank bool) *[3]schedule.Cut {
	piece := schedule.Level{Axis: schedule.Tile, Split: schedule.Table, Ends: [][]int64{ends}}
	block := schedule.Level{Axis: schedule.Block, N: int64(s.Ranks)}
	one, each := schedule.Cut{piece}, schedule.Cut{block, piece}
	all := [3]schedule.Cut{schedule.Input: one, schedule.Output: one, schedule.Scratch: one}
	ranks := schedule.Cut{block, piece}
	ranks[0].ByRank = byRank
	switch s.Kind {
	case collective.AllGather:
		all[schedule.Output] = ranks
	case collective.ReduceScatter:
		all[schedule.Input], all[schedule.Scratch] = ranks, each
	}
	return &all
}
