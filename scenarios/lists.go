package scenarios

import (
	"fmt"
	"strconv"
	"strings"
)

// order says where the ranks sit: by a rule, or place by place.
type order struct {
	name   string
	places []int
}

// teams is who does a collective together: by a rule, or rank by rank.
type teams struct {
	by    string
	lists [][]int
}

// lengths are those of a shape's axes as they are written: 8192, "tokens", "4*hidden" or
// "hidden/8".
type lengths []string

// String returns the canonical spelling: [tokens,8192].
func (l lengths) String() string { return "[" + strings.Join(l, ",") + "]" }

// listed reports whether one value of the key may be a list.
func (k *Key) listed() bool {
	switch k.kind {
	case aMatrix, aShape, anOrder, aTeams, aNames, aCount, aFiles, aLengths:
		return true
	}
	return false
}

// readList reads keys whose one value may be a list: []int (shape), int64 or []int (count), order,
// teams, []string (names) or splits (matrix).
func (k *Key) readList(n *node) (any, *problem) {
	if k.kind == aMatrix {
		return k.splits(n)
	}
	if s, ok := n.value.(string); ok && len(k.Values) > 0 {
		name, p := k.choice(s)
		switch {
		case p != nil:
			return nil, p
		case k.kind == anOrder:
			return order{name: name.(string)}, nil
		}
		return teams{by: name.(string)}, nil
	}
	switch k.kind {
	case aCount:
		if n.shape == array {
			if k.name() == "repeat" {
				return k.wholes(n, "that of loop %d")
			}
			return k.wholes(n, "that of node %d")
		}
		return k.whole(n)
	case anOrder:
		places, p := k.wholes(n, "the place of rank %d")
		return order{places: places}, p
	case aTeams:
		return k.teams(n)
	case aNames:
		return k.names(n)
	case aFiles:
		return k.files(n)
	case aLengths:
		return k.lengths(n)
	}
	return k.wholes(n, "dimension %d")
}

// unlisted says what a list key expects.
func (k *Key) unlisted() *problem {
	text := "a list of whole numbers is expected"
	switch k.kind {
	case aMatrix:
		text = "a list of rows of whole numbers, the name of a file that has them, or { zipf = … } " +
			"is expected"
	case aTeams:
		text = "a list of teams, each a list of ranks, is expected"
	case aCount:
		text = "a whole number, or a list of them, is expected"
	case aFiles:
		text = "the name of a file, or a list of them, is expected"
	case aLengths:
		text = "a list of whole numbers, and of names of lengths in quotes, is expected"
	case aNames:
		text = "a list of names in quotes is expected"
	}
	if len(k.Values) > 0 {
		text = strings.Join(k.Values, ", ") + ", or " + text
	}
	return &problem{text, "for example " + k.Example}
}

// wholes reads a list of whole numbers; what calls one of them, by its place in the list.
func (k *Key) wholes(n *node, what string) ([]int, *problem) {
	if n.shape != array || len(n.items) == 0 {
		return nil, k.unlisted()
	}
	list := make([]int, len(n.items))
	for i, item := range n.items {
		v, ok := item.value.(int64)
		if !ok {
			return nil, k.unlisted()
		}
		if v < k.min || v > k.max {
			return nil, &problem{text: fmt.Sprintf(what+" is %d; %s is expected", i, v, k.bounds())}
		}
		list[i] = int(v)
	}
	return list, nil
}

// lengths reads a list of whole numbers and names.
func (k *Key) lengths(n *node) (any, *problem) {
	if n.shape != array || len(n.items) == 0 {
		return nil, k.unlisted()
	}
	var list lengths
	for i, item := range n.items {
		switch v := item.value.(type) {
		case int64:
			if v < k.min || v > k.max {
				return nil, &problem{text: fmt.Sprintf("dimension %d is %d; %s is expected", i, v, k.bounds())}
			}
			list = append(list, strconv.FormatInt(v, 10))
		case string:
			if _, p := k.text(v); p != nil {
				return nil, p
			}
			list = append(list, v)
		default:
			return nil, k.unlisted()
		}
	}
	return list, nil
}

// teams reads [[0, 1], [2, 3]]. It judges what every network would refuse: teams without a rank,
// and a rank in two places.
func (k *Key) teams(n *node) (any, *problem) {
	if n.shape != array || len(n.items) == 0 {
		return nil, k.unlisted()
	}
	var t teams
	seen := map[int]int{} // the team of each rank
	for i, one := range n.items {
		if one.shape == array && len(one.items) == 0 {
			return nil, &problem{text: fmt.Sprintf("team %d has no rank", i)}
		}
		ranks, p := k.wholes(one, fmt.Sprintf("member %%d of team %d", i))
		if p != nil {
			return nil, p
		}
		for _, rank := range ranks {
			if before, ok := seen[rank]; ok && before == i {
				return nil, &problem{text: fmt.Sprintf("rank %d is in team %d twice", rank, i)}
			} else if ok {
				return nil, &problem{fmt.Sprintf("rank %d is in team %d and in team %d", rank, before, i),
					"teams run at once, and a rank can be in one of them only"}
			}
			seen[rank] = i
		}
		t.lists = append(t.lists, ranks)
	}
	return t, nil
}

// matrix reads [[1, 2], [3, 4]], or [1, 2] as a single row. It judges the numbers; how many
// there must be depends on the kind and the ranks.
func (k *Key) matrix(n *node) ([][]int64, *problem) {
	expected := k.unlisted()
	if n.shape != array || len(n.items) == 0 {
		return nil, expected
	}
	if n.items[0].shape == scalar {
		n = &node{shape: array, items: []*node{n}}
	}
	rows := make([][]int64, len(n.items))
	for i, row := range n.items {
		if row.shape != array {
			return nil, expected
		}
		rows[i] = make([]int64, len(row.items))
		for j, item := range row.items {
			v, ok := item.value.(int64)
			if !ok {
				return nil, expected
			}
			if v < k.min || v > k.max {
				return nil, &problem{text: fmt.Sprintf("row %d, column %d is %d; %s is expected",
					i, j, v, k.bounds())}
			}
			rows[i][j] = v
		}
	}
	return rows, nil
}

// listText returns the canonical spelling of whole numbers in a list: [4,2].
func listText(numbers []int) string {
	return strings.ReplaceAll(fmt.Sprint(numbers), " ", ",")
}

// String returns the canonical spelling: "block", [0,2,1,3].
func (o order) String() string {
	if o.name != "" {
		return o.name
	}
	return listText(o.places)
}

// String returns the canonical spelling: "node", [[0,1],[2,3]].
func (t teams) String() string {
	if t.by != "" {
		return t.by
	}
	return strings.ReplaceAll(fmt.Sprint(t.lists), " ", ",")
}

// names reads a list of names.
func (k *Key) names(n *node) (any, *problem) {
	if s, ok := n.value.(string); ok && n.shape == scalar { // one
		if _, p := k.text(s); p != nil {
			return nil, p
		}
		return []string{s}, nil
	}
	if n.shape != array || len(n.items) == 0 {
		return nil, k.unlisted()
	}
	var list []string
	for _, item := range n.items {
		s, ok := item.value.(string)
		if !ok || item.shape != scalar {
			return nil, k.unlisted()
		}
		if _, p := k.text(s); p != nil {
			return nil, p
		}
		list = append(list, s)
	}
	return list, nil
}

// files reads the name of a file, or a list of them.
func (k *Key) files(n *node) (any, *problem) {
	list := []*node{n}
	if n.shape == array {
		list = n.items
	}
	var names []string
	for _, item := range list {
		name, ok := item.value.(string)
		if !ok || item.shape != scalar || strings.TrimSpace(name) == "" {
			return nil, k.unlisted()
		}
		if p := fileName(name); p != nil {
			return nil, p
		}
		names = append(names, name)
	}
	if names == nil {
		return nil, k.unlisted()
	}
	return names, nil
}
