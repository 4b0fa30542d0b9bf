package sim

import (
	"errors"
	"fmt"
	"slices"

	"collsim/unit"
)

// A multimem operation of rank r over a team goes through the switch on which all of them hang.
//
//	store  r ──► switch ──► every member                the switch copies
//	load   r ──► switch ──► every member                an empty request, copied
//	       every member ──► switch ──► r                the switch adds up
//
// Each of the three ways is one route with several branches. Under fluid sharing it is one flow
// over all of its links at once, at the least rate that any of them gives it; the longest latency
// counts, so the data of a load flow when the last request has come. Under FIFO each link carries
// the bytes by itself: a copy asks for a member's link when the first byte has come to the switch,
// the sum for r's when the first byte of every member has, and its last byte is there no sooner
// than every member's last (store-and-forward: last bytes in all places). A member's data ask for
// its link when the request has come, as a get's do. Where all links are alike and idle, a load
// takes what a get takes, and a store what a put.

// fan is what is more to say of a route of multimem than of others.
type fan struct {
	rank  int32
	team  []int32
	loads bool
	route int32 // of a store or a request, from rank to team
	back  int32 // of a load: from team to rank
	far   int32 // of the team's links the first with the longest latency
	in    bool  // it leads from team to rank
	next  int32 // of those whose keys are alike
}

// join is what is known of a message of multimem under FIFO, of which several packets are on their
// way at once.
type join struct {
	left       int32  // packets that have not come
	data       int32  // of a request: the message that it asks for
	head, tail moment // the latest first byte, and the latest last byte
	line       uint64 // the place in line of the latest first byte
}

// crossing is a packet that has come to the end of its link.
type crossing struct {
	hop        int32 // the link, among engine.hops
	head, tail moment
	line       uint64
}

// fan is the number of the route of a lane's multimem operation over a team.
func (e *engine) fan(lane int32, team []int32, loads bool) (int32, error) {
	rank := e.lanes[lane].rank
	key := uint64(uint32(rank)) << 1
	if loads {
		key++
	}
	for _, r := range team {
		key = spread(key) + uint64(uint32(r))
	}
	last := int32(-1)
	for i := e.fanBy.find(key); i >= 0; i = e.fans[i].next {
		if f := &e.fans[i]; f.rank == rank && f.loads == loads && slices.Equal(f.team, team) {
			return f.route, nil
		}
		last = i
	}
	up, down, err := e.env.Graph.Multimem(rank, team, loads)
	if err != nil {
		return 0, fmt.Errorf("sim: rank %d lane %d step %d: multimem needs a switch that does it: %w",
			rank, lane-e.first[rank], e.lanes[lane].cursor.Step, errors.Unwrap(err))
	}
	f := fan{rank: rank, team: slices.Clone(team), loads: loads, back: -1, next: -1}
	if loads {
		back := f
		back.in, back.far = true, e.farthest(up[1:])
		f.back = e.branches(back, append(up[1:len(up):len(up)], down[0]))
	}
	f.far = e.farthest(down[1:])
	if i := int32(len(e.fans)); last >= 0 {
		e.fans[last].next = i
	} else {
		e.fanBy.put(key, i)
	}
	return e.branches(f, append([]int32{up[0]}, down[1:]...)), nil
}

// branches adds a route over links, of which the first or the last is the rank's.
func (e *engine) branches(f fan, links []int32) int32 {
	own := links[0]
	if f.in {
		own = links[len(links)-1]
	}
	from := int32(len(e.hops))
	e.hops = append(e.hops, links...)
	r := route{src: f.rank, dst: f.rank, from: from, to: int32(len(e.hops)), slowest: unit.Unlimited,
		fan:     int32(len(e.fans)),
		latency: min(e.links[own].latency+e.links[f.far].latency, unit.Forever)}
	for _, l := range links {
		r.slowest = min(r.slowest, e.links[l].bandwidth)
	}
	f.route = int32(len(e.routes))
	e.routes, e.fans = append(e.routes, r), append(e.fans, f)
	return f.route
}

// farthest is the first link with the longest latency.
func (e *engine) farthest(links []int32) int32 {
	far := links[0]
	for _, l := range links {
		if e.links[l].latency > e.links[far].latency {
			far = l
		}
	}
	return far
}

// ends are the links of the longest way over a route of multimem, in order.
func (e *engine) ends(r *route) [2]int32 {
	if f := &e.fans[r.fan]; f.in {
		return [2]int32{f.far, e.hops[r.to-1]}
	}
	return [2]int32{e.hops[r.from], e.fans[r.fan].far}
}

// call makes a load's request one under FIFO, and the message of its data.
func (e *engine) call(m int32) {
	x := &e.messages[m]
	x.kind = calling
	data := *x
	data.kind, data.route = merging, e.fans[e.routes[x.route].fan].back
	d := e.newMessage(data)
	e.joinOf(m).data = d
	r := &e.routes[data.route]
	e.joinOf(d).left = r.to - r.from - 1
	if e.why != nil {
		e.setsOut(d, 0, e.why.ofMessage[m])
	}
}

// joinOf is a fresh join for a message.
func (e *engine) joinOf(m int32) *join {
	for int(m) >= len(e.joins) {
		e.joins = append(e.joins, join{})
	}
	e.joins[m] = join{}
	return &e.joins[m]
}

// crossed goes on with a message of multimem, one of whose packets has come to the end of a link.
func (e *engine) crossed(m int32, at crossing) {
	x := &e.messages[m]
	r := e.routes[x.route]
	switch {
	case x.kind == merging && at.hop == r.to-1:
		e.arrived(m, at.tail)
	case x.kind == merging:
		e.merge(m, at)
	case at.hop == r.from:
		data, n := int32(-1), e.carried(m)
		if x.kind == calling {
			data = e.joins[m].data
		}
		j := e.joinOf(m)
		j.data, j.left = data, r.to-r.from-1
		for h := r.from + 1; h < r.to; h++ {
			e.branch(packet{message: m, to: n, hop: h, tail: at.tail}, at.head, at.line)
		}
	default:
		e.reached(m, at)
	}
}

// reached is a member's part: a request that has come has its data set out.
func (e *engine) reached(m int32, at crossing) {
	x, j := &e.messages[m], &e.joins[m]
	if x.kind == calling {
		member := at.hop - e.routes[x.route].from - 1
		first := e.routes[e.messages[j.data].route].from
		e.branch(packet{message: j.data, to: x.bytes, hop: first + member}, at.tail, at.line)
	}
	j.tail = later(j.tail, at.tail)
	if j.left--; j.left > 0 {
		return
	}
	if x.kind == calling {
		e.dropMessage(m)
		return
	}
	e.arrived(m, j.tail)
}

// merge is the switch's part: the sum goes on as far as every member's data have come.
func (e *engine) merge(m int32, at crossing) {
	j := &e.joins[m]
	if at.head == j.head {
		j.line = max(j.line, at.line)
	} else if later(at.head, j.head) == at.head {
		j.head, j.line = at.head, at.line
	}
	j.tail = later(j.tail, at.tail)
	if j.left--; j.left == 0 {
		x := &e.messages[m]
		last := e.routes[x.route].to - 1
		e.branch(packet{message: m, to: x.bytes, hop: last, tail: j.tail}, j.head, j.line)
	}
}

// branch lets a whole message of multimem ask for one of its links.
func (e *engine) branch(p packet, at moment, line uint64) {
	p.begin, p.end, p.last = e.routes[e.messages[p.message].route].from, p.hop+1, true
	e.queue.push(e.ask(e.newPacket(p), at, line))
}
