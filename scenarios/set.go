package scenarios

import (
	"slices"
	"strings"
)

// set applies one --set path=value to the tree, before anything is read. The value is TOML, or
// else text.
func (d *Document) set(text string) {
	key, value, ok := strings.Cut(text, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !ok || key == "" {
		d.errs.add(&Error{File: setOrigin, Value: "", Key: shown(text),
			Text: "path=value is expected", Hint: "for example --set topology.ranks=16"})
		return
	}
	n := setNode(value)
	swept, isSweep := strings.CutPrefix(key, "sweep.")
	if isSweep {
		d.sets = append(d.sets, sweep{path: strings.Trim(swept, `"`), node: n})
		return
	}
	if example, is := wholeLists()[key]; is {
		if n.shape != array {
			d.report(n, key, &problem{"a list of tables is expected",
				"for example --set '" + key + "=[" + example + "]'"})
			return
		}
		d.replaceList(key, n)
		return
	}
	d.replace(key, n, value)
}

// replace puts a value in place of a key's, whose path is as a user writes it; text is what a name
// that looks like a number was written as. It reports whether the path leads anywhere.
func (d *Document) replace(key string, n *node, text string) bool {
	k, places, p := d.targets(key, func(*Key) bool { return true })
	if p != nil {
		e := d.at(n, key, *p)
		e.Key = shown(key)
		d.errs.add(e)
		return false
	}
	if _, isText := n.value.(string); k.textual() && n.shape == scalar && !isText {
		n.value = text // --set topology.rank.match=3: a name, though it looks like a number
	}
	for _, at := range places {
		d.assign(at, n)
		d.fixed[at] = true
	}
	if name, ok := cutTable(k.Path, "collective"); ok {
		for _, at := range places {
			d.oneSize(strings.TrimSuffix(at, name), name, n)
		}
	}
	return true
}

// oneSize lets one of bytes, count and shape take the others' place, unless a file gives both.
func (d *Document) oneSize(before, name string, n *node) {
	sizes := []string{"bytes", "count", "shape"}
	if !slices.Contains(sizes, name) {
		return
	}
	for _, other := range sizes {
		into, _ := d.parent(before+other, false)
		if other == name || into == nil {
			continue
		}
		if old := into.child(other); old != nil && (old.file != n.file || n.file == setOrigin) {
			d.remove(before + other)
		}
	}
}

// setOrigin stands in place of the file in errors about --set.
const setOrigin = "--set"

// setNode makes the value of a --set.
func setNode(value string) *node {
	n := &node{shape: scalar, raw: value, value: value}
	root, _ := scan("x = " + value)
	var decoded map[string]any
	x := root.child("x")
	deep := strings.Count(value, "[")+strings.Count(value, "{") > maxFile
	if x != nil && !deep && decode("x = "+value, &decoded) == nil && root.attach(decoded) &&
		len(root.items) == 1 && len(value) <= maxFile {
		n = x
	}
	n.mark()
	return n
}

// mark says that a value comes from --set.
func (n *node) mark() {
	n.file, n.line = setOrigin, 0
	for _, c := range n.items {
		c.mark()
	}
}

// assign puts a value at a numbered path, making the tables that are missing. Where the file has
// something else than a table on the way, reading will complain about that.
func (d *Document) assign(at string, n *node) {
	into, name := d.parent(at, true)
	if into == nil {
		return
	}
	one := *n
	one.name = name
	into.put(&one)
}

// remove takes the key at a numbered path away, if it is there.
func (d *Document) remove(at string) {
	into, name := d.parent(at, false)
	if into == nil {
		return
	}
	if old := into.child(name); old != nil {
		into.remove(old)
	}
}

// parent returns the table that holds the key of a numbered path, nil if there is none.
func (d *Document) parent(at string, create bool) (*node, string) {
	p, _ := parsePath(at)
	n := d.root
	for _, one := range p[:len(p)-1] {
		next := n.child(one.name)
		if next == nil && create {
			next = &node{shape: table, name: one.name, file: setOrigin}
			n.put(next)
		}
		if next != nil && next.shape == array && one.index >= 0 && one.index < len(next.items) {
			next = next.items[one.index]
		}
		if next == nil || next.shape != table {
			return nil, ""
		}
		n = next
	}
	return n, p[len(p)-1].name
}
