package model

import (
	"errors"
	"slices"

	"collsim/sim/internal/flat"
	"collsim/unit"
)

// A multimem operation of rank r over a team goes through the switch on which all of them hang, or
// over a tree of switches, by way of its root (docs/time.md).
//
//	store  r ──► root ──► every member                the switches copy
//	load   r ──► root ──► every member                an empty request, copied
//	       every member ──► root ──► r                the switches add up
//
// Each of the three lines above is one route with several branches.
//
// Under fluid sharing it is one flow over all of its links at once, at the least rate that any link
// gives it. The longest latency counts, so the data of a load flow when the last request has come.
//
// Under FIFO each link carries the bytes by itself. A copy asks for the next link when the first
// byte has come to the switch. A sum asks for it when the first byte of each of its operands has
// come. The last byte of the sum is there no sooner than the last bytes of all operands (Join).
// With store-and-forward the last byte counts in all these places. A member's data ask for its link
// when the request has come, as a get's do.
//
// Where all links are equal and idle, a load takes as long as a get, and a store as long as a put.

// Tree is the tree of links of a multimem route. A route to the team has the rank's own links
// first, then those behind them in the order away from the root. The members' own links are last,
// in the team's order. A route from the team begins with the members' own links, and ends with the
// rank's.
type Tree struct {
	Back int32 // of a load's request: the route of the data, from team to rank; else −1
	IsIn bool  // it goes from team to rank
	// On has, by link of the route, the links that follow it: several where a switch copies.
	On [][]int32
	// Of has, by link of the route, the links before it: several where a switch adds up.
	Of [][]int32

	longest []int32 // the links of the path with the longest latency, in order
	rank    int32
	team    []int32
	isLoad  bool
	route   int32
	next    int32 // the next tree with the same hash of rank, team and kind; −1: none
}

// Members returns how many ranks the team has.
func (t *Tree) Members() int32 { return int32(len(t.team)) }

// Multimem returns the number of the route of a rank's operation over a team: of a store, or of a
// load's request. The error says what the network lacks.
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
		back.IsIn = true
		t.Back = n.branches(back, up[1:], down[0])
	}
	if i := int32(len(n.Trees)); last >= 0 {
		n.Trees[last].next = i
	} else {
		n.byKey.Put(key, i)
	}
	return n.branches(t, down[1:], up[0]), nil
}

// branches adds a route that joins the rank's own path, to the root or from it, with the paths of
// the team's members.
func (n *Network) branches(t Tree, members [][]int32, own []int32) int32 {
	links, at := layTree(members, own, t.IsIn)
	t.On, t.Of = make([][]int32, len(links)), make([][]int32, len(links))
	var follows map[[2]int32]bool // pairs of links that are known to follow each other
	r := Route{Src: t.rank, Dst: t.rank, From: int32(len(n.Hops)), Slowest: unit.Unlimited,
		Tree: int32(len(n.Trees)), Latency: -1}
	for _, member := range members {
		path := slices.Concat(own, member)
		if t.IsIn {
			path = slices.Concat(member, own)
		}
		latency := unit.Time(0)
		for i, l := range path {
			latency = min(latency+n.Links[l].Latency, unit.Forever)
			if i == 0 {
				continue
			}
			pair := [2]int32{at[path[i-1]], at[l]}
			if follows[pair] {
				continue
			}
			if follows == nil {
				follows = map[[2]int32]bool{}
			}
			follows[pair] = true
			t.On[pair[0]] = append(t.On[pair[0]], pair[1])
			t.Of[pair[1]] = append(t.Of[pair[1]], pair[0])
		}
		if latency > r.Latency {
			r.Latency, t.longest = latency, path
		}
	}
	for _, l := range links {
		r.Slowest = min(r.Slowest, n.Links[l].Bandwidth)
	}
	n.Hops = append(n.Hops, links...)
	r.To = int32(len(n.Hops))
	t.route = int32(len(n.Routes))
	n.Routes, n.Trees = append(n.Routes, r), append(n.Trees, t)
	return t.route
}

// layTree returns the links of a tree in the order of a route, and the place of each in it.
func layTree(members [][]int32, own []int32, isIn bool) (links []int32, at map[int32]int32) {
	links, at = slices.Clone(own), map[int32]int32{}
	isThere := map[int32]bool{}
	last := make([]int32, len(members)) // the members' own
	for i, member := range members {
		path := slices.Clone(member)
		if isIn { // from the root, as the others
			slices.Reverse(path)
		}
		for _, l := range path[:len(path)-1] {
			if !isThere[l] {
				isThere[l] = true
				links = append(links, l)
			}
		}
		last[i] = path[len(path)-1]
	}
	if isIn {
		slices.Reverse(links[len(own):])
		links = slices.Concat(last, links[len(own):], own)
	} else {
		links = append(links, last...)
	}
	for i, l := range links {
		at[l] = int32(i)
	}
	return links, at
}

// Longest returns the links of the path with the longest latency over a route of multimem, in
// order.
func (n *Network) Longest(r *Route) []int32 { return n.Trees[r.Tree].longest }

// Join collects the branches that a switch adds up under FIFO, or that some other event waits for.
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
