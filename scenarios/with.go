package scenarios

import (
	"strconv"
	"strings"
)

// With is a file whose keys replace those of a scenario, as a calibration writes one. Names of
// other files in it are relative to the scenario, as all are.
type With struct {
	Name string // what errors call it
	Text []byte // TOML: the tables of a scenario, any of their keys
}

// with applies a file to the tree, key by key, as --set would.
func (d *Document) with(f With) {
	w := &Document{file: f.Name, schema: d.schema}
	if !w.parse(f.Text) {
		for _, e := range w.errs.list {
			d.errs.add(e)
		}
		return
	}
	w.root.from(f.Name)
	d.replaceAll(w.root, "")
}

// from says which file a value comes from.
func (n *node) from(file string) {
	n.file = file
	for _, c := range n.items {
		c.from(file)
	}
}

// replaceAll applies all keys of a table of another file.
func (d *Document) replaceAll(t *node, plain string) {
	for _, n := range t.items {
		at := join(plain, n.name)
		s := d.schema.section(at)
		switch quoted := strings.ContainsAny(n.name, ".[]"); {
		case !quoted && d.schema.byPath[at] != nil:
			if d.replace(at, n, n.raw) {
				d.replaced = append(d.replaced, at+"="+n.oneLine())
			}
		case at == "sweep":
			d.alone(n, at, "a sweep is the scenario's alone", "")
		case s == nil || quoted || n.name == "":
			e := d.at(n, at, problem{"unknown key", d.schema.suggest(plain, n.name)})
			e.Value = ""
			d.errs.add(e)
		case n.shape == table:
			d.replaceAll(n, at)
		case n.shape == array && isWhole(at):
			d.replaceList(at, n)
			d.replaced = append(d.replaced, at+"="+n.oneLine())
		case n.shape == array && s.many:
			d.alone(n, at, "an array of tables is the scenario's alone", "["+s.path+
				"] with one pair of brackets has keys that replace those of every entry")
		default:
			d.report(n, at, &problem{"a table is expected", "write [" + s.path +
				"] and its keys on the lines below"})
		}
	}
}

// replaceList puts an array of tables in place of the scenario's.
func (d *Document) replaceList(at string, n *node) {
	d.assign(at, n)
	for i, c := range n.items {
		for _, figure := range c.items {
			d.fixed[join(numbered(at, i), figure.name)] = true
		}
	}
}

// alone refuses what only the scenario itself may have.
func (d *Document) alone(n *node, at, text, hint string) {
	e := d.at(n, at, problem{text, hint})
	e.Value = ""
	d.errs.add(e)
}

// oneLine returns the value as TOML on one line, without the comments that a list may contain.
func (n *node) oneLine() string {
	parts := make([]string, len(n.items))
	switch n.shape {
	case array:
		for i, c := range n.items {
			parts[i] = c.oneLine()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case table:
		for i, c := range n.items {
			parts[i] = bareOrQuoted(c.name) + " = " + c.oneLine()
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	if text, ok := n.value.(string); ok && strings.Contains(n.raw, "\n") {
		return strconv.Quote(text)
	}
	return n.raw
}

// bareOrQuoted returns a key as TOML spells it.
func bareOrQuoted(name string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if name != "" && strings.Trim(name, bare) == "" {
		return name
	}
	return strconv.Quote(name)
}
