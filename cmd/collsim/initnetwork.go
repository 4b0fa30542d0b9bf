package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"collsim/internal/nearest"
	"collsim/machine"
	"collsim/topology"
)

// networkFlags describes the network of a new scenario: one preset, or nodes with a preset inside
// and another between them.
type networkFlags struct {
	machine       string // that has all of it; empty: none
	topology      string
	ranks         int
	shape         string
	k             int
	nodes         int
	node, network string
	flags         *pflag.FlagSet

	sides []int // what shape says
}

func (o *networkFlags) register(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.machine, "machine", "", "`NAME` of a machine, whose network and device are "+
		"written out; see collsim list machines")
	f.StringVar(&o.topology, "topology", "switch", "`PRESET` of the network; see collsim list "+
		"topologies")
	f.IntVar(&o.ranks, "ranks", 8, "number of ranks, of all nodes together; 8 in a node")
	f.StringVar(&o.shape, "shape", "", "sizes of a mesh or a torus, as `4x2`; as square as can be")
	f.IntVar(&o.k, "k", 0, "`NUMBER` of a tree's children (2), a fat-tree's ports, a leaf's ranks, "+
		"or of rails")
	f.Lookup("k").DefValue = "0"
	f.IntVar(&o.nodes, "nodes", 0, "number of nodes of several ranks each; 2 with --node "+
		"or --network")
	f.Lookup("nodes").DefValue = "0"
	f.StringVar(&o.node, "node", "", "`PRESET` inside a node; that of --topology")
	f.StringVar(&o.network, "network", "", "`PRESET` between nodes, a NIC for each rank; switch")
}

// clustered reports whether there are nodes. Rails join NICs, so they are of nodes.
func (o *networkFlags) clustered() bool {
	return changed(o.flags, "nodes", "node", "network") != "" ||
		topology.Lookup(o.topology).OnlyNICs || o.network != ""
}

// complete says what the flags leave open, and refuses what cannot be.
func (o *networkFlags) complete() error {
	if o.machine != "" {
		return o.completeMachine()
	}
	if o.clustered() {
		if err := o.completeNodes(); err != nil {
			return err
		}
	}
	for _, given := range []struct{ flag, preset string }{{"topology", o.topology},
		{"node", o.node}, {"network", o.network}} {
		if given.preset != "" && !slices.Contains(topology.Names(), given.preset) {
			return presetError(given.flag, given.preset)
		}
	}
	for _, least := range []struct {
		flag  string
		value int
	}{{"ranks", o.ranks}, {"k", o.k}, {"nodes", o.nodes}} {
		if o.flags.Changed(least.flag) && least.value < 1 {
			return &usageError{Text: fmt.Sprintf("--%s %d: 1 or more is expected", least.flag,
				least.value)}
		}
	}
	if o.shape != "" {
		if err := o.completeShape(); err != nil {
			return err
		}
	}
	if o.k != 0 && o.tableOf("k") == "" {
		return notTaken("k", o.tables())
	}
	if o.nodes > 0 && o.ranks%o.nodes != 0 {
		return &usageError{Text: fmt.Sprintf("--ranks %d: %d nodes have as many ranks each; a multiple "+
			"of %d is expected", o.ranks, o.nodes, o.nodes)}
	}
	return nil
}

// completeNodes says what there is besides what the flags say of nodes.
func (o *networkFlags) completeNodes() error {
	joining := topology.Lookup(o.topology).OnlyNICs
	if o.node != "" && o.flags.Changed("topology") && !joining {
		return &usageError{Text: "--topology and --node both say what a node is inside",
			Hint: "what joins the nodes is --network"}
	}
	if joining {
		if o.network != "" && o.network != o.topology {
			return &usageError{Text: "--topology " + o.topology + " and --network both say what joins " +
				"the nodes"}
		}
		o.topology, o.network = "switch", o.topology
	}
	if o.node == "" {
		o.node = o.topology
	}
	if topology.Lookup(o.node).OnlyNICs {
		return &usageError{Text: "--node " + o.node + ": " + o.node + " join the NICs of nodes",
			Hint: "--network " + o.node}
	}
	if o.network == "" {
		o.network = "switch"
	}
	if !o.flags.Changed("nodes") {
		o.nodes = 2
	}
	if !o.flags.Changed("ranks") {
		o.ranks = 8 * max(o.nodes, 1)
	}
	return nil
}

// completeShape reads --shape, and the number of ranks that it makes.
func (o *networkFlags) completeShape() error {
	product := 1
	for _, side := range strings.FieldsFunc(o.shape, func(r rune) bool {
		return strings.ContainsRune("xX×, []", r)
	}) {
		n, err := strconv.Atoi(side)
		if err != nil || n < 1 || n > math.MaxInt32/product {
			return &usageError{Text: fmt.Sprintf("--shape %q: sizes are expected, as 4x2", o.shape)}
		}
		o.sides = append(o.sides, n)
		product *= n
	}
	table := o.tableOf("shape")
	ranks := product
	switch {
	case len(o.sides) == 0:
		return &usageError{Text: fmt.Sprintf("--shape %q: sizes are expected, as 4x2", o.shape)}
	case table == "":
		return notTaken("shape", o.tables())
	case table == "topology.node":
		ranks *= o.nodes
	}
	if o.flags.Changed("ranks") && ranks != o.ranks {
		return &usageError{Text: fmt.Sprintf("--shape %s makes %d ranks, --ranks says %d", o.shape,
			ranks, o.ranks)}
	}
	o.ranks = ranks
	return nil
}

// preset is a table of a scenario with a network in it.
type presetTable struct{ path, preset string }

// tables returns the tables of the network, in the order in which --shape and --k apply to them.
func (o *networkFlags) tables() []presetTable {
	if !o.clustered() {
		return []presetTable{{"topology", o.topology}}
	}
	return []presetTable{{"topology.node", o.node}, {"topology.network", o.network}}
}

// tableOf returns the first table whose preset takes a key, empty if there is none.
func (o *networkFlags) tableOf(key string) string {
	for _, t := range o.tables() {
		if slices.Contains(topology.Lookup(t.preset).Takes, key) {
			return t.path
		}
	}
	return ""
}

// write writes the tables.
func (o *networkFlags) write(header func(string), line func(key, value, remark string)) {
	if o.machine != "" {
		o.writeMachine(header, line)
		return
	}
	header("[topology]")
	if !o.clustered() {
		o.table(presetTable{"topology", o.topology}, o.ranks, line)
		wires(line, "100 Gbit/s", "500 ns")
		return
	}
	line("nodes", strconv.Itoa(o.nodes), "")
	header("[topology.node]")
	o.table(presetTable{"topology.node", o.node}, o.ranks/o.nodes, line)
	wires(line, "450 GB/s", "300 ns")
	header("[topology.network]")
	o.table(presetTable{"topology.network", o.network}, o.ranks, line)
	wires(line, "400 Gbit/s", "600 ns")
}

// wires writes what every link has.
func wires(line func(key, value, remark string), bandwidth, latency string) {
	line("bandwidth", quoted(bandwidth), "of each link, in each direction")
	line("latency", quoted(latency), "of each link; a route adds up its links")
}

// table writes a preset with what it takes. Ends are its ranks, or the NICs that it joins.
func (o *networkFlags) table(t presetTable, ends int, line func(key, value, remark string)) {
	what := "all of them: collsim list topologies"
	switch t.path {
	case "topology.node":
		what = "inside each node; " + what
	case "topology.network":
		what = "between the nodes; a NIC for each GPU"
	}
	line("preset", quoted(t.preset), what)
	keys := topology.Lookup(t.preset).Takes
	switch {
	case slices.Contains(keys, "shape"):
		sides := o.sides
		if t.path != o.tableOf("shape") || len(sides) == 0 {
			sides = square(ends)
		}
		line("shape", "["+strings.Trim(strings.ReplaceAll(fmt.Sprint(sides), " ", ", "), "[]")+"]",
			"makes the number of ranks")
	case t.path == "topology.node":
		line("ranks", strconv.Itoa(ends), "in each node, one GPU each")
	case t.path == "topology":
		line("ranks", strconv.Itoa(ends), "one GPU each")
	}
	preset := topology.Lookup(t.preset)
	switch {
	case o.k > 0 && t.path == o.tableOf("k"):
		line("k", strconv.Itoa(o.k), "")
	case slices.Contains(preset.Needs, "k") && !preset.OnlyNICs: // there, the NICs of a node count
		line("k", "2", "children of a switch")
	}
}

// square returns a rectangle of n ranks, as square as it can be.
func square(n int) []int {
	side := max(int(math.Sqrt(float64(n))), 1)
	for n%side != 0 {
		side--
	}
	return []int{n / side, side}
}

func presetError(flag, preset string) error {
	e := &usageError{Text: fmt.Sprintf("--%s %q: no network of that name", flag, preset),
		Hint: "there are " + strings.Join(topology.Names(), ", ") + "; and nodes of them: --nodes"}
	if near := nearest.To(preset, topology.Names(), 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "?"
	}
	if slices.Contains(machine.Names(), preset) {
		e.Hint = "it is a machine: --machine " + preset
	}
	return e
}

// notTaken refuses a flag that none of the presets has a use for.
func notTaken(key string, tables []presetTable) error {
	var names, takers []string
	for _, t := range tables {
		names = append(names, t.preset)
	}
	for _, name := range topology.Names() {
		if slices.Contains(topology.Lookup(name).Takes, key) {
			takers = append(takers, name)
		}
	}
	return &usageError{
		Text: fmt.Sprintf("--%s has no effect on %s", key, strings.Join(names, " and ")),
		Hint: "it is for " + strings.Join(takers, ", ")}
}
