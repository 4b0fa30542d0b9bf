package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// Double binary tree all_reduce, pipelined. Each half of the vector has a tree of its own: sums go
// up to its root, and the result comes down again, in segments that follow one another. A rank that
// is inside one tree is a leaf of the other (but for one rank, where p is odd), so that all ranks
// send about as much.
//
//	p = 8:   tree 0:  0            tree 1, mirrored:  7
//	                  4                               3
//	                2   6                           5   1
//	               1 3 5 7                         6 4 2 0
//
//	lane 0, 1   of tree 0: up, down       lane 2, 3   of tree 1: up, down
//
// A rank adds to its own part that of its first child, then that of the second, in one step, as
// NCCL does (device/all_reduce.h, runTreeSplit; graph/connect.cc keeps the children in the order
// of ncclGetDtree): in tree 0 the lower child is the first, in its mirror image the higher one. The
// root's down lane waits for its up lane, segment by segment. In place nothing races, since a
// result comes down after the same rank's part of it has gone up.
//
// Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// Parallel Computing 35(12), 2009; the trees are those of NCCL (graph/trees.cc, ncclGetDtree).
var doubleBinaryTreeAllReduce = Algorithm{
	Name:    "double-binary-tree",
	Kinds:   []collective.Kind{collective.AllReduce},
	About:   "a tree for each half of the vector: sums go up and come down, in segments",
	When:    "many ranks and middling vectors: few rounds, and all wires at work",
	Source:  "Sanders, Speck and Träff 2009; NCCL ncclGetDtree",
	Formula: "2·k·α + (2·k+m−1)/(2·m)·n·β + (k+m−1)/m·n·γ",
	Params:  segmented("512KiB"),
	Chunks:  func(int) int { return 2 },
	Lanes:   func(int) int { return 4 },
	Roles:   func(spec collective.Spec) schedule.Roles { return treeRoles(spec.Ranks) },
	Lane: func(l *Lane) {
		tree := l.Index / 2
		n := doubleTree(tree, l.Rank, l.Ranks)
		for t := range l.Tiles() {
			l.Tile(t)
			if l.Index%2 == 0 {
				sendUp(l, n, l.Chunk(tree), t)
			} else {
				sendDown(l, n, l.Out(tree), t)
			}
		}
	},
	// The two-tree paper's rounds, for a rank that has a wire to each neighbour in each tree: the
	// first segment takes depth hops up and as many down, the others follow right behind. NCCL's
	// trees have some pairs of neighbours in common, at any number of ranks.
	Turns: true,
	Cost: func(p, tiles int) Cost {
		depth := ceilLog2(p)
		return Cost{Alpha: 2 * depth, AtMost: !powerOf2(p), PerConnection: true, Rounds: []Round{
			{Times: depth + tiles - 1, Blocks: 1, Sums: 2}, {Times: depth, Blocks: 1}}}
	},
}

// sendUp sends this rank's part of segment t and its children's to the parent.
func sendUp(l *Lane, n node, segment schedule.Region, t int) {
	sources := []schedule.Source{l.Local(segment)}
	for _, child := range n.children {
		sources = append(sources, l.From(child))
	}
	l.Round(t + ceilLog2(l.Ranks) - n.depth)
	if n.parent < 0 {
		l.Completes()
		l.Combine([]schedule.Region{segment}, nil, sources...)
		l.Post()
		return
	}
	l.Combine(nil, []int{n.parent}, sources...)
}

// sendDown keeps the result of segment t and sends it to the children.
func sendDown(l *Lane, n node, segment schedule.Region, t int) {
	round := t + ceilLog2(l.Ranks) + n.depth
	if len(n.children) == 0 {
		round-- // it only receives, when the parent sends
	}
	l.Round(round)
	if n.parent < 0 {
		l.After(l.Index-1, t+1)
		l.Combine(nil, n.children, l.Local(segment))
		return
	}
	l.Combine([]schedule.Region{segment}, n.children, l.From(n.parent))
}
