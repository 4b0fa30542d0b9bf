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

// Between machines, a message goes through the memory of both hosts. What a sub-step has sent is
// copied to the sender's, and then a 1 to a word beside it, by its stream; who sees the word sends
// the bytes (wires.go), and who gets them puts them into the receiver's host and writes a 1 there,
// for which the receiver's stream waits before it copies them to its GPU. That a message was read
// goes back in the same way, without bytes, where connections hold so many messages and no more.
//
// All machines plan the whole schedule, in the same order, and keep what is their own. So all know
// every crossing, by its number; and since each issues its calls in the order of the plan, in which
// nothing comes before what it waits for, no machine waits for another that waits for it, whatever
// the driver puts one after the other.

// machines is where ranks are.
type machines struct{ count, self, ranks int }

// of is the machine of a rank.
func (m machines) of(number int) int { return rank.WorkerOf(number, m.ranks, m.count) }

// mail is what goes from machine to machine in a repetition.
type mail struct {
	crossings []crossing
	left      []byte   // of a piece of the host's memory
	one       []uint64 // where a 1 is, on each GPU
	places    [][]byte // that bytes of other machines come to
}

// crossing is an event of a machine that another is to hear of, and the bytes of its message.
type crossing struct {
	from, to   int32 // machines
	rank, lane int   // whose event it is
	bytes      []byte
	size       int64
	flag       *atomic.Uint32 // of this machine, if it is one of the two
}

// apart reports whether the ends of a connection are on two machines.
func (p *execution) apart(c *connection) bool {
	return p.places.of(int(c.From)) != p.places.of(int(c.To))
}

// inGraph reports whether an event is one of another machine in the graph that is planned.
func (p *execution) inGraph(c *connection, event int) bool {
	return p.graph != nil && p.apart(c) && p.events[event].in == p.graph
}

// post makes ready for mail, if there is any: every GPU has a 1.
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

// flagSize is the bytes of a word that says that something is there; where one lies depends on it.
const flagSize = 4

// pinned is memory of the host for so many bytes; small ones share a piece.
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

// hostMemory takes memory of the host for the run, which all GPUs copy from and to, and whose words
// their streams can wait for. How much a schedule takes depends on its connections, which may hold
// any number of messages: what the machine does not have is refused while the schedule is planned.
// The system could not take such memory back, and would rather end some process.
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

// pin gives a place its memory of the host, if one end of the connection is here.
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

// staged is a place in which a lane puts a message for another machine: it lies on the lane's GPU.
func (p *execution) staged(l *lane, c *connection, one place) (place, error) {
	if !p.apart(c) || l.rank.away {
		return one, nil
	}
	room, err := p.room(l, one.n)
	if err == nil {
		one.on, one.at = room[0].on, room[0].at
	}
	return one, err
}

// bring has a lane copy a message of another machine to its GPU when it has come.
func (p *execution) bring(l *lane, m *message) error {
	if m.crossing == 0 || m.bytes == 0 || l.rank.away {
		return nil
	}
	room, err := p.room(l, m.bytes)
	if err != nil {
		return err
	}
	m.on, m.at = room[0].on, room[0].at
	l.brought = append(l.brought, op{kind: brings, to: room[0], host: start(m.host)})
	return nil
}

// hear plans that a lane waits for an event of another machine: the graph that it is in waits as a
// whole.
func (p *execution) hear(l *lane, number int) {
	if l.rank.away {
		return
	}
	o := op{kind: hears, host: address(p.mail.crossings[number-1].flag)}
	if p.graph != nil {
		p.graph.after(o)
		return
	}
	p.emit(l, o)
}

// cross plans that other machines hear of a sub-step: of what it has sent to them, and of what it
// has read where its sender awaits that.
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

// notify plans that a rank of another machine hears of a lane's sub-step.
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

// empty makes ready for a repetition: nothing has come. What did not come is seen in the results.
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

// outgoing are the crossings that begin here, by machine and by lane, as each lane gets to them.
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
