package main

import (
	"slices"
	"strconv"
	"strings"

	"collsim/machine"
)

// machines lists the machines of the catalogue, each with a sketch of its node.
func machines() (list []entry) {
	for _, m := range machine.Catalogue() {
		e := entry{Name: m.Name, About: m.About + ": " + m.Sketch()}
		for _, f := range m.Figures {
			value, source := f.Is, f.Source
			if f.Sheet != "" {
				value += " of " + f.Sheet
			}
			if f.Of != "" {
				source += " (as " + f.Of + ")"
			}
			e.Figures = append(e.Figures, deviceFigure{Name: f.Name, Value: value, Source: source})
		}
		list = append(list, e)
	}
	return list
}

// completeMachine says what --machine leaves open.
func (o *networkFlags) completeMachine() error {
	m, err := machine.Find(o.machine)
	if err != nil {
		return &usageError{Text: "--machine " + strconv.Quote(o.machine) + ": " + err.Error(),
			Hint: "collsim list machines has all"}
	}
	if other := changed(o.flags, "topology", "ranks", "shape", "k", "node", "network"); other != "" {
		return &usageError{Text: "--" + other + " has no effect on a machine, which has its own",
			Hint: "change the scenario that is printed"}
	}
	if !o.flags.Changed("nodes") {
		o.nodes = 1
	}
	if o.nodes < 1 {
		return &usageError{Text: "--nodes " + strconv.Itoa(o.nodes) + ": 1 or more is expected"}
	}
	o.ranks = o.nodes * m.GPUs
	return nil
}

// writeMachine writes what the name of a machine stands for, table by table.
func (o *networkFlags) writeMachine(header func(string), line func(key, value, remark string)) {
	m, err := machine.Find(o.machine)
	if err != nil {
		panic(err) // it has been found before
	}
	header("# " + o.machine + ": " + m.About + "\n[topology]")
	if m.Wires != nil { // no keys say what each wire is
		line("preset", strconv.Quote(m.Name), "its wires: collsim list machines")
	}
	line("nodes", strconv.Itoa(o.nodes), "")
	keys, tables := m.Keys(o.nodes), []string{"topology"}
	for _, k := range keys {
		if table, _ := cutPath(k.Path); !slices.Contains(tables, table) {
			tables = append(tables, table)
		}
	}
	for _, table := range tables {
		if table != "topology" {
			header("[" + table + "]")
		}
		for _, k := range keys {
			of, name := cutPath(k.Path)
			follows := m.Wires != nil && k.Path == "topology.node.ranks" // from the preset
			if of == table && !follows {
				line(name, k.Value, remarkOf(m, k.Path))
			}
		}
	}
	header("# [benchmark]              # calls in a row as well, as nccl-tests times them\n" +
		"# processes = \"one\"        # for all GPUs of a node, as its option -g 8")
}

// cutPath cuts a key's path into its table and its name.
func cutPath(path string) (table, name string) {
	dot := strings.LastIndexByte(path, '.')
	return path[:dot], path[dot+1:]
}

// remarkOf says what a data sheet has in place of a rate.
func remarkOf(m *machine.Machine, path string) string {
	figure := map[string]string{"topology.node.bandwidth": "gpu_rate",
		"topology.network.bandwidth": "nic_rate"}[path]
	for _, f := range m.Figures {
		switch {
		case f.Name != figure:
		case figure == "nic_rate":
			return "reached of " + f.Is
		case f.Sheet != "":
			return "reached; " + f.Sheet + " of a GPU by its data sheet"
		}
	}
	return ""
}
