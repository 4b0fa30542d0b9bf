package schedule

import "cmp"

// A connection is the state of a FIFO of messages.
type connection struct {
	src, dst   int32 // lanes
	far        int32 // if folded: the receiver's rank relative to the sender
	class      Class
	tag        int32
	head, tail int32 // handles, −1 for none
	held       int32
}

// before orders connections by lanes, class and tag.
func (c *connection) before(o *connection) bool {
	return cmp.Or(cmp.Compare(c.src, o.src), cmp.Compare(c.dst, o.dst),
		cmp.Compare(c.class, o.class), cmp.Compare(c.tag, o.tag)) < 0
}

// connectionKey identifies a connection.
type connectionKey struct {
	src, dst, far int32
	class         Class
	tag           int32
}

// connect returns the connection to or from a peer. last is the connection that the lane used last,
// and is tried first.
func (x *executor) connect(lane int32, p *Peer, last *int32, out bool) int32 {
	key := connectionKey{src: lane, class: p.Class, tag: p.Tag}
	if x.folded { // rank 0 stands for the sender, at the same distance
		key.dst, key.far = p.Lane, p.Rank
	} else {
		key.dst = x.first[p.Rank] + p.Lane
	}
	if !out {
		key.src, key.dst = key.dst, key.src
		if x.folded {
			key.far = x.s.Group.Sub(0, key.far)
		}
	}
	i := *last
	if i < 0 || x.conns[i].src != key.src || x.conns[i].dst != key.dst ||
		x.conns[i].far != key.far || x.conns[i].class != key.class || x.conns[i].tag != key.tag {
		known := false
		if i, known = x.byKey[key]; !known {
			i = int32(len(x.conns))
			x.byKey[key] = i
			x.conns = append(x.conns, connection{src: key.src, dst: key.dst, far: key.far,
				class: key.class, tag: key.tag, head: -1, tail: -1})
		}
		*last = i
	}
	return i
}

// push adds a message to a connection, wakes the receiver if it waits for it, and returns the
// message's handle.
func (x *executor) push(c int32) int32 {
	handle := x.free
	if handle < 0 {
		handle = int32(len(x.next))
		x.next = append(x.next, -1)
	} else {
		x.free = x.next[handle]
	}
	x.next[handle] = -1
	k := &x.conns[c]
	if k.tail < 0 {
		k.head = handle
	} else {
		x.next[k.tail] = handle
	}
	k.tail = handle
	k.held++
	x.counts.InFlight = max(x.counts.InFlight, int(k.held))
	if d := &x.lanes[k.dst]; d.waits == forMessage && d.on == c {
		x.wake(k.dst)
	}
	return handle
}

// pop removes the first message of a connection, wakes the sender if it waits for the slot, and
// returns the message's handle.
func (x *executor) pop(c int32) int32 {
	k := &x.conns[c]
	handle := k.head
	k.head = x.next[handle]
	if k.head < 0 {
		k.tail = -1
	}
	k.held--
	s := &x.lanes[k.src]
	if x.meet && k.class == FIFO {
		if s.unreceived--; s.unreceived == 0 && s.waits == forReceive {
			x.wake(k.src)
		}
	}
	if s.waits == forSlot && s.on == c {
		x.wake(k.src)
	}
	return handle
}
