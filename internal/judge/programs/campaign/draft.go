package main

import (
	"fmt"
	"slices"
	"strings"
)

// A draft is a program as plain data, which can be changed and printed.
type draft struct {
	ranks, nodes, iterations int
	gradient                 bool
	device                   string
	groups                   []group
	tensors                  []tensor
	ops                      []op
	// of tensors that ops write, to declare them if the op is removed
	shapes map[string]tensor
	passes []setting
}

// A group is named teams; by is "node", "rail", or "" for lists.
type group struct {
	name, by string
	teams    [][]int
}

// A tensor is the table of a tensor.
type tensor struct {
	name, typ, memory string
	shape             []int64
	keep              bool
}

// An op is the table of an op.
type op struct {
	name, call, kernel, typ  string
	in, out, after, wait     []string
	group, stream, algorithm string
	async                    bool
	shape                    []int64 // of an opaque kernel's result
}

// A setting is a key of [lowering] with its value.
type setting struct{ key, value string }

// clone returns a copy.
func (d *draft) clone() *draft {
	c := *d
	c.groups, c.tensors = slices.Clone(d.groups), slices.Clone(d.tensors)
	c.ops, c.passes = slices.Clone(d.ops), slices.Clone(d.passes)
	return &c
}

// text returns the scenario.
func (d *draft) text() string {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" && value != `""` {
			fmt.Fprintf(&b, "%s = %s\n", key, value)
		}
	}
	b.WriteString("[topology]\n")
	if d.nodes > 1 {
		fmt.Fprintf(&b, "nodes = %d\n[topology.node]\n", d.nodes)
	}
	fmt.Fprintf(&b, "preset = \"switch\"\nranks = %d\nbandwidth = \"10 GB/s\"\nlatency = \"1 us\"\n",
		d.ranks/max(d.nodes, 1))
	if d.nodes > 1 {
		b.WriteString("[topology.network]\npreset = \"rails\"\nbandwidth = \"5 GB/s\"\n" +
			"latency = \"1 us\"\n")
	}
	fmt.Fprintf(&b, "[device]\npreset = %q\n[program]\niterations = %d\n", d.device, d.iterations)
	if d.gradient {
		b.WriteString("gradient = \"full\"\n")
	}
	for _, g := range d.groups {
		b.WriteString("[[program.group]]\n")
		line("name", fmt.Sprintf("%q", g.name))
		if g.by != "" {
			line("ranks", fmt.Sprintf("%q", g.by))
		} else {
			line("ranks", strings.ReplaceAll(fmt.Sprint(g.teams), " ", ", "))
		}
	}
	for _, t := range d.tensors {
		b.WriteString("[[program.tensor]]\n")
		line("name", fmt.Sprintf("%q", t.name))
		line("dtype", fmt.Sprintf("%q", t.typ))
		line("shape", strings.ReplaceAll(fmt.Sprint(t.shape), " ", ", "))
		line("memory", fmt.Sprintf("%q", t.memory))
		if t.keep {
			line("keep", "true")
		}
	}
	for i := range d.ops {
		d.ops[i].write(line, &b)
	}
	b.WriteString("[lowering]\n")
	for _, s := range d.passes {
		line(s.key, s.value)
	}
	return b.String()
}

// write writes the table of an op.
func (o *op) write(line func(key, value string), b *strings.Builder) {
	b.WriteString("[[program.op]]\n")
	for _, s := range []setting{{"name", o.name}, {"call", o.call}, {"kernel", o.kernel},
		{"dtype", o.typ}, {"group", o.group}, {"stream", o.stream}, {"algorithm", o.algorithm}} {
		line(s.key, fmt.Sprintf("%q", s.value))
	}
	for _, s := range []struct {
		key   string
		names []string
	}{{"in", o.in}, {"out", o.out}, {"after", o.after}, {"wait", o.wait}} {
		if len(s.names) > 0 {
			line(s.key, `["`+strings.Join(s.names, `", "`)+`"]`)
		}
	}
	if o.async {
		line("async", "true")
	}
	if o.shape != nil {
		line("shape", strings.ReplaceAll(fmt.Sprint(o.shape), " ", ", "))
	}
}

// all lists all ranks.
func (d *draft) all() (list []int) {
	for rank := range d.ranks {
		list = append(list, rank)
	}
	return list
}

// teams returns the teams of a named group.
func (d *draft) teams(name string) [][]int {
	for _, g := range d.groups {
		if g.name == name {
			return g.teams
		}
	}
	return [][]int{d.all()}
}
