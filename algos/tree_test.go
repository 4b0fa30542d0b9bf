package algos

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBinaryTree holds a tree to the one that NCCL draws beside ncclGetBtree, for 14 ranks.
func TestBinaryTree(t *testing.T) {
	children := [][]int{
		0: {8}, 1: nil, 2: {1, 3}, 3: nil, 4: {2, 6}, 5: nil, 6: {5, 7}, 7: nil,
		8: {4, 12}, 9: nil, 10: {9, 11}, 11: nil, 12: {10, 13}, 13: nil,
	}
	for rank, want := range children {
		n := binaryTree(rank, len(children))
		require.Equal(t, want, slices.Concat(n.before, n.after), "rank %d", rank)
	}
	require.Equal(t, 4, binaryTree(11, 14).depth, "0, 8, 12, 10, 11")
}

// TestDoubleTree asserts what makes two trees of use, up to 200 ranks: parents and children agree,
// all hang on one root, at most ⌈log₂ p⌉ deep; ranks stand in order where nobody is moved on; and
// nobody is inside both trees, but for one rank where their number is odd.
func TestDoubleTree(t *testing.T) {
	for p := 2; p <= 200; p++ {
		inside := make([]int, p)
		for tree := range 2 {
			roots, deepest := 0, 0
			for rank := range p {
				n := doubleTree(tree, rank, p)
				children := slices.Concat(n.before, n.after)
				require.LessOrEqual(t, len(children), 2)
				for _, child := range children {
					c := doubleTree(tree, child, p)
					require.Equal(t, rank, c.parent, "%d ranks, tree %d: parent of %d", p, tree, child)
					require.Equal(t, n.depth+1, c.depth)
				}
				if n.parent < 0 {
					roots++
					require.Zero(t, n.depth)
				} else {
					parent := doubleTree(tree, n.parent, p)
					require.Contains(t, slices.Concat(parent.before, parent.after), rank)
				}
				if len(children) > 0 {
					inside[rank]++
				}
				deepest = max(deepest, n.depth)
			}
			require.Equal(t, 1, roots, "%d ranks, tree %d", p, tree)
			require.Equal(t, ceilLog2(p), deepest, "%d ranks, tree %d", p, tree)
		}
		both := 0
		for _, n := range inside {
			if n == 2 {
				both++
			}
		}
		want := p % 2
		if p == 2 { // the only two ranks: each is a root once
			want = 0
		}
		require.Equal(t, want, both, "%d ranks inside both trees of %d", both, p)
	}
}

// TestFold asserts that a fold numbers a power of two of ranks, in order, and that the runs of
// blocks they stand for make up all ranks.
func TestFold(t *testing.T) {
	for p := 1; p <= 70; p++ {
		f := foldOf(p)
		require.True(t, powerOf2(f.q) && f.q <= p && p < 2*f.q)
		next := 0
		for rank := range p {
			n := f.number(rank)
			if n < 0 {
				require.Equal(t, f.number(rank+1), next, "rank %d of %d folds into the next", rank, p)
				require.Equal(t, rank, f.first(next))
				continue
			}
			require.Equal(t, next, n)
			require.Equal(t, rank, f.rank(n))
			require.Equal(t, f.paired(n), f.first(n) == rank-1)
			next++
		}
		require.Equal(t, f.q, next)
		require.Equal(t, p, f.first(f.q))
	}
}
