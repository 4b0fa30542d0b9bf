package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Binary trees, pipelined. Counted from the root, rank v of a level of 2^i ranks, the ones from
// 2^i − 1 on, has the children v+2^i and v+2^(i+1). So odd ranks are below child 1 of the root and
// even ones below child 2, and v+1 is the even rank that corresponds to an odd v.
//
//	p = 7:   0 ─ 1 ─ 3 5
//	           ─ 2 ─ 4 6
//
// Pješivac-Grbović et al., "Performance analysis of MPI collective operations", Cluster Computing
// 10(2), 2007: binary and split-binary tree; Open MPI, ompi_coll_base_topo_build_tree.

// A branch is the place of a rank, counted from the root, in a binary tree.
type branch struct {
	level, parent int // the parent is −1 at the root
	children      []int
}

// branchOf returns a rank's place.
func branchOf(v, ranks int) branch {
	b := branch{level: floorLog2(v + 1), parent: -1}
	for _, child := range []int{v + 1<<b.level, v + 2<<b.level} {
		if child < ranks {
			b.children = append(b.children, child)
		}
	}
	if v > 0 {
		b.parent = v - 1<<(b.level-1)
		if b.parent > 1<<b.level-2 {
			b.parent = v - 1<<b.level
		}
	}
	return b
}

// binaryTreeRoles returns the roles of a binary tree. Ranks have one role if they are on one level
// and have as many children.
func binaryTreeRoles(spec collective.Spec) schedule.Roles {
	return func(rank int, peers []int32) (role int64, all []int32) {
		v := mod(rank-spec.Root, spec.Ranks)
		b := branchOf(v, spec.Ranks)
		if b.parent >= 0 {
			peers = append(peers, int32((b.parent+spec.Root)%spec.Ranks))
		}
		for _, child := range b.children {
			peers = append(peers, int32((child+spec.Root)%spec.Ranks))
		}
		return int64(b.level)<<2 | int64(len(b.children)), peers
	}
}

// Binary tree broadcast: a rank passes every segment on to both children at once.
var binaryTreeBroadcast = Algorithm{
	Name:    "binary-tree",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "down a binary tree, in segments that follow one another",
	When:    "middling vectors on many ranks: few rounds, and a pipeline",
	Source:  "Pješivac-Grbović et al. 2007, binary tree; Open MPI",
	Formula: "(k−f)·α + (k−f−1+m)/m·n·β",
	Ports:   "(k−f)·α + ⌈2·(p−1)/p⌉·(k−f−1+m)/m·n·β",
	Params:  segmented("512KiB"),
	Roles:   binaryTreeRoles,
	Lane: func(l *Lane) {
		b := branchOf(mod(l.Rank-l.Root, l.Ranks), l.Ranks)
		for t := range l.Tiles() {
			l.Tile(t)
			passDown(l, b, b.children, l.All())
		}
	},
	Cost: func(p, tiles int) Cost {
		depth, fan := floorLog2(p), min(p-1, 2)
		return Cost{Alpha: depth, Rounds: []Round{{Times: depth - 1 + tiles, Blocks: 1, Fan: fan}}}
	},
}

// passDown passes a segment on to ranks that are counted from the root, at once.
func passDown(l *Lane, b branch, to []int, segment schedule.Region) {
	round := int(segment.Tile) + b.level
	switch {
	case b.parent < 0:
		l.Round(round)
		l.Keep(segment)
		l.Round(round)
		l.Combine(nil, plus(to, l.Root), l.Local(segment))
	case len(to) == 0:
		l.Round(round - 1)
		l.Recv(l.Root+b.parent, segment)
	default:
		l.Round(round)
		l.Combine([]schedule.Region{segment}, plus(to, l.Root), l.From(l.Root+b.parent))
	}
}

// Binary tree reduce: the broadcast backwards.
var binaryTreeReduce = Algorithm{
	Name:    "binary-tree",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "up a binary tree, in segments that follow one another",
	When:    "middling vectors on many ranks: few rounds, and a pipeline",
	Source:  "Pješivac-Grbović et al. 2007, binary tree; Open MPI",
	Formula: "(k−f)·α + (k−f−1+m)/m·n·β + ⌈2·(p−1)/p⌉·(k−f−1+m)/m·n·γ",
	Ports: "(k−f)·α + ⌈2·(p−1)/p⌉·(k−f−1+m)/m·n·β + " +
		"⌈2·(p−1)/p⌉·(k−f−1+m)/m·n·γ",
	Params: binaryTreeBroadcast.Params,
	Of:     &binaryTreeBroadcast,
}

// Split binary tree broadcast. The first half of the vector goes down below child 1 of the root,
// and the second half below child 2, on a lane each. Every rank sends its half to the corresponding
// one on the other side, segment by segment; the last of an even number of ranks corresponds to
// none, and gets the other half from the root.
//
//	p = 4:   first half 0→1→2 1→3   second half 0→2→1 0→3
var splitBinaryBroadcast = Algorithm{
	Name:    "split-binary",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "a half of the vector down each side of a binary tree, whose ranks exchange halves",
	When:    "long vectors: every rank sends half as much as in a binary tree",
	Source:  "Pješivac-Grbović et al. 2007, split-binary tree; Open MPI",
	Formula: "k·α + (k−1+m)/(2·m)·n·β",
	Params:  segmented("512KiB"),
	Chunks:  func(int) int { return 2 },
	Lanes:   func(int) int { return 2 },
	Roles:   splitBinaryRoles,
	Lane: func(l *Lane) {
		v, p := mod(l.Rank-l.Root, l.Ranks), l.Ranks
		b, to := sideOf(v, l.Index, p)
		for t := range l.Tiles() {
			l.Tile(t)
			passDown(l, b, to, l.Chunk(l.Index))
		}
	},
	Cost: func(p, tiles int) Cost {
		k, fan := ceilLog2(p), min(p/2, 3)
		return Cost{Alpha: k, PerConnection: true,
			Rounds: []Round{{Times: k - 1 + tiles, Blocks: 1, Fan: fan}}}
	},
}

// sideOf returns a rank's place in the tree of a half, 0 or 1, and to whom it passes it on.
func sideOf(v, half, ranks int) (b branch, to []int) {
	b = branchOf(v, ranks)
	lonely := ranks%2 == 0 && v == ranks-1
	switch {
	case v == 0:
		if to = []int{half + 1}; half+1 >= ranks {
			to = nil
		}
		if half == 1 && ranks%2 == 0 {
			to = append(to, ranks-1)
		}
	case v%2 != half: // on this half's side
		if to = b.children; !lonely {
			to = append(to, v+1-2*half)
		}
	case lonely:
		b = branch{level: 1}
	default:
		b = branch{level: b.level + 1, parent: v - 1 + 2*(v%2)}
	}
	return b, to
}

// splitBinaryRoles returns the roles of the two trees. Ranks have one role if they do the same in
// both.
func splitBinaryRoles(spec collective.Spec) schedule.Roles {
	return func(rank int, peers []int32) (role int64, all []int32) {
		v := mod(rank-spec.Root, spec.Ranks)
		for half := range 2 {
			b, to := sideOf(v, half, spec.Ranks)
			role = role<<16 | int64(b.level)<<4 | int64(len(to))<<1 | int64(v%2)
			if b.parent >= 0 {
				to = append([]int{b.parent}, to...)
			}
			for _, peer := range to {
				peers = append(peers, int32((peer+spec.Root)%spec.Ranks))
			}
		}
		return role, peers
	}
}

// Split binary tree reduce: the broadcast backwards.
var splitBinaryReduce = Algorithm{
	Name:    "split-binary",
	Kinds:   []collective.Kind{collective.Reduce},
	About:   "ranks exchange halves, which go up a side of a binary tree each",
	When:    "long vectors: every rank adds half as much at a time as in a binary tree",
	Source:  "Pješivac-Grbović et al. 2007, split-binary tree; Open MPI",
	Formula: "k·α + (k−1+m)/(2·m)·n·β + ⌈3−4/p⌉·(k−1+m)/(2·m)·n·γ",
	Params:  splitBinaryBroadcast.Params,
	Of:      &splitBinaryBroadcast,
}
