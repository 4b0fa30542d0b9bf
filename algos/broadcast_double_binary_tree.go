package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Double binary tree broadcast, pipelined. Each half of the vector has a binary tree of all ranks
// but the root, which hands it segments; a rank that is inside one tree is a leaf of the other (but
// for one rank, where they are odd in number).
//
//	p = 8, counted from the root:   first half  0→1, tree 1…7     second half  0→2, tree 2…7 1
//
// Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// Parallel Computing 35(12), 2009; the trees are those of doubleBinaryTreeAllReduce.
var doubleBinaryTreeBroadcast = Algorithm{
	Name:    "double-binary-tree",
	Kinds:   []collective.Kind{collective.Broadcast},
	About:   "a half of the vector down each of two binary trees, in segments",
	When:    "long vectors on many ranks: few rounds, and all wires at work",
	Source:  "Sanders, Speck and Träff 2009; oneCCL, UCC",
	Formula: "(k+1−⌊1/k⌋)·α + (k−⌊1/k⌋+m)/(2·m)·n·β",
	Params:  segmented("512KiB"),
	Chunks:  func(int) int { return 2 },
	Lanes:   func(int) int { return 2 },
	Roles:   twoTreeRoles,
	Lane: func(l *Lane) {
		b, to := inTwoTrees(mod(l.Rank-l.Root, l.Ranks), l.Index, l.Ranks)
		for t := range l.Tiles() {
			l.Tile(t)
			passDown(l, b, to, l.Chunk(l.Index))
		}
	},
	Cost: func(p, tiles int) Cost {
		hops := 1 + ceilLog2(p-1)
		return Cost{Alpha: hops, AtMost: true, PerConnection: true,
			Rounds: []Round{{Times: hops - 1 + tiles, Blocks: 1, Fan: min(max(p-2, 1), 2)}}}
	},
}

// inTwoTrees returns a rank's place in the tree of a half, 0 or 1, and to whom it passes it on. It
// counts from the root, on top of trees of the other ranks.
func inTwoTrees(v, half, ranks int) (b branch, to []int) {
	if v > 0 {
		n := doubleTree(half, v-1, ranks-1)
		return branch{level: n.depth + 1, parent: n.parent + 1}, plus(n.children, 1)
	}
	for v = 1; v < ranks; v++ { // the root of tree 1 is the last of its ranks, or the second
		if doubleTree(half, v-1, ranks-1).parent < 0 {
			return branch{parent: -1}, []int{v}
		}
	}
	return branch{parent: -1}, nil
}

// twoTreeRoles returns the roles of the two trees. Ranks have one role if they do the same in both.
func twoTreeRoles(spec collective.Spec) schedule.Roles {
	return func(rank int, peers []int32) (role int64, all []int32) {
		for half := range 2 {
			b, to := inTwoTrees(mod(rank-spec.Root, spec.Ranks), half, spec.Ranks)
			role = role<<16 | int64(b.level)<<3 | int64(len(to))<<1 | int64(min(b.level, 1))
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

// Double binary tree reduce: the broadcast backwards.
var doubleBinaryTreeReduce = Algorithm{
	Name:   "double-binary-tree",
	Kinds:  []collective.Kind{collective.Reduce},
	About:  "a half of the vector up each of two binary trees, in segments",
	When:   "long vectors on many ranks: few rounds, and all wires at work",
	Source: "Sanders, Speck and Träff 2009; oneCCL, UCC",
	Params: doubleBinaryTreeBroadcast.Params,
	Of:     &doubleBinaryTreeBroadcast,
}
