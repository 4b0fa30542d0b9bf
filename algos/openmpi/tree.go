package openmpi

import "math/bits"

// A tree has the parent of each rank, −1 for the root, and its children. Children are in the order
// in which their sums are added or they are sent to.
type tree struct {
	parent   []int
	children [][]int
}

// treeOf returns a tree given its parents. Children are in the order of their places after the
// root, as in Open MPI's trees except for the in-order binary one.
func treeOf(root int, parent []int) tree {
	t := tree{parent, make([][]int, len(parent))}
	for i := range parent {
		rank := (root + i) % len(parent)
		if p := parent[rank]; p >= 0 {
			t.children[p] = append(t.children[p], rank)
		}
	}
	return t
}

// shifted returns the tree of a root, given parents for root 0.
func shifted(root int, parent []int) tree {
	n := len(parent)
	moved := make([]int, n)
	for i, p := range parent {
		if p >= 0 {
			p = (p + root) % n
		}
		moved[(i+root)%n] = p
	}
	return treeOf(root, moved)
}

// chains returns so many chains below the root; the first ones are longer by one if necessary
// (ompi_coll_base_topo_build_chain).
func chains(ranks, root, fanout int) tree {
	fanout = max(min(fanout, ranks-1), 1)
	parent := make([]int, ranks)
	parent[0] = -1
	at := 1
	for chain := range fanout {
		length := (ranks - 1) / fanout
		if chain < (ranks-1)%fanout {
			length++
		}
		for i := range length {
			if parent[at] = at - 1; i == 0 {
				parent[at] = 0
			}
			at++
		}
	}
	return shifted(root, parent)
}

// twoWay returns the tree whose level l has 2^l places. The children of a place are 2^l and twice
// that after it (ompi_coll_base_topo_build_tree with a fan-out of 2).
func twoWay(ranks, root int) tree {
	parent := make([]int, ranks)
	parent[0] = -1
	for level, first := 1, 0; first < ranks; level *= 2 {
		for place := first; place < first+level; place++ {
			for i := 1; i <= 2; i++ {
				if child := place + i*level; child < ranks {
					parent[child] = place
				}
			}
		}
		first += level
	}
	return shifted(root, parent)
}

// binomial returns the tree in which a place's parent lacks its lowest one bit
// (ompi_coll_base_topo_build_in_order_bmtree).
func binomial(ranks, root int) tree {
	parent := make([]int, ranks)
	parent[0] = -1
	for place := 1; place < ranks; place++ {
		parent[place] = place & (place - 1)
	}
	return shifted(root, parent)
}

// highBit returns the tree in which a place's parent lacks its highest one bit: the first child has
// the largest subtree (ompi_coll_base_topo_build_bmtree).
func highBit(ranks, root int) tree {
	parent := make([]int, ranks)
	parent[0] = -1
	for place := 1; place < ranks; place++ {
		parent[place] = place &^ (1 << (bits.Len(uint(place)) - 1))
	}
	return shifted(root, parent)
}

// knomial returns the tree in which a place's parent lacks its lowest digit, in digits of a radix.
// Children with the highest digits come first (ompi_coll_base_topo_build_kmtree).
func knomial(ranks, root, radix int) tree {
	t := tree{make([]int, ranks), make([][]int, ranks)}
	for place := range ranks {
		rank, unit := (place+root)%ranks, 1
		for unit < ranks && place%(radix*unit) == 0 {
			unit *= radix
		}
		t.parent[rank] = -1
		if place > 0 {
			t.parent[rank] = (place/(radix*unit)*(radix*unit) + root) % ranks
		}
		for unit /= radix; unit > 0; unit /= radix {
			for child := place + unit; child < min(place+radix*unit, ranks); child += unit {
				t.children[rank] = append(t.children[rank], (child+root)%ranks)
			}
		}
	}
	return t
}

// star returns the tree of a root whose children are all others, from the lowest rank on.
func star(ranks, root int) tree {
	t := tree{make([]int, ranks), make([][]int, ranks)}
	for rank := range ranks {
		t.parent[rank] = root
		if rank != root {
			t.children[root] = append(t.children[root], rank)
		}
	}
	t.parent[root] = -1
	return t
}

// inOrder returns the binary tree whose root is the last rank. All ranks of a right subtree are
// below those of the left one, and these below their parent
// (ompi_coll_base_topo_build_in_order_bintree).
func inOrder(ranks int) tree {
	t := tree{make([]int, ranks), make([][]int, ranks)}
	var grow func(first, size, parent int)
	grow = func(first, size, parent int) {
		if size == 0 {
			return
		}
		root := first + size - 1
		t.parent[root] = parent
		if parent >= 0 {
			t.children[parent] = append(t.children[parent], root)
		}
		right := size / 2
		if size == 2 {
			right = 0 // one child is a left one
		}
		grow(first+right, size-right-1, root)
		grow(first, right, root)
	}
	grow(0, ranks, -1)
	return t
}
