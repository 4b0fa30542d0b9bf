package forestcoll

import (
	"fmt"
	"slices"

	"collsim/formats/internal/foreign"
)

// forest holds the trees of a file. Ranks are the roots, in the order of their names.
type forest struct {
	names  []node // of each rank
	chunks int    // of each rank's block
	trees  []tree
	edges  []edge // in the order of trees
	// strands are the units that move as one, in the order of the trees; most is the largest number
	// of one root.
	strands []strand
	most    int
}

// tree carries chunks of its root to all ranks.
type tree struct {
	root, index   int
	first, chunks int // of the root's
	height        int // as the file states it
	levels        int // the true height
	reached       int // number of ranks
	line          int
	edges         [2]int // from, to
}

// edge is a send of a tree.
type edge struct {
	tree, from, to int
	level          int // distance of from from the root; −1 if it is not reached
	line           int
}

// forest assembles the elements.
func (d *decoder) forest() (*forest, error) {
	f := &forest{chunks: d.chunks}
	for i := range d.trees {
		f.names = append(f.names, d.trees[i].root)
	}
	slices.SortFunc(f.names, node.compare)
	f.names = slices.CompactFunc(f.names, func(a, b node) bool { return a.compare(b) == 0 })
	if len(f.names) == 0 || len(f.names) > maxRanks {
		return nil, &foreign.Error{File: d.file, Text: "a tree for every rank is expected, and at " +
			"most 65536 ranks"}
	}
	used := make([]int, len(f.names)) // chunks of each rank that trees have taken
	level := make([]int, len(f.names))
	for i := range d.trees {
		raw := &d.trees[i]
		root, _ := f.rank(raw.root)
		t := tree{root: root, index: raw.index, first: used[root], chunks: raw.chunks,
			height: raw.height, line: raw.line}
		if used[root] += raw.chunks; used[root] > d.chunks {
			d.line = raw.line
			return nil, d.wrong("the trees of %s carry %d chunks of %d", raw.root, used[root], d.chunks)
		}
		t.edges[0] = len(f.edges)
		for _, s := range d.sends[raw.firstSend : raw.firstSend+raw.sends] {
			e := edge{tree: i, line: s.line}
			for _, end := range [2]struct {
				name node
				to   *int
			}{{s.from, &e.from}, {s.to, &e.to}} {
				rank, ok := f.rank(end.name)
				if !ok {
					d.line = s.line
					return nil, d.wrong("%s is the root of no tree, so it is no rank", end.name)
				}
				*end.to = rank
			}
			f.edges = append(f.edges, e)
		}
		t.edges[1] = len(f.edges)
		f.trees = append(f.trees, t)
		f.level(&f.trees[i], level)
	}
	for rank, n := range used {
		if n < d.chunks {
			return nil, &foreign.Error{File: d.file, Text: fmt.Sprintf(
				"the trees of %s carry %d chunks of %d", f.names[rank], n, d.chunks)}
		}
	}
	return f, f.split(d)
}

// rank returns the number of a node among the roots.
func (f *forest) rank(n node) (int, bool) {
	return slices.BinarySearchFunc(f.names, n, node.compare)
}

// level computes the distance of every node from the root. level has an entry for each rank; only
// those of the tree are used.
func (f *forest) level(t *tree, level []int) {
	edges := f.edges[t.edges[0]:t.edges[1]]
	from := make(map[int][]int, len(edges))
	for i := range edges {
		edges[i].level = -1
		level[edges[i].from], level[edges[i].to] = -1, -1
		from[edges[i].from] = append(from[edges[i].from], i)
	}
	level[t.root], t.reached = 0, 1
	for queue := []int{t.root}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, i := range from[at] {
			edges[i].level = level[at]
			t.levels = max(t.levels, level[at]+1)
			if to := edges[i].to; level[to] < 0 {
				level[to] = level[at] + 1
				t.reached++
				queue = append(queue, to)
			}
		}
	}
}
