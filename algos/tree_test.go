package algos

import (
	"fmt"
	"strings"
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
		require.Equal(t, want, n.children, "rank %d", rank)
	}
	require.Equal(t, 4, binaryTree(11, 14).depth, "0, 8, 12, 10, 11")
}

// TestDoubleTree asserts what makes two trees of use, up to 200 ranks: parents and children agree,
// all hang on one root, at most ⌈log₂ p⌉ deep; and nobody is inside both trees, but for one rank
// where their number is odd.
func TestDoubleTree(t *testing.T) {
	for p := 2; p <= 200; p++ {
		inside := make([]int, p)
		for tree := range 2 {
			roots, deepest := 0, 0
			for rank := range p {
				n := doubleTree(tree, rank, p)
				require.LessOrEqual(t, len(n.children), 2)
				for _, child := range n.children {
					c := doubleTree(tree, child, p)
					require.Equal(t, rank, c.parent, "%d ranks, tree %d: parent of %d", p, tree, child)
					require.Equal(t, n.depth+1, c.depth)
				}
				if n.parent < 0 {
					roots++
					require.Zero(t, n.depth)
				} else {
					parent := doubleTree(tree, n.parent, p)
					require.Contains(t, parent.children, rank)
				}
				if len(n.children) > 0 {
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

// TestNCCLTrees holds the second tree, with the order of its children, to what NCCL 2.30.7's own
// ncclGetDtree gives (graph/trees.cc, compiled alone): of each rank "parent>child 0,child 1", where
// −1 is nobody.
func TestNCCLTrees(t *testing.T) {
	rows := map[int]string{
		7: "5>6,-1 -1>-1,5 3>-1,-1 5>2,4 3>-1,-1 1>3,0 0>-1,-1",
		8: "1>-1,-1 3>2,0 1>-1,-1 7>5,1 5>-1,-1 3>6,4 5>-1,-1 -1>-1,3",
		11: "9>10,-1 -1>-1,9 3>-1,-1 5>2,4 3>-1,-1 9>3,7 7>-1,-1 5>6,8 7>-1,-1 1>5,0 " +
			"0>-1,-1",
		15: "13>14,-1 -1>-1,9 3>-1,-1 5>2,4 3>-1,-1 9>3,7 7>-1,-1 5>6,8 7>-1,-1 1>5,13 " +
			"11>-1,-1 13>10,12 11>-1,-1 9>11,0 0>-1,-1",
		23: "21>22,-1 -1>-1,17 3>-1,-1 5>2,4 3>-1,-1 9>3,7 7>-1,-1 5>6,8 7>-1,-1 " +
			"17>5,13 11>-1,-1 13>10,12 11>-1,-1 9>11,15 15>-1,-1 13>14,16 15>-1,-1 " +
			"1>9,21 19>-1,-1 21>18,20 19>-1,-1 17>19,0 0>-1,-1",
	}
	for _, p := range []int{7, 8, 11, 15, 23} {
		var row []string
		for rank := range p {
			n := doubleTree(1, rank, p)
			row = append(row, fmt.Sprintf("%d>%s", n.parent, slots(n)))
		}
		require.Equal(t, rows[p], strings.Join(row, " "), "%d ranks", p)
	}
}

// slots are the places that NCCL has for a rank's children: the root's only one is the second, any
// other's only one the first.
func slots(n node) string {
	switch {
	case len(n.children) == 2:
		return fmt.Sprintf("%d,%d", n.children[0], n.children[1])
	case len(n.children) == 0:
		return "-1,-1"
	case n.parent < 0:
		return fmt.Sprintf("-1,%d", n.children[0])
	}
	return fmt.Sprintf("%d,-1", n.children[0])
}

// TestTreesByDefinition grows both trees from the root down, as they are drawn: the middle of a
// range of 2ᵏ−1 places is its root, if there is such a place, else the lower half is all there is.
// Rank 0 is above the range that begins at 1.
func TestTreesByDefinition(t *testing.T) {
	for p := 2; p <= 200; p++ {
		children, parent := make([][]int, p), make([]int, p)
		var grow func(first, width, above int)
		grow = func(first, width, above int) {
			middle := first + width/2
			switch {
			case width == 0 || first >= p:
			case middle >= p:
				grow(first, width/2, above)
			default:
				parent[middle] = above
				children[above] = append(children[above], middle)
				grow(first, width/2, middle)
				grow(middle+1, width/2, middle)
			}
		}
		parent[0] = -1
		grow(1, 255, 0)
		for rank := range p {
			moved := []func(int) int{func(i int) int { return i }, func(i int) int { return p - 1 - i }}
			if p%2 == 1 {
				moved[1] = func(i int) int { return (i + 1) % p }
			}
			for tree, to := range moved {
				want := node{parent: -1, depth: doubleTree(tree, to(rank), p).depth}
				if parent[rank] >= 0 {
					want.parent = to(parent[rank])
				}
				for _, child := range children[rank] {
					want.children = append(want.children, to(child))
				}
				require.Equal(t, want, doubleTree(tree, to(rank), p), "%d ranks, tree %d", p, tree)
			}
		}
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
