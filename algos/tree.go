package algos

import "collsim/schedule"

// A node is a rank's place in a binary tree.
type node struct {
	parent   int   // −1 at the root
	children []int // at most two, in the order in which NCCL adds their sums
	depth    int   // hops to the root, at most ⌈log₂ p⌉
}

// binaryTree returns a rank's place in NCCL's binary tree, whose leaves are the odd ranks
// (graph/trees.cc, ncclGetBtree). The parent has the next higher bit set instead of the lowest one.
// If that is beyond the last rank, it has just not the lowest one. From left to right, nodes are in
// rank order, and so are children.
//
//	p = 14:   0───────────8
//	                  4       12
//	                2   6   10  │
//	               1 3 5 7 9 11 13
func binaryTree(rank, ranks int) node {
	n := node{parent: treeParent(rank, ranks)}
	for at := rank; at != 0; at = treeParent(at, ranks) {
		n.depth++
	}
	half := lowestBit(rank, ranks) / 2
	if half > 0 && rank != 0 {
		n.children = append(n.children, rank-half)
	}
	for ; half > 0; half /= 2 {
		if rank+half < ranks {
			n.children = append(n.children, rank+half)
			break
		}
	}
	return n
}

// treeParent returns the parent in binaryTree, −1 at the root.
func treeParent(rank, ranks int) int {
	if rank == 0 {
		return -1
	}
	low := rank & -rank
	if up := rank&^low | 2*low; up < ranks {
		return up
	}
	return rank &^ low
}

// doubleTree returns a rank's place in tree 0 or 1 of NCCL's two. For an even number of ranks, tree
// 1 is tree 0 mirrored, so that no rank is an inner node of both. For an odd number it is tree 0
// with every rank moved on by one. Children stay in the order of tree 0 (graph/trees.cc,
// ncclGetDtree).
func doubleTree(tree, rank, ranks int) node {
	switch {
	case tree == 0:
		return binaryTree(rank, ranks)
	case ranks%2 == 0:
		n := binaryTree(ranks-1-rank, ranks)
		return n.renumbered(func(i int) int { return ranks - 1 - i })
	}
	n := binaryTree(mod(rank-1, ranks), ranks)
	return n.renumbered(func(i int) int { return (i + 1) % ranks })
}

// renumbered returns the node in a tree whose ranks have other numbers.
func (n node) renumbered(number func(int) int) node {
	r := node{parent: n.parent, depth: n.depth}
	if n.parent >= 0 {
		r.parent = number(n.parent)
	}
	for _, child := range n.children {
		r.children = append(r.children, number(child))
	}
	return r
}

// treeRoles returns the roles of the two trees. Ranks have one role if they have the same depth,
// and as many parents and children, in each tree.
func treeRoles(ranks int) schedule.Roles {
	return func(rank int, peers []int32) (role int64, all []int32) {
		for tree := range 2 {
			n := doubleTree(tree, rank, ranks)
			role = role<<16 | int64(n.depth)<<3 | int64(len(n.children))<<1
			if n.parent >= 0 {
				role |= 1
				peers = append(peers, int32(n.parent))
			}
			for _, child := range n.children {
				peers = append(peers, int32(child))
			}
		}
		return role, peers
	}
}
