package programs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// A Program is the program of a scenario.
type Program struct {
	Ranks      int
	iterations int
	gradient   bool
	groups     map[string][][]int
	tensors    map[string]*declared
	names      []string // of tensors, in the order of the file
	ops        []op
}

// A declared is a tensor table of the file.
type declared struct {
	typ            numberType
	shape          []int64
	keep, detached bool
}

// An op is a call or a kernel with at most one result.
type op struct {
	name   string
	call   *call
	kernel *kernel
	in     []string
	out    string  // "" for none
	typ    string  // of the result; "" for that of the first operand
	shape  []int64 // of the result of an opaque kernel; nil for that of the tensor
	teams  [][]int
	over   [][]int // of a shard: a rank keeps the part of its place in a team
	late   bool    // waits for gradients
}

// A table is a table of the file; err keeps the first error.
type table struct {
	at   string
	data map[string]any
	err  *error
}

// fail records the first error.
func (t table) fail(format string, args ...any) {
	if *t.err == nil {
		*t.err = fmt.Errorf("%s: %s", t.at, fmt.Sprintf(format, args...))
	}
}

// only refuses unknown keys.
func (t table) only(known ...string) {
	for key := range t.data {
		if !slices.Contains(known, key) {
			t.fail("%s is not known", key)
		}
	}
}

// value returns a key's value, or otherwise if the key is missing.
func value[T any](t table, key string, otherwise T) T {
	v, there := t.data[key]
	if !there {
		return otherwise
	}
	of, ok := v.(T)
	if !ok {
		t.fail("%s = %v: another type is expected", key, v)
		return otherwise
	}
	return of
}

// names returns a list of names; a single name counts as a list.
func (t table) names(key string) (list []string) {
	switch v := t.data[key].(type) {
	case nil:
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			name, ok := e.(string)
			if !ok {
				t.fail("%s: names are expected", key)
			}
			list = append(list, name)
		}
	default:
		t.fail("%s: names are expected", key)
	}
	return list
}

// whole returns a list of whole numbers.
func (t table) whole(key string, v any) (list []int64) {
	items, ok := v.([]any)
	for _, e := range items {
		n, whole := e.(int64)
		ok = ok && whole && n >= 0
		list = append(list, n)
	}
	if !ok {
		t.fail("%s: whole numbers are expected", key)
	}
	return list
}

// below returns the tables of an array, which may be inline.
func (t table) below(key string) (list []table) {
	add := func(data map[string]any) {
		list = append(list, table{fmt.Sprintf("%s.%s[%d]", t.at, key, len(list)), data, t.err})
	}
	switch of := t.data[key].(type) {
	case nil:
	case []map[string]any:
		for _, data := range of {
			add(data)
		}
	case []any:
		for _, e := range of {
			data, ok := e.(map[string]any)
			if !ok {
				t.fail("%s: tables are expected", key)
			}
			add(data)
		}
	default:
		t.fail("%s: tables are expected", key)
	}
	return list
}

// Read reads a scenario with one program.
func Read(text string) (*Program, error) {
	var err error
	root := table{"scenario", map[string]any{}, &err}
	if _, wrong := toml.Decode(text, &root.data); wrong != nil {
		return nil, wrong
	}
	if len(value(root, "sweep", map[string]any(nil))) > 0 {
		root.fail("of a sweep it is not known which point is meant")
	}
	network := table{"topology", value(root, "topology", map[string]any{}), &err}
	t := table{"program", value(root, "program", map[string]any{}), &err}
	t.only("iterations", "gradient", "order", "stages", "group", "tensor", "op")
	p := &Program{iterations: int(value(t, "iterations", int64(1))),
		groups: map[string][][]int{}, tensors: map[string]*declared{}}
	switch value(t, "gradient", "none") {
	case "full":
		p.gradient = true
	case "none":
	default:
		t.fail("this gradient is not known")
	}
	nodes := network.ranks(p)
	if err == nil {
		p.readGroups(t, network, nodes)
		for _, of := range t.below("tensor") {
			p.readTensor(of)
		}
		p.readOps(t.below("op"))
	}
	if err != nil {
		return nil, err
	}
	p.part()
	return p, nil
}

// ranks computes the number of ranks, and returns that of nodes.
func (t table) ranks(p *Program) int {
	nodes := value(t, "nodes", int64(1))
	ranks := value(t, "ranks", int64(0))
	of := func(t table) int64 {
		if shape, ok := t.data["shape"]; ok {
			return elements(t.whole("shape", shape))
		}
		return value(t, "ranks", int64(0))
	}
	node := table{"topology.node", value(t, "node", map[string]any{}), t.err}
	switch {
	case ranks == 0 && len(node.data) > 0:
		ranks = nodes * of(node)
	case ranks == 0:
		ranks = nodes * of(t)
	}
	if ranks < 1 || nodes < 1 || ranks%nodes != 0 || ranks > 1024 {
		t.fail("1 to 1024 ranks are expected, not %d on %d nodes", ranks, nodes)
	}
	p.Ranks = int(ranks)
	return int(nodes)
}

// readGroups reads the groups, and adds the group of all ranks.
func (p *Program) readGroups(t, network table, nodes int) {
	var all []int
	for rank := range p.Ranks {
		all = append(all, rank)
	}
	p.groups[""], p.groups["all"] = [][]int{all}, [][]int{all}
	for _, g := range t.below("group") {
		g.only("name", "ranks")
		name := value(g, "name", "")
		var teams [][]int
		switch by := g.data["ranks"].(type) {
		case nil:
			teams = [][]int{all}
		case string:
			teams = g.placed(by, all, nodes)
			if _, ordered := network.data["order"]; ordered && by != "all" {
				g.fail("where ranks sit in this order is not known")
			}
		case []any:
			for _, team := range by {
				var list []int
				for _, rank := range g.whole("ranks", team) {
					list = append(list, int(rank))
				}
				teams = append(teams, list)
			}
		default:
			g.fail("teams are expected")
		}
		seen := make([]bool, p.Ranks)
		for _, team := range teams {
			for _, rank := range team {
				if rank >= p.Ranks || seen[rank] {
					g.fail("rank %d is none, or in two teams", rank)
					return
				}
				seen[rank] = true
			}
		}
		p.groups[name] = teams
	}
}

// placed returns the teams of a word: all ranks, the ranks of each node, or those at each position
// of a node.
func (t table) placed(by string, all []int, nodes int) (teams [][]int) {
	each := len(all) / nodes
	switch by {
	case "all":
		return [][]int{all}
	case "node":
		for n := range nodes {
			teams = append(teams, all[n*each:(n+1)*each])
		}
	case "rail":
		for i := range each {
			var team []int
			for n := range nodes {
				team = append(team, n*each+i)
			}
			teams = append(teams, team)
		}
	default:
		t.fail("ranks = %q is not known", by)
	}
	return teams
}

// readTensor reads a tensor and its repetitions.
func (p *Program) readTensor(t table) {
	t.only("name", "shape", "dtype", "memory", "keep", "gradient", "repeat")
	typ, known := typeOf(value(t, "dtype", "bfloat16"))
	if !known {
		t.fail("the type %v is not known", t.data["dtype"])
	}
	times := int(value(t, "repeat", int64(1)))
	for i := range times {
		name := indexed(value(t, "name", ""), i, times)
		if _, twice := p.tensors[name]; twice || name == "" {
			t.fail("a name of its own is expected, not %q", name)
		}
		p.tensors[name] = &declared{typ: typ, shape: t.whole("shape", t.data["shape"]),
			keep: value(t, "keep", false), detached: !value(t, "gradient", true)}
		p.names = append(p.names, name)
	}
}

// indexed substitutes the index of a repetition in a name.
func indexed(name string, i, times int) string {
	down := times - 1 - i
	word := strconv.Itoa
	return strings.NewReplacer("{i}", word(i), "{i+1}", word(i+1), "{i-1}", word(i-1),
		"{-i}", word(down), "{-i+1}", word(down+1), "{-i-1}", word(down-1)).Replace(name)
}
