package scenarios

import (
	"slices"
	"strconv"

	"collsim/machine"
)

// machineKey names a machine, as it names a shape of a network.
const machineKey = "topology.preset"

// namedMachine is the machine that a view names, and the keys that its name stands for where nobody
// gives them.
type namedMachine struct {
	of   *machine.Machine // nil: no machine is named
	keys map[string]item
}

// byName returns what a view's machine implies.
func (v *view) byName() *namedMachine {
	if v.named != nil {
		return v.named
	}
	v.named = &namedMachine{}
	it, _ := v.given(machineKey)
	name, _ := it.value.(string)
	if name == "" || !slices.Contains(machine.Names(), name) {
		return v.named
	}
	m, err := machine.Find(name)
	if err != nil {
		return v.named
	}
	whole := func(at string) int {
		it, _ := v.given(at)
		n, _ := it.value.(int64)
		return int(n)
	}
	nodes, ranks, perNode := whole("topology.nodes"), whole("topology.ranks"), m.GPUs
	switch {
	case nodes == 0 && ranks > m.GPUs: // so many as these take
		nodes = (ranks + m.GPUs - 1) / m.GPUs
	case nodes == 0:
		nodes = 1
		fallthrough
	case ranks > 0 && ranks%nodes == 0 && ranks/nodes < m.GPUs: // some of the GPUs of each node
		if ranks > 0 {
			perNode = ranks / nodes
		}
	}
	between := nodes
	if slices.ContainsFunc(v.d.schema.keys, func(k Key) bool {
		_, given := v.given(k.Path)
		return given && k.table() == "topology.network"
	}) {
		between = max(between, 2)
	}
	v.named = &namedMachine{of: m, keys: v.d.impliedKeys(m, between)}
	v.named.keys["topology.nodes"] = whole64(m.Name, nodes)
	v.named.keys["topology.node.ranks"] = whole64(m.Name, perNode)
	if _, ok := v.named.keys["topology.network.nics"]; ok {
		v.named.keys["topology.network.nics"] = whole64(m.Name,
			(m.NICs*perNode+m.GPUs-1)/m.GPUs)
	}
	return v.named
}

// impliedKeys reads the keys of a machine as a scenario's.
func (d *Document) impliedKeys(m *machine.Machine, nodes int) map[string]item {
	keys := map[string]item{}
	for _, k := range m.Keys(nodes) {
		n := setNode(k.Value)
		n.from(originOf(m.Name))
		value, p := d.schema.byPath[k.Path].read(n)
		if p != nil {
			panic("scenarios: " + m.Name + ": " + k.Path + ": " + p.text) // a test reads them all
		}
		keys[k.Path] = item{value, n}
	}
	return keys
}

// whole64 is a whole number that a machine implies.
func whole64(name string, n int) item {
	return item{int64(n), &node{shape: scalar, value: int64(n), raw: strconv.Itoa(n),
		file: originOf(name)}}
}

// originOf is what errors call the place of what a machine implies.
func originOf(name string) string { return "machine " + name }
