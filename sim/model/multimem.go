package model

import (
	"slices"

	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/unit"
)

// A multimem operation of rank r over a team goes through the switch on which all of them hang, or
// over a tree of switches, by way of its root (docs/time.md).
//
//	store  r ──► root ──► every member                the switches copy
//	load   r ──► root ──► every member                an empty request, copied
//	       every member ──► root ──► r                the switches add up
//	fused  r ──► root ──► every member                an empty request, copied
//	       every member ──► root ──► every member     the switches add up, and copy
//
// Each of the five lines above is one route with several branches.
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
// rank's, or with those of the members to which the sum goes.
type Tree struct {
	Back int32 // of a request: the route of the data, from the team; else −1
	// On has, by link of the route, the links that follow it: several where a switch copies.
	On [][]int32
	// Of has, by link of the route, the links before it: several where a switch adds up.
	Of [][]int32

	longest []int32 // the links of the path with the longest latency, in order
	rank    int32
	team    []int32
	kind    MultimemKind
	route   int32
	next    int32 // the next tree with the same hash of rank, team and kind; −1: none
}

// Ends returns how many links of the route nothing follows.
func (t *Tree) Ends() (n int32) {
	for _, on := range t.On {
		if len(on) == 0 {
			n++
		}
	}
	return n
}

// MultimemKind is a kind of multimem operation.
type MultimemKind uint8

// The kinds of multimem operations.
const (
	Stores MultimemKind = iota
	Loads
	Fuses // loads, and stores at the same ranks (schedule.Dest.Fused)
)

// LoadOf returns the kind of operation of a step that loads.
func LoadOf(s *schedule.Step) MultimemKind {
	if s.Fused() {
		return Fuses
	}
	return Loads
}

// Sent returns what a rank sends in a step: not what is fused, which the switches send.
func Sent(s *schedule.Step) []schedule.Dest {
	if s.Fused() {
		return nil
	}
	return s.Send
}

// Members returns how many ranks the team has.
func (t *Tree) Members() int32 { return int32(len(t.team)) }

// Multimem returns the number of the route of a rank's operation over a team: of a store, or of the
// request of one that loads. The error says what the network lacks.
func (n *Network) Multimem(rank int32, team []int32, kind MultimemKind) (int32, error) {
	key := uint64(uint32(rank))<<2 + uint64(kind)
	for _, r := range team {
		key = flat.Spread(key) + uint64(uint32(r))
	}
	last := int32(-1)
	for i := n.byKey.Find(key); i >= 0; i = n.Trees[i].next {
		if t := &n.Trees[i]; t.rank == rank && t.kind == kind && slices.Equal(t.team, team) {
			return t.route, nil
		}
		last = i
	}
	up, down, err := n.graph.Multimem(rank, team, kind != Stores)
	if err != nil {
		return 0, err
	}
	t := Tree{rank: rank, team: slices.Clone(team), kind: kind, Back: -1, next: -1}
	if kind != Stores {
		to := down[:1]
		if kind == Fuses {
			to = down[1:]
		}
		t.Back = n.branches(t, up[1:], to)
	}
	if i := int32(len(n.Trees)); last >= 0 {
		n.Trees[last].next = i
	} else {
		n.byKey.Put(key, i)
	}
	return n.branches(t, up[:1], down[1:]), nil
}

// branches adds a route of some paths to the root, and of others from it.
func (n *Network) branches(t Tree, up, down [][]int32) int32 {
	links, at := layTree(up, down)
	t.On, t.Of = make([][]int32, len(links)), make([][]int32, len(links))
	r := Route{Src: t.rank, Dst: t.rank, From: int32(len(n.Hops)), Slowest: unit.Unlimited,
		Tree: int32(len(n.Trees))}
	f := follows{tree: &t, at: at, known: map[[2]int32]bool{}}
	var ends, begins []int32 // the links on both sides of the root
	for _, path := range up {
		ends = f.add(path, ends, len(path)-1)
	}
	for _, path := range down {
		begins = f.add(path, begins, 0)
	}
	for _, i := range ends {
		t.On[i] = begins
	}
	for _, i := range begins {
		t.Of[i] = ends
	}
	there, first := n.longest(up)
	back, second := n.longest(down)
	r.Latency, t.longest = min(there+back, unit.Forever), slices.Concat(first, second)
	for _, l := range links {
		r.Slowest = min(r.Slowest, n.Links[l].Bandwidth)
	}
	n.Hops = append(n.Hops, links...)
	r.To = int32(len(n.Hops))
	t.route = int32(len(n.Routes))
	n.Routes, n.Trees = append(n.Routes, r), append(n.Trees, t)
	return t.route
}

// follows notes which links of a tree follow each other.
type follows struct {
	tree  *Tree
	at    map[int32]int32
	known map[[2]int32]bool // pairs, and −1 with what is next to the root
}

// add adds the pairs of a path, and the link of it that is next to the root to a list.
func (f *follows) add(path, list []int32, next int) []int32 {
	for i := 1; i < len(path); i++ {
		pair := [2]int32{f.at[path[i-1]], f.at[path[i]]}
		if !f.known[pair] {
			f.known[pair] = true
			f.tree.On[pair[0]] = append(f.tree.On[pair[0]], pair[1])
			f.tree.Of[pair[1]] = append(f.tree.Of[pair[1]], pair[0])
		}
	}
	l := f.at[path[next]]
	if edge := [2]int32{-1, l}; !f.known[edge] {
		f.known[edge] = true
		list = append(list, l)
	}
	return list
}

// longest returns the first of some paths that has the longest latency.
func (n *Network) longest(paths [][]int32) (latency unit.Time, longest []int32) {
	latency = -1
	for _, path := range paths {
		sum := unit.Time(0)
		for _, l := range path {
			sum = min(sum+n.Links[l].Latency, unit.Forever)
		}
		if sum > latency {
			latency, longest = sum, path
		}
	}
	return latency, longest
}

// layTree returns the links of a tree in the order of a route, and the place of each in it.
func layTree(up, down [][]int32) (links []int32, at map[int32]int32) {
	var rising [][]int32 // from the root, as the others
	for _, path := range up {
		path = slices.Clone(path)
		slices.Reverse(path)
		rising = append(rising, path)
	}
	inner, last := away(rising)
	slices.Reverse(inner)
	links = slices.Concat(last, inner)
	inner, last = away(down)
	links = slices.Concat(links, inner, last)
	at = map[int32]int32{}
	for i, l := range links {
		at[l] = int32(i)
	}
	return links, at
}

// away returns the links of paths from the root: each that is not the last of its path once, before
// those behind it, and the last ones.
func away(paths [][]int32) (inner, last []int32) {
	isThere := map[int32]bool{}
	for _, path := range paths {
		end := len(path) - 1
		for _, l := range path[:end] {
			if !isThere[l] {
				isThere[l] = true
				inner = append(inner, l)
			}
		}
		last = append(last, path[end])
	}
	return inner, last
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
