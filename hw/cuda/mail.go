package cuda

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"collsim/hw"
	"collsim/hw/rank"
	"collsim/unit"
)

// Messages between machines go through the memory of both hosts. The sender's stream copies the
// bytes to its host, and then a 1 to a flag beside them. A host thread that sees the flag sends the
// bytes (wires.go). The receiving host stores them and sets its own flag, for which the receiver's
// stream waits before it copies the bytes to its GPU. On connections with a limited number of
// slots, the receipt goes back likewise, without bytes.
//
// All machines plan the whole schedule in the same order, and keep their own part. So all number
// the crossings alike. Each machine issues its calls in the order of the plan, where nothing
// precedes what it waits for. So machines cannot deadlock, even if a driver serializes independent
// calls.

// machines maps ranks to machines.
type machines struct{ count, self, ranks int }

// of returns the machine of a rank.
func (m machines) of(number int) int { return rank.WorkerOf(number, m.ranks, m.count) }

// A mail holds the traffic between machines in a repetition.
type mail struct {
	crossings []crossing
	left      []byte   // unused rest of a piece of host memory
	one       []uint64 // address of a word with the value 1, on each GPU
	places    [][]byte // memory for bytes from other machines
}

// A crossing notifies another machine of an event; it may carry the bytes of a message.
type crossing struct {
	from, to   int32 // machines
	rank, lane int   // that recorded the event
	bytes      []byte
	size       int64
	flag       *atomic.Uint32 // of this machine, if it is one of the two
}

// apart reports whether the ends of a connection are on different machines.
func (p *execution) apart(c *connection) bool {
	return p.places.of(int(c.From)) != p.places.of(int(c.To))
}

// inGraph reports whether an event of another machine belongs to the graph being planned.
func (p *execution) inGraph(c *connection, event int) bool {
	return p.graph != nil && p.apart(c) && p.events[event].in == p.graph
}

// post prepares every GPU for mail: each gets a word with the value 1. It does nothing on one
// machine.
func (p *execution) post() error {
	for _, g := range p.gpus {
		if p.places.count == 1 {
			return nil
		}
		at, err := p.device.allocate(g, flagSize)
		if err != nil {
			return err
		}
		p.mail.one = append(p.mail.one, uint64(at))
	}
	return nil
}

// flagSize is the size of a flag in bytes; it must be aligned to it.
const flagSize = 4

// pinned takes n bytes of host memory; small requests share a piece.
func (p *execution) pinned(n int64) ([]byte, error) {
	const piece, align = 1 << 20, 64
	n = (n + align - 1) / align * align
	m := &p.mail
	if n >= piece {
		return p.hostMemory(n)
	}
	if int64(len(m.left)) < n {
		var err error
		if m.left, err = p.hostMemory(piece); err != nil {
			return nil, err
		}
	}
	b := m.left[:n:n]
	m.left = m.left[n:]
	return b, nil
}

// hostMemory allocates pinned host memory for the run. All GPUs copy from and to it, and their
// streams can wait for its words. A schedule's demand depends on its connections, which may hold
// any number of messages. More than is free is refused while planning: the system cannot swap
// pinned memory, and would kill a process instead.
func (p *execution) hostMemory(n int64) ([]byte, error) {
	d := p.device
	if left, known := d.left(); known && n > left.Bytes {
		taken := 0
		for _, b := range d.pinned {
			taken += len(b)
		}
		return nil, &hw.Error{Call: "memory", Code: "too little", Rank: p.here[0].number, Lane: -1,
			Step: -1, Text: fmt.Sprintf("messages from and to other machines have %v, and %v more is "+
				"needed: %v has %v left", unit.Bytes(taken), unit.Bytes(n), left,
				unit.Bytes(left.Bytes))}
	}
	if err := d.on(p.gpus[0], "cuMemHostAlloc", address(&d.out.pointer), uintptr(n),
		hostPortable|hostMapped); err != nil {
		return nil, err
	}
	at := d.out.pointer
	b := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), n)
	d.pinned = append(d.pinned, b)
	return b, nil
}

// pin gives a place its host memory, if one end of the connection is on this machine.
func (p *execution) pin(c *connection, one *place) (err error) {
	from, to := p.places.of(int(c.From)), p.places.of(int(c.To))
	if from != p.places.self && to != p.places.self {
		return nil
	}
	one.host, err = p.pinned(one.n)
	if to == p.places.self {
		p.mail.places = append(p.mail.places, one.host)
	}
	return err
}

// staged returns the place that a lane writes a message to. For another machine, it is scratch
// memory on the lane's GPU.
func (p *execution) staged(l *lane, c *connection, one place) (place, error) {
	if !p.apart(c) || l.rank.remote {
		return one, nil
	}
	room, err := p.scratch(l, one.n)
	if err == nil {
		one.on, one.at = room[0].on, room[0].at
	}
	return one, err
}

// bring plans the copy of another machine's message to the lane's GPU.
func (p *execution) bring(l *lane, m *message) error {
	if m.crossing == 0 || m.bytes == 0 || l.rank.remote {
		return nil
	}
	room, err := p.scratch(l, m.bytes)
	if err != nil {
		return err
	}
	m.on, m.at = room[0].on, room[0].at
	l.brought = append(l.brought, op{kind: brings, to: room[0], host: start(m.host)})
	return nil
}

// hear plans that a lane waits for an event of another machine. A graph waits as a whole.
func (p *execution) hear(l *lane, number int) {
	if l.rank.remote {
		return
	}
	o := op{kind: hears, host: address(p.mail.crossings[number-1].flag)}
	if p.graph != nil {
		p.graph.after(o)
		return
	}
	p.emit(l, o)
}

// cross plans the notifications of other machines after a sub-step. They carry what it has sent,
// and receipts of what it has read if the sender waits for a slot.
func (p *execution) cross(l *lane, taken, sent []parcel) error {
	for i := range taken {
		m := &taken[i]
		m.crossing = 0
		sender := p.ranks[m.to.From].lanes[m.to.FromLane]
		if m.n == 0 || !p.apart(m.to) || m.to.Limit(p.slots(sender)) == 0 {
			continue
		}
		if err := p.notify(l, m, m.to.From, 0); err != nil {
			return err
		}
	}
	for i := range sent {
		m := &sent[i]
		m.crossing = 0
		if !p.apart(m.to) {
			continue
		}
		if m.bytes > 0 {
			p.emit(l, op{kind: fetches, from: run{m.on, m.at, m.bytes}, host: start(m.host)})
		}
		if err := p.notify(l, m, m.to.To, m.bytes); err != nil {
			return err
		}
	}
	return nil
}

// notify plans the crossing from a lane's sub-step to a rank of another machine.
func (p *execution) notify(l *lane, m *parcel, to int32, size int64) error {
	c := crossing{from: int32(p.places.of(l.rank.number)), to: int32(p.places.of(int(to))),
		rank: l.rank.number, lane: l.index, size: size}
	self := int32(p.places.self)
	if c.from == self || c.to == self {
		word, err := p.pinned(flagSize)
		if err != nil {
			return err
		}
		c.flag = (*atomic.Uint32)(unsafe.Pointer(&word[0]))
		if size > 0 {
			c.bytes = m.host[:size]
		}
	}
	if c.from == self {
		one := run{l.rank.gpu, p.mail.one[l.rank.gpu.index], flagSize}
		p.emit(l, op{kind: fetches, from: one, host: address(c.flag)})
	}
	p.mail.crossings = append(p.mail.crossings, c)
	m.crossing = len(p.mail.crossings)
	return nil
}

// empty clears all flags and buffers before a repetition. A message that does not arrive then shows
// in the results.
func (p *execution) empty() {
	for i := range p.mail.crossings {
		if f := p.mail.crossings[i].flag; f != nil {
			f.Store(0)
		}
	}
	for _, b := range p.mail.places {
		rank.Spoil(b)
	}
}

// outgoing lists the crossings from this machine: by destination, then by lane, in the order of the
// lane.
func (p *execution) outgoing() map[int32][][]int {
	byLane := map[int32]map[[2]int][]int{}
	for i := range p.mail.crossings {
		c := &p.mail.crossings[i]
		if c.from != int32(p.places.self) {
			continue
		}
		if byLane[c.to] == nil {
			byLane[c.to] = map[[2]int][]int{}
		}
		lane := [2]int{c.rank, c.lane}
		byLane[c.to][lane] = append(byLane[c.to][lane], i)
	}
	all := map[int32][][]int{}
	for to, lanes := range byLane {
		for _, list := range lanes {
			all[to] = append(all[to], list)
		}
		slices.SortFunc(all[to], func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	}
	return all
}
