package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A variant is the scenario with other values of some keys: its points stand beside those of the
// other variants, under its name. It is read as a document of its own, in which its keys have taken
// the place of the scenario's, and its links and ranks follow those of the scenario.

// maxVariants bounds how often a scenario is copied.
const maxVariants = 64

// variantAxis is the axis that sets points of variants apart.
const variantAxis = "variant"

// Variant returns the name of the point's variant, empty if there is none.
func (p *Point) Variant() string {
	for _, a := range p.Axes {
		if a.Path == variantAxis {
			return a.Text
		}
	}
	return ""
}

// origin says which variant a document is, and where in it the entries of lists stand.
type origin struct {
	number int
	before map[string]int // entries that the scenario has of "topology.link" and "topology.rank"
}

// variantKeys returns the keys of [[variant]]; its links and ranks have those of [topology].
func variantKeys(single []Key) []Key {
	keys := []Key{{Path: "variant.name", kind: aText, Example: `"slow NIC"`,
		Doc: "What ids, tables and `--only variant=…` call it.", by: (*Document).readVariants}}
	for _, k := range single {
		k.Path, k.Sweep = strings.Replace(k.Path, "topology", variantAxis, 1), false
		keys = append(keys, k)
	}
	return keys
}

// readVariants makes the documents of all variants, once the scenario's own tree is complete.
func (d *Document) readVariants() {
	list := d.root.child(variantAxis)
	if list == nil || d.count(variantAxis) == 0 {
		return
	}
	entries := list.items
	if list.shape == table {
		entries = []*node{list}
	}
	if len(entries) > maxVariants {
		d.report(list, variantAxis, &problem{fmt.Sprintf("%d variants; at most %d are expected",
			len(entries), maxVariants), "many values of a key are a [sweep]"})
		return
	}
	names := map[string]bool{}
	for i, n := range entries {
		at := numbered(variantAxis, i) + ".name"
		named := &view{d: d, named: &namedMachine{}} // a name is no matter of the machine
		name, ok := need[string](named, at, "what this variant is called is expected")
		if !ok {
			continue
		}
		if names[strings.ReplaceAll(name, " ", "")] {
			d.report(n.child("name"), at, &problem{"another variant has this name", ""})
		}
		names[strings.ReplaceAll(name, " ", "")] = true
		v := d.variant(i, n)
		v.name = name
		d.variants = append(d.variants, v)
		for _, e := range v.errs.list {
			d.errs.add(e)
		}
	}
}

// variant makes the document of one variant.
func (d *Document) variant(number int, n *node) *Document {
	v := &Document{given: d.given, file: d.file, options: d.options, schema: d.schema,
		root: d.root.without(variantAxis).clone(), sets: slices.Clone(d.sets), fixed: maps.Clone(d.fixed),
		replaced: d.replaced, own: map[string]bool{},
		origin: &origin{number, map[string]int{}}}
	if set := n.child("set"); set != nil && set.shape == table {
		v.vary(set, "") // what is no table is reported
	}
	for _, name := range []string{"link", "rank"} {
		v.appendList("topology", name, n.child(name))
	}
	v.read()
	return v
}

// vary gives keys the values that a variant has for them, unless --set or another file has given
// them one.
func (d *Document) vary(set *node, before string) {
	for _, n := range set.items {
		text := join(before, n.name)
		p, ok := parsePath(text)
		k := d.schema.byPath[p.plain()]
		switch {
		case ok && k != nil && !varies(k):
			d.fail(n, text, &problem{"this key is the scenario's alone", ""})
		case ok && k == nil && isWhole(text) && n.shape == array:
			d.replaceList(text, n.clone())
		case ok && k == nil && n.shape == table && len(n.items) > 0:
			d.vary(n, text)
		default:
			_, places, wrong := d.targets(text, varies)
			if wrong != nil {
				d.fail(n, text, wrong)
				continue
			}
			if slices.ContainsFunc(places, func(at string) bool { return d.fixed[at] && !d.own[at] }) {
				continue
			}
			own := n.clone()
			own.from(d.file) // not the place where the key stood: bytes replace a count
			d.replace(text, own, n.raw)
			for _, at := range places {
				d.own[at] = true
			}
		}
	}
}

// fail reports what is wrong with an entry of set.
func (d *Document) fail(n *node, key string, p *problem) {
	e := d.at(n, "", *p)
	e.Key = "variant.set." + shown(key)
	d.errs.add(e)
}

// varies reports whether a variant may have another value of a key: of all that says what is run.
func varies(k *Key) bool {
	switch k.table() {
	case "", "output", "input", "hardware.tolerance", "hardware.known":
		return k.Path == "seed"
	}
	return k.table() != variantAxis && !strings.HasPrefix(k.Path, variantAxis+".")
}

// appendList puts entries behind those that a table has of a list.
func (d *Document) appendList(table, name string, more *node) {
	if more == nil {
		return
	}
	into, _ := d.parent(join(table, name), true)
	if into == nil {
		return
	}
	list := &node{shape: array, name: name, line: more.line}
	if old := into.child(name); old != nil && old.shape == array {
		list.items = old.items
	} else if old != nil {
		list.items = []*node{old}
	}
	d.origin.before[join(table, name)] = len(list.items)
	more = more.clone()
	if more.shape == array {
		list.items = append(list.items, more.items...)
	} else {
		list.items = append(list.items, more)
	}
	into.put(list)
}

// written returns the numbered path under which a variant has an entry of a list that it extends.
func (o *origin) written(p path) path {
	if o == nil || len(p) < 2 || p[0].name != "topology" {
		return p
	}
	before, added := o.before[p[0].name+"."+p[1].name]
	if !added || p[1].index < before {
		return p
	}
	p = slices.Clone(p)
	p[0] = part{variantAxis, o.number}
	p[1].index -= before
	return p
}

// without returns a table without one of its entries.
func (n *node) without(name string) *node {
	rest := &node{shape: table, line: n.line, file: n.file}
	for _, c := range n.items {
		if c.name != name {
			rest.put(c)
		}
	}
	return rest
}

// clone returns a deep copy.
func (n *node) clone() *node {
	c := *n
	c.index, c.items = nil, nil
	for _, one := range n.items {
		if n.shape == table {
			c.put(one.clone())
		} else {
			c.items = append(c.items, one.clone())
		}
	}
	return &c
}

// runs returns one run of the scenario, or one for each variant. close collects their errors into
// r.
func (r *run) runs() []*run {
	if r.d.variants == nil {
		return []*run{r}
	}
	var all []*run
	for _, d := range r.d.variants {
		one := *r
		own := *d
		own.errs = collector{}
		one.d, one.open, one.variants = &own, nil, len(r.d.variants)
		own.ask = one.ask // of a machine's file
		one.used, one.networks = map[string]bool{}, map[string]usedNetwork{}
		all = append(all, &one)
	}
	return all
}

// most returns the most points that a run may have: equally many for each variant.
func (r *run) most() int { return maxPoints / max(r.variants, 1) }

func (r *run) tooMany(points int) problem {
	text := fmt.Sprintf("%d points; a scenario has at most %d", points, maxPoints)
	if r.variants > 0 {
		text += fmt.Sprintf(", each of %d variants %d", r.variants, r.most())
	}
	return problem{text, ""}
}

// close takes over what the run of a variant has found, and names its points.
func (r *run) close(one *run, points []*Point) {
	if one == r {
		return
	}
	r.open = append(r.open, one.open...)
	for _, e := range one.d.errs.list {
		r.d.errs.add(e)
	}
	for _, p := range points {
		p.Axes = slices.Insert(p.Axes, 0, Axis{variantAxis, Text(one.d.name), one.d.name})
		p.ID += fmt.Sprintf("/%s=%s", variantAxis, strings.ReplaceAll(one.d.name, " ", ""))
	}
}
