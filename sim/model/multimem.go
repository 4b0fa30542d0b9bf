package model

import (
	"errors"
	"slices"

	"collsim/sim/internal/flat"
	"collsim/unit"
)

// A multimem operation of rank r over a team goes through the switch on which all of them hang
// (docs/time.md).
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
// than every member's last (store-and-forward: last bytes in all places; Join). A member's data ask
// for its link when the request has come, as a get's do. Where all links are alike and idle, a load
// takes what a get takes, and a store what a put.

// Tree is what is more to say of a route of multimem than of others.
type Tree struct {
	Back int32 // of a load's request: the route of the data, from team to rank; else −1
	IsIn bool  // it leads from team to rank
	Far  int32 // of the team's links the first with the longest latency

	rank   int32
	team   []int32
	isLoad bool
	route  int32
	next   int32 // of those whose keys are alike
}

// Multimem is the number of the route of a rank's operation over a team: of a store, or of a load's
// request. The error says what the network lacks.
func (n *Network) Multimem(rank int32, team []int32, isLoad bool) (int32, error) {
	key := uint64(uint32(rank)) << 1
	if isLoad {
		key++
	}
	for _, r := range team {
		key = flat.Spread(key) + uint64(uint32(r))
	}
	last := int32(-1)
	for i := n.byKey.Find(key); i >= 0; i = n.Trees[i].next {
		if t := &n.Trees[i]; t.rank == rank && t.isLoad == isLoad && slices.Equal(t.team, team) {
			return t.route, nil
		}
		last = i
	}
	up, down, err := n.graph.Multimem(rank, team, isLoad)
	if err != nil {
		return 0, errors.Unwrap(err)
	}
	t := Tree{rank: rank, team: slices.Clone(team), isLoad: isLoad, Back: -1, next: -1}
	if isLoad {
		back := t
		back.IsIn, back.Far = true, n.farthest(up[1:])
		t.Back = n.branches(back, append(up[1:len(up):len(up)], down[0]))
	}
	t.Far = n.farthest(down[1:])
	if i := int32(len(n.Trees)); last >= 0 {
		n.Trees[last].next = i
	} else {
		n.byKey.Put(key, i)
	}
	return n.branches(t, append([]int32{up[0]}, down[1:]...)), nil
}

// branches adds a route over links, of which the first or the last is the rank's.
func (n *Network) branches(t Tree, links []int32) int32 {
	own := links[0]
	if t.IsIn {
		own = links[len(links)-1]
	}
	from := int32(len(n.Hops))
	n.Hops = append(n.Hops, links...)
	r := Route{Src: t.rank, Dst: t.rank, From: from, To: int32(len(n.Hops)), Slowest: unit.Unlimited,
		Tree:    int32(len(n.Trees)),
		Latency: min(n.Links[own].Latency+n.Links[t.Far].Latency, unit.Forever)}
	for _, l := range links {
		r.Slowest = min(r.Slowest, n.Links[l].Bandwidth)
	}
	t.route = int32(len(n.Routes))
	n.Routes, n.Trees = append(n.Routes, r), append(n.Trees, t)
	return t.route
}

// farthest is the first link with the longest latency.
func (n *Network) farthest(links []int32) int32 {
	far := links[0]
	for _, l := range links {
		if n.Links[l].Latency > n.Links[far].Latency {
			far = l
		}
	}
	return far
}

// Longest are the links of the longest way over a route of multimem, in order.
func (n *Network) Longest(r *Route) [2]int32 {
	if t := &n.Trees[r.Tree]; t.IsIn {
		return [2]int32{t.Far, n.Hops[r.To-1]}
	}
	return [2]int32{n.Hops[r.From], n.Trees[r.Tree].Far}
}

// Join is a switch that adds up, under FIFO, and whoever else waits for several branches.
type Join struct {
	Left       int32  // branches that have not come
	Head, Tail Moment // the latest first byte, and the latest last byte, of those that have
	Key        uint64 // of the latest first byte, of several the greatest
}

// Come joins a branch whose first byte asks for the next link at head, and whose last has come at
// tail. It reports whether it was the last branch: then the sum asks for its link at Head, with
// Key, and its last byte is there no sooner than Tail.
func (j *Join) Come(head, tail Moment, key uint64) bool {
	if head == j.Head {
		j.Key = max(j.Key, key)
	} else if Later(head, j.Head) == head {
		j.Head, j.Key = head, key
	}
	j.Tail = Later(j.Tail, tail)
	j.Left--
	return j.Left == 0
}
