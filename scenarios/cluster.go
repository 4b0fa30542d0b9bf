package scenarios

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"collsim/machine"
	"collsim/topology"
	"collsim/unit"
)

// preset reads a network that is one preset.
func (v *view) preset(t *Topology) bool {
	p, ok := v.flat("topology", needed)
	t.Preset, t.Ranks, t.Bandwidth, t.Latency = p.Preset, p.Ranks, p.Bandwidth, p.Latency
	t.params = p
	return ok
}

// What flat takes for a number of ranks that its caller does not know.
const (
	needed  = 0  // the table must give it, by ranks or by keys from which it follows
	implied = -1 // it follows from other tables: flat does not read it
)

// flat reads the parameters of the preset of the table under. ranks is the number of ranks if the
// table does not give it, or needed, or implied. ok is false where a value is missing or of the
// wrong type, which has been reported. topology.Build checks that the values go together.
func (v *view) flat(under string, ranks int) (p topology.Params, ok bool) {
	at := under + "."
	if n := v.d.tableNode(under); n != nil && n.shape != table {
		return p, false // reported
	}
	p.Preset, ok = need[string](v, at+"preset", "a preset is expected")
	preset := topology.Lookup(p.Preset)
	takes := preset.Takes
	whole := func(key string, into *int) { // absent, it stays 0
		if slices.Contains(takes, key) {
			v.use(at + key)
			n, _, readable := fetch[int64](v, at+key)
			*into, ok = int(n), ok && readable
		}
	}
	whole("k", &p.K)
	whole("a", &p.A)
	whole("p", &p.P)
	whole("h", &p.H)
	switch {
	case ranks == implied:
	case at+"ranks" == nodeRanks && slices.Contains(takes, "ranks"):
		v.use(nodeRanks)
		n, _, readable := v.counts(nodeRanks) // a list says them for each node
		p.Ranks, ok = n, ok && readable
	default:
		whole("ranks", &p.Ranks)
	}
	if slices.Contains(takes, "shape") {
		v.use(at + "shape")
		shape, _, readable := fetch[[]int](v, at+"shape")
		p.Shape, ok = shape, ok && readable
	} else if ranks > 0 && p.Ranks == 0 {
		p.Ranks = ranks
	}
	if slices.Contains(takes, "oversubscription") {
		v.use(at + "oversubscription")
		factor, _, readable := fetch[float64](v, at+"oversubscription")
		p.Oversubscription, ok = unit.Share(math.Round(factor*1e6)), ok && readable
	}
	if ranks == needed {
		ok = v.counted(under, &preset) && ok
	}
	var ok1, ok2, ok3 bool
	v.use(at+"bandwidth", at+"latency", at+"multimem")
	p.Multimem, ok3 = fetchOr(v, at+"multimem", v.multicasts(at, p.Preset))
	p.Bandwidth, ok1 = need[unit.Rate](v, at+"bandwidth", "the bandwidth of a link is expected")
	p.Latency, ok2 = need[unit.Time](v, at+"latency", "the latency of a link is expected")
	return p, ok && ok1 && ok2 && ok3
}

// counted asks for the number of ranks of a preset, if nothing given says it. Grids are asked for
// their shape by topology.Build.
func (v *view) counted(under string, preset *topology.Preset) bool {
	given := func(key string) bool { return v.has(under + "." + key) }
	others := preset.SetsRanks
	if preset.Name == "" || slices.Contains(preset.Needs, "shape") || given("ranks") ||
		slices.ContainsFunc(others, given) {
		return true
	}
	expected := "the number of ranks is expected"
	switch last := len(others) - 1; {
	case last == 0:
		expected = "the number of ranks, or " + others[0] + ", is expected"
	case last > 0:
		expected = "the number of ranks, or " + strings.Join(others[:last], ", ") + " and " +
			others[last] + ", are expected"
	}
	v.missing(under, "ranks", expected, v.example(under+".ranks"))
	return false
}

// idleParam says which presets would take a parameter that none here does; empty for other keys.
func idleParam(k *Key) string {
	if t := k.table(); t == libraryTable || t == environmentTable {
		return "has no effect: no collective here is done by an algorithm of NCCL's"
	}
	switch k.table() {
	case "topology", "topology.node", "topology.network":
	default:
		return ""
	}
	var takers []string
	for _, name := range presetNames(k.table()) {
		if slices.Contains(topology.Lookup(name).Takes, k.name()) {
			takers = append(takers, name)
		}
	}
	if len(takers) == 0 {
		return ""
	}
	return "has no effect: " + k.name() + " is for " + either(takers)
}

// clustered reports whether the network consists of nodes.
func (v *view) clustered() bool {
	return v.has("topology.nodes") || v.hasTable("topology.node") || v.hasTable("topology.network")
}

// hasTable reports whether a table, or a key of it, is given.
func (v *view) hasTable(at string) bool {
	return v.d.tableNode(at) != nil || slices.ContainsFunc(v.d.schema.keys, func(k Key) bool {
		return k.table() == at && v.has(k.Path)
	})
}

// cluster reads a network of nodes: how many there are, what each is inside, and what joins them.
func (v *view) cluster(t *Topology) bool {
	t.Preset = inNodes
	if m := v.byName(); m.of != nil {
		t.Machine, t.machine = m.of.Name, m.of
		v.use(machineKey, "topology.network.preset")
	}
	v.use("topology.nodes", "topology.ranks", "topology.absent")
	nodes, given, ok := fetch[int64](v, "topology.nodes")
	total, _, ok2 := fetch[int64](v, "topology.ranks")
	absent, _, ok3 := fetch[[]string](v, "topology.absent")
	_, sizes, ok4 := v.counts(nodeRanks)
	ok = ok && ok2 && ok3 && ok4 && v.fits(int(nodes), int(total), sizes)
	t.params.Absent, t.params.Sizes = absent, sizes
	if sizes != nil && !given {
		nodes = int64(len(sizes))
	} else if !given {
		nodes = 1
		if v.hasTable("topology.network") {
			v.missing("topology", "nodes", "the number of nodes that the network joins is expected",
				v.example("topology.nodes"))
			ok = false
		}
	}
	t.Nodes = int(nodes)
	t.params.Nodes, t.params.Ranks = int(nodes), int(total)
	if sizes != nil {
		total = 0 // Build compares them
	}
	inside, good := v.inside(int(nodes), int(total))
	t.params.Node, ok = &inside, ok && good
	switch {
	case v.hasTable("topology.network"):
		between, good := v.flat("topology.network", implied)
		v.use("topology.network.nics", machine.PluginLatencyKey)
		nics, _, readable := fetch[int64](v, "topology.network.nics")
		between.NICs = int(nics)
		reported, _, readable2 := fetch[unit.Time](v, machine.PluginLatencyKey)
		t.pluginLatency = reported
		t.params.Network, ok = &between, ok && good && readable && readable2
	case nodes > 1:
		v.missing("topology", "network", "what joins the nodes is expected",
			"write [topology.network] with preset, bandwidth and latency")
		return false
	}
	return ok
}

// inside reads the network of each of so many nodes, from [topology.node] or [topology] itself.
// total is the number of all ranks, or 0.
func (v *view) inside(nodes, total int) (p topology.Params, ok bool) {
	table := "topology.node"
	if m := v.byName().of; m != nil && m.Wires != nil && !v.has("topology.node.preset") {
		return v.wires(m)
	}
	_, sizes, _ := v.counts(nodeRanks)
	bare := sizes != nil && !slices.ContainsFunc(v.d.schema.keys, func(k Key) bool {
		return k.table() == table && k.Path != nodeRanks && v.has(k.Path)
	})
	switch {
	case v.has("topology.preset") && bare:
		return v.flat("topology", implied)
	case v.has("topology.preset") && v.hasTable(table):
		v.fail("topology.preset", problem{"the network inside a node is given by [topology.node] too",
			"one of the two is expected"})
		return p, false
	case v.has("topology.preset"):
		table = "topology"
	case !v.hasTable(table):
		v.missing("topology", "preset", "the network inside each node is expected",
			"here, or in [topology.node]; presets are "+strings.Join(presetNames(table), ", "))
		return p, false
	}
	own := table == "topology.node" && v.has(nodeRanks)
	if total > 0 && !own {
		if total%max(nodes, 1) != 0 {
			v.unequal(fmt.Sprintf("%d nodes have as many ranks each; a multiple of %d is expected",
				nodes, nodes), nodes, total, (total+nodes-1)/nodes)
			return p, false
		}
		p, ok = v.flat(table, total/max(nodes, 1))
	} else {
		p, ok = v.flat(table, needed)
	}
	if table == "topology" && total > 0 { // ranks of [topology] are those of all nodes
		p.Ranks = 0
		if len(p.Shape) == 0 {
			p.Ranks = total / max(nodes, 1)
		}
	}
	return p, ok
}

// wires reads the network in a node of a machine whose links are listed.
func (v *view) wires(m *machine.Machine) (p topology.Params, ok bool) {
	v.use(nodeRanks)
	ranks, sizes, ok := v.counts(nodeRanks)
	if ranks > m.GPUs {
		v.fail(nodeRanks, problem{fmt.Sprintf("a node of %s has %d GPUs", m.Name, m.GPUs), ""})
		return p, false
	}
	if p = m.Node(max(ranks, slices.Max(append(sizes, 0)))); sizes != nil {
		p.Ranks = 0 // each node has its own
	}
	return p, ok
}

// seating reads routing and order.
func (v *view) seating(t *Topology) bool {
	v.use("topology.routing")
	routing, given, ok1 := fetch[string](v, "topology.routing")
	if given && routing == topology.ECMP.String() || !given && t.spreads() {
		t.params.Routing = topology.ECMP
	}
	seats, _, ok2 := fetch[order](v, "topology.order")
	if t.Preset != byHand {
		v.use("topology.order")
		t.params.Order, t.params.Places = seats.name, seats.places
	}
	return ok1 && ok2
}

// spreads reports whether routing is ECMP where no key says it: in a network with spines. Without
// ECMP all messages would take the first of equal paths, over the same spine.
func (t *Topology) spreads() bool {
	return slices.ContainsFunc([]*topology.Params{&t.params, t.params.Node, t.params.Network},
		func(p *topology.Params) bool {
			return p != nil && p.HasSpines()
		})
}

// blame reports an error of package topology at the key that is to blame.
func (v *view) blame(t *Topology, at string, err error) {
	p := problem{text: err.Error()}
	var match *topology.MatchError
	var wire *topology.WireError
	var param *topology.ParamError
	switch {
	case errors.As(err, &param):
		v.blameParam(param)
		return
	case errors.As(err, &match):
		p.text = "matches no link"
		p.hint = `links are called as gpu0->switch; * stands for any characters`
		if t.Preset == inNodes {
			p.hint = `links are called as node0/gpu0->node0/nic0; * stands for any characters`
		}
		if len(match.Nearest) > 0 {
			p.hint = "nearest: " + strings.Join(match.Nearest, ", ")
		}
	case errors.As(err, &wire):
		p.text = wire.Text
	}
	v.fail(at, p)
}

// blameParam reports a parameter that makes a network impossible: at its key if that is given, as
// missing if it should be, else at its table, where it follows from other keys.
func (v *view) blameParam(e *topology.ParamError) {
	at, text := "topology."+e.Key, e.Text
	if rest, ok := strings.CutPrefix(e.Key, "node."); ok && v.has("topology.preset") && !v.has(at) {
		at = "topology." + rest
	}
	if e.Key == "node.ranks" && !v.has("topology.node.ranks") && v.has("topology.ranks") {
		at, text = "topology.ranks", "each node has "+e.Value+" of them: "+text
	}
	dot := strings.LastIndexByte(at, '.')
	switch {
	case v.has(at):
		v.fail(at, problem{text: text})
	case e.Value == "0" || e.Value == "[]" || e.Value == "":
		v.missing(at[:dot], at[dot+1:], text, v.example(at))
	default:
		v.fail(at[:dot], problem{text: at[dot+1:] + " is then " + e.Value + ": " + text})
	}
}
