package scenarios

import (
	"cmp"
	"slices"
	"strconv"

	"collsim/device"
	"collsim/machine"
)

// machineKey names a machine, as it names a shape of a network; machineFile is a file that has one.
const (
	machineKey  = "topology.preset"
	machineFile = "topology.file"
)

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
	m := v.machineGiven()
	if m == nil {
		return v.named
	}
	whole := func(at string) int {
		it, _ := v.given(at)
		n, _ := it.value.(int64)
		return int(n)
	}
	nodes, ranks, perNode := whole("topology.nodes"), whole("topology.ranks"), m.GPUs
	own, _ := v.given(nodeRanks)
	sizes, _ := own.value.([]int)
	switch {
	case len(sizes) > 0:
		nodes, perNode = cmp.Or(nodes, len(sizes)), min(slices.Max(sizes), m.GPUs)
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
	v.named.of, v.named.keys = m, map[string]item{}
	for _, k := range m.Keys(between) {
		v.imply(m, k)
	}
	v.named.keys["topology.nodes"] = whole64(m.Name, nodes)
	v.named.keys[nodeRanks] = whole64(m.Name, perNode)
	if it, ok := v.given("topology.network.preset"); ok {
		preset, _ := it.value.(string)
		v.imply(m, machine.Key{Path: "topology.network.latency",
			Value: strconv.Quote(m.LinkLatency(preset).String())})
	}
	if _, ok := v.named.keys["topology.network.nics"]; ok {
		v.named.keys["topology.network.nics"] = whole64(m.Name, m.NICsOf(perNode))
	}
	return v.named
}

// machineGiven returns the machine that topology.preset or topology.file names, nil where neither
// does.
func (v *view) machineGiven() *machine.Machine {
	it, _ := v.given(machineKey)
	preset, _ := it.value.(string)
	it, byFile := v.given(machineFile)
	if !byFile {
		all := machine.Catalogue()
		i := slices.IndexFunc(all, func(m *machine.Machine) bool { return m.Name == preset })
		if i < 0 {
			return nil
		}
		return all[i]
	}
	v.use(machineFile)
	file, ok := it.value.(string)
	switch {
	case !ok || v.d.ask == nil: // reported
		return nil
	case preset != "":
		v.fail(machineFile, problem{"topology.preset = " + quoted(preset) + " says what the network is " +
			"too", "one of the two is expected"})
		return nil
	}
	it, _ = v.given("device.preset")
	name, _ := it.value.(string)
	answer, known := v.d.ask(WhichMachine, &Point{Data: Files{Input: file},
		Device: &device.Device{Name: name}})
	if answer.Err != nil {
		v.fail(machineFile, problem{text: answer.Err.Error()})
	}
	if !known || answer.Err != nil {
		return nil
	}
	return answer.Machine
}

// imply keeps a key of a machine for where a scenario does not give it.
func (v *view) imply(m *machine.Machine, k machine.Key) {
	n := setNode(k.Value)
	n.from(originOf(m.Name))
	value, p := v.d.schema.byPath[k.Path].read(n)
	if p != nil { // of a file: the catalogue's are read by a test
		v.fail(machineFile, problem{k.Path + " = " + k.Value + ": " + p.text, p.hint})
		return
	}
	v.named.keys[k.Path] = item{value, n}
}

// whole64 returns a whole number that a machine implies.
func whole64(name string, n int) item {
	return item{int64(n), &node{shape: scalar, value: int64(n), raw: strconv.Itoa(n),
		file: originOf(name)}}
}

// originOf returns the name by which errors point to a figure that a machine implies.
func originOf(name string) string { return "machine " + name }
