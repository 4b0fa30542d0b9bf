package mscclpp

import (
	"cmp"
	"slices"

	"collsim/schedule"
)

// written is a thread block of a plan that is being written.
type written struct {
	lane  int
	items []item
}

// blockPair is two thread blocks of a rank: the second waits for the first.
type blockPair struct{ first, second int }

// channelEnds names a channel: thread blocks of two ranks.
type channelEnds struct{ from, fromBlock, to, toBlock int }

// ownOps are the operations that a thread block has besides those of its acts: two to begin and two
// to end where a lane goes on in another one, and those that report that messages have been read.
const ownOps = 14

// divide gives each lane thread blocks: as many acts in one as the executor holds.
func (x *exporter) divide() error {
	x.blocks = make([][]written, len(x.lanes))
	x.sems = make([]map[blockPair]int, len(x.lanes))
	for rank := range x.lanes {
		x.sems[rank] = map[blockPair]int{}
		x.await(rank)
		for lane := range x.lanes[rank] {
			first := len(x.blocks[rank])
			for i := range x.lanes[rank][lane] {
				a := &x.lanes[rank][lane][i]
				items := x.compose(rank, a)
				ops := len(items)
				if len(a.awaits) > 0 {
					ops += 2
				}
				if a.posted > 0 {
					ops += 2
				}
				last := len(x.blocks[rank]) - 1
				if last < first || len(x.blocks[rank][last].items)+ops > maxOps-ownOps {
					x.blocks[rank] = append(x.blocks[rank], written{lane: lane})
					last++
				}
				if ops > maxOps-ownOps {
					return tooMany(rank, last, ops, "operations for one step", maxOps-ownOps)
				}
				a.block = last
				x.assign(a, last)
				x.append(rank, lane, a, items)
			}
		}
	}
	return nil
}

// assign records the block that puts or reads each message.
func (x *exporter) assign(a *act, block int) {
	for _, m := range a.out {
		x.messages[m].sends = block
	}
	for _, f := range a.sources {
		if f.message >= 0 {
			x.messages[f.message].reads = block
		}
	}
}

// await finds the posts that other lanes await. It drops a lane's waits for its own posts, and
// those for posts that it knows of by an earlier wait.
func (x *exporter) await(rank int) {
	wanted := map[schedule.Event]bool{}
	for lane := range x.lanes[rank] {
		known := map[int32]int32{int32(lane): 1 << 30}
		for i := range x.lanes[rank][lane] {
			a := &x.lanes[rank][lane][i]
			a.awaits = slices.DeleteFunc(a.awaits, func(e schedule.Event) bool {
				return e.Value <= known[e.Lane]
			})
			for _, e := range a.awaits {
				known[e.Lane] = max(known[e.Lane], e.Value)
				wanted[e] = true
			}
		}
	}
	x.wanted = append(x.wanted, wanted)
}

// append appends an act to its block, with places for the semaphores that order it.
func (x *exporter) append(rank, lane int, a *act, items []item) {
	b := &x.blocks[rank][a.block]
	a.acquire, a.release = -1, -1
	if len(a.awaits) > 0 {
		a.acquire = len(b.items)
		b.items = append(b.items, item{name: "sem_acquire"}, separator)
	}
	b.items = append(b.items, items...)
	if x.wanted[rank][schedule.Event{Lane: int32(lane), Value: a.posted}] {
		a.release = len(b.items)
		b.items = append(b.items, item{name: "sem_release"}, separator)
	}
}

// order gives the acts of a rank their semaphores. There is one for each pair of blocks where one
// waits for the other; its k-th release meets its k-th acquire.
func (x *exporter) order(rank int) error {
	posts, waits := map[schedule.Event]int{}, map[schedule.Event][]int{} // blocks
	for lane, acts := range x.lanes[rank] {
		for _, a := range acts {
			posts[schedule.Event{Lane: int32(lane), Value: a.posted}] = a.block
			for _, e := range a.awaits {
				waits[e] = append(waits[e], a.block)
			}
		}
	}
	for lane, acts := range x.lanes[rank] {
		for _, a := range acts {
			items := x.blocks[rank][a.block].items
			var acquired, released []int32
			for _, e := range a.awaits {
				acquired = append(acquired, x.semaphore(rank, posts[e], a.block))
			}
			if a.release >= 0 {
				for _, block := range waits[schedule.Event{Lane: int32(lane), Value: a.posted}] {
					released = append(released, x.semaphore(rank, a.block, block))
				}
				items[a.release].sems = released
			}
			if a.acquire >= 0 {
				items[a.acquire].sems = acquired
			}
			if n := max(len(acquired), len(released)); n > maxSemsPerOp {
				return tooMany(rank, a.block, n, "semaphores at once", maxSemsPerOp)
			}
		}
	}
	return nil
}

// semaphore returns the number of the semaphore of a pair of blocks.
func (x *exporter) semaphore(rank, first, second int) int32 {
	pair := blockPair{first, second}
	n, known := x.sems[rank][pair]
	if !known {
		n = len(x.sems[rank])
		x.sems[rank][pair] = n
	}
	return int32(n)
}

// tie makes a block of a lane begin after the one before it.
func (x *exporter) tie(rank int) {
	for i := 1; i < len(x.blocks[rank]); i++ {
		before, b := &x.blocks[rank][i-1], &x.blocks[rank][i]
		if before.lane != b.lane {
			continue
		}
		n := x.semaphore(rank, i-1, i)
		before.items = append(before.items, separator, item{name: "sem_release", sems: []int32{n}})
		b.items = append([]item{{name: "sem_acquire", sems: []int32{n}}, separator}, b.items...)
	}
}

// endsOf returns the channel of a message. Where both blocks are the only ones of their lanes, one
// channel serves both directions.
func (x *exporter) endsOf(m int) channelEnds {
	p := &x.messages[m]
	if p.from > p.to && x.isAlone(p.from, p.sends) && x.isAlone(p.to, p.reads) {
		return channelEnds{p.to, p.reads, p.from, p.sends}
	}
	return channelEnds{p.from, p.sends, p.to, p.reads}
}

// isAlone reports whether a block is the only one of its lane.
func (x *exporter) isAlone(rank, block int) bool {
	list := x.blocks[rank]
	isOther := func(i int) bool {
		return i < 0 || i >= len(list) || list[i].lane != list[block].lane
	}
	return isOther(block-1) && isOther(block+1)
}

// acknowledge makes each block end by a signal to the senders that it has read what they put. The
// last block of a lane waits for such signals: then the next launch may overwrite what was put.
func (x *exporter) acknowledge(rank int) {
	var sent []int // a message of each channel
	isRead, isSent := map[channelEnds]bool{}, map[channelEnds]bool{}
	for i := range x.blocks[rank] {
		b := &x.blocks[rank][i]
		var read []int
		for _, o := range b.items {
			for _, m := range o.messages {
				seen, list := isSent, &sent
				if o.name == "wait" {
					seen, list = isRead, &read
				}
				if c := x.endsOf(m); !seen[c] {
					seen[c] = true
					*list = append(*list, m)
				}
			}
		}
		b.items = append(b.items, inParts("signal", read)...)
		if i+1 == len(x.blocks[rank]) || x.blocks[rank][i+1].lane != b.lane {
			b.items = append(append(b.items, separator), inParts("wait", sent)...)
			sent = nil
		}
	}
}

// connect lists the channels of all ranks: by peer, and in the same order at both ends.
func (x *exporter) connect() {
	x.channels = make([][]channelEnds, len(x.lanes))
	seen := map[channelEnds]bool{}
	for m := range x.messages {
		if c := x.endsOf(m); !seen[c] {
			seen[c] = true
			x.channels[c.from] = append(x.channels[c.from], c)
			x.channels[c.to] = append(x.channels[c.to], c)
		}
	}
	for rank, list := range x.channels {
		slices.SortFunc(list, func(a, b channelEnds) int {
			return cmp.Or(cmp.Compare(a.peer(rank), b.peer(rank)), cmp.Compare(a.from, b.from),
				cmp.Compare(a.fromBlock, b.fromBlock), cmp.Compare(a.toBlock, b.toBlock))
		})
	}
}

// peer returns the rank at the other end.
func (c channelEnds) peer(rank int) int { return c.from + c.to - rank }

// tidied drops the separators that separate nothing.
func tidied(items []item) (list []item) {
	for _, o := range items {
		if o.name == "nop" && (len(list) == 0 || list[len(list)-1].name == "nop") {
			continue
		}
		list = append(list, o)
	}
	for len(list) > 0 && list[len(list)-1].name == "nop" {
		list = list[:len(list)-1]
	}
	return list
}
