package event

import (
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// links holds what the links of the network are asked for, and what they carry.
type links struct {
	network  *model.Network
	isFluid  bool
	list     []link
	waysBack []int32 // of the routes; −1: not asked yet

	someAhead bool // some links carry at once what asks for them
	hasPrompt bool // some of them whatever does
	behind    int  // requests for these in the queue

	requests requests // of packets
	packets  flat.Pool[packet]
}

// link is the state of a link.
type link struct {
	model.Link
	busy unit.Time
	load unit.Bytes
	free unit.Time // when it can carry the next message, under FIFO

	isUncontended bool  // it is asked in order
	isPrompt      bool  // and carries at once whatever asks
	pending       int32 // requests that are in the queue nevertheless
}

// packet is a message, or a segment of one, on its way.
type packet struct {
	tail            model.Moment // when its last byte has come over the links so far
	from, to        unit.Bytes   // of the message
	message         int32        // as long as it is at its first link, or its last segment
	begin, hop, end int32        // its links are network.Hops[begin:end], the next is hop
	entry           uint32       // in the compact log, that its next time belongs to
	isLast          bool         // of the message's segments
	kind            entryKind    // of these times,
	ownKinds        int8         // of all links from this one on
}

func newLinks(network *model.Network, isFluid bool) links {
	n := links{network: network, isFluid: isFluid, packets: flat.NewPool[packet](0),
		list: make([]link, len(network.Links)), requests: newRequests(len(network.Links))}
	for i := range n.list {
		n.list[i].Link = network.Links[i]
	}
	return n
}

func (n *links) len() int32             { return int32(len(n.list)) }
func (n *links) at(i int32) *link       { return &n.list[i] }
func (n *links) packet(i int32) *packet { return n.packets.At(i) }

// isAhead reports whether some links carry at once what asks for them, and isBehind whether one of
// these has requests in the queue nevertheless.
func (n *links) isAhead() bool  { return n.someAhead }
func (n *links) isBehind() bool { return n.behind > 0 }

// uncontended notes that a link is asked in order, and whether nobody ever waits for it.
func (n *links) uncontended(i int32, isOrdered, isPrompt bool) {
	l := &n.list[i]
	l.isUncontended, l.isPrompt = isOrdered, isPrompt
	n.someAhead, n.hasPrompt = n.someAhead || isOrdered, n.hasPrompt || isPrompt
}

// reuse returns the number of a packet that is not in use, −1 if there is none. Its fields still
// have the values of its last use.
func (n *links) reuse() int32 { return n.packets.Reuse() }

// grow returns the number of a packet that never was in use.
func (n *links) grow() int32 { return n.packets.Grow() }

// add puts a packet in use, and returns its number.
func (n *links) add(p packet) int32 { return n.packets.Put(p) }

// drop takes a packet that has come to the end of its links out of use.
func (n *links) drop(i int32) { n.packets.Drop(i) }

// asked returns the link that a packet asks for next.
func (n *links) asked(p int32) (on int32) { return n.network.Hops[n.packets.At(p).hop] }

// putBehind notes that a link which is asked in order has a request in the queue nevertheless.
func (n *links) putBehind(l *link) {
	l.pending++
	n.behind++
}

// push queues the request of a packet.
func (n *links) push(r model.Request) { n.requests.push(r) }

// nextAt returns when the next request is served; never if there is none.
func (n *links) nextAt() unit.Time { return n.requests.next() }

// next takes the next request, and returns the link whose turn it is to carry a packet that has
// asked at a moment.
//
// REQUIRES: there is one.
func (n *links) next() (p, on int32, at model.Moment) {
	r := n.requests.pop()
	on = model.AskedOf(&r)
	if l := &n.list[on]; l.isUncontended {
		l.pending--
		n.behind--
	}
	return r.Item, on, model.AskedAt(&r)
}

// load counts bytes on all links of a route.
func (n *links) load(path *model.Route, bytes unit.Bytes) {
	for _, on := range n.network.LinksOf(path) {
		n.list[on].load += bytes
	}
}

// isAlone reports whether a flow is alone on its links as long as it lasts.
func (n *links) isAlone(path *model.Route) bool {
	for _, on := range n.network.LinksOf(path) {
		if !n.list[on].isUncontended {
			return false
		}
	}
	return true
}

// timesOn returns the number of times in the log for a route: of its links, or when a flow has
// left.
func (n *links) timesOn(route int32) (times int32) {
	path := &n.network.Routes[route]
	switch {
	case n.isFluid && n.isAlone(path):
		return 0
	case n.isFluid:
		return 1
	case !n.hasPrompt:
		return path.To - path.From
	}
	for _, on := range n.network.LinksOf(path) {
		if !n.list[on].isPrompt {
			times++
		}
	}
	return times
}

// wayBack returns the route in the opposite direction of another. The data of a get take it, and so
// do answers.
func (n *links) wayBack(route int32) int32 {
	for int(route) >= len(n.waysBack) {
		n.waysBack = append(n.waysBack, -1)
	}
	if back := n.waysBack[route]; back >= 0 {
		return back
	}
	there := n.network.Routes[route]
	back := int32(-1)
	if there.Tree >= 0 {
		back = n.network.Trees[there.Tree].Back
	} else {
		back = n.network.Back(route)
	}
	n.waysBack[route] = back
	return back
}

// treeOf returns the tree of a route of multimem.
func (n *links) treeOf(route int32) *model.Tree {
	return &n.network.Trees[n.network.Routes[route].Tree]
}

// serve has the link carry n bytes, which takes so long, of a message that has asked at a moment.
func (l *link) serve(at model.Moment, n unit.Bytes, takes unit.Time) (start, over model.Moment) {
	start, over = model.Serve(at, l.free, takes)
	l.free = over.T
	l.busy = min(l.busy+takes, unit.Forever)
	l.load += n
	return start, over
}

// slowest returns the time that n bytes take on the slowest link of a route. l is a link of the
// route. If it is as slow, it serves for the slowest, because it remembers the last size.
func (l *link) slowest(r *model.Route, n unit.Bytes) unit.Time {
	if n == 0 {
		return 0
	}
	if r.Slowest == l.Bandwidth {
		return l.Over(n)
	}
	return n.Over(r.Slowest)
}
