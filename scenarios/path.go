package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"collsim/internal/ncclnames"
)

// A path names a key the same way everywhere: "topology.bandwidth", "collective[1].bytes". Without
// a number the key of all entries of an array of tables is meant; with one, from 0, that entry's.
type path []part

type part struct {
	name  string
	index int // of an entry of an array of tables; all stands for every one
}

const all = -1

// parsePath reads a path; it judges the form only, not whether there is such a key.
func parsePath(s string) (path, bool) {
	var p path
	for _, text := range strings.Split(s, ".") {
		name, number, indexed := strings.Cut(strings.TrimSpace(text), "[")
		one := part{name: name, index: all}
		if indexed {
			digits, closed := strings.CutSuffix(number, "]")
			n, err := strconv.Atoi(digits)
			if !closed || err != nil || n < 0 || n > maxRanks {
				return nil, false
			}
			one.index = n
		}
		if name == "" || strings.ContainsAny(name, "]{}\"' ") {
			return nil, false
		}
		p = append(p, one)
	}
	return p, true
}

// plain returns the path without numbers, as the key table has it.
func (p path) plain() string {
	names := make([]string, len(p))
	for i, one := range p {
		names[i] = one.name
	}
	return strings.Join(names, ".")
}

// String returns the path with its numbers.
func (p path) String() string {
	var b strings.Builder
	for i, one := range p {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(one.name)
		if one.index != all {
			b.WriteString("[" + strconv.Itoa(one.index) + "]")
		}
	}
	return b.String()
}

// join puts a name behind a path, which may be empty.
func join(before, name string) string {
	if before == "" {
		return name
	}
	return before + "." + name
}

// numbered returns the path of an entry of an array of tables.
func numbered(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// targets returns the key that a path names and the numbered paths of all its places in the
// document, or what is wrong with it; possible are the keys to suggest then.
func (d *Document) targets(text string, possible func(*Key) bool) (*Key, []string, *problem) {
	p, ok := parsePath(text)
	if !ok {
		return nil, nil, &problem{"a path is expected",
			`for example "topology.bandwidth" or "collective[1].bytes"`}
	}
	key := d.schema.byPath[p.plain()]
	if key == nil {
		if s := d.schema.section(p.plain()); s != nil && s.path != "" {
			hint := d.schema.suggest(s.path, "")
			if at := strings.LastIndexByte(s.path, '.'); at >= 0 {
				if near := d.schema.nearestKey(s.path[:at], s.path[at+1:]); near != "" {
					hint = "did you mean " + join(s.path[:at], near) + "? " + hint
				}
			}
			return nil, nil, &problem{"a key is expected, not a table", hint}
		}
		wrong := &problem{"unknown key", d.schema.suggestPath(p.plain(), possible)}
		if name, ok := cutTable(p.plain(), environmentTable); ok && ncclnames.IsReal(name) {
			wrong.text = idleVariable
		}
		return nil, nil, wrong
	}
	places := []string{""}
	for i, one := range p {
		places = d.places(places, p[:i+1].plain(), one)
		if len(places) == 0 {
			return nil, nil, d.noPlace(p[:i+1].plain(), one)
		}
	}
	return key, places, nil
}

// places extends paths by one part; for an array of tables by each of its entries that is meant.
func (d *Document) places(before []string, plain string, one part) []string {
	s := d.schema.section(plain)
	if (s == nil || !s.many) && one.index != all {
		return nil
	}
	var after []string
	for _, b := range before {
		at := join(b, one.name)
		if s == nil || !s.many {
			after = append(after, at)
			continue
		}
		for i := range d.count(plain) {
			if one.index == all || one.index == i {
				after = append(after, numbered(at, i))
			}
		}
	}
	return after
}

// noPlace says why a path leads nowhere.
func (d *Document) noPlace(plain string, one part) *problem {
	s := d.schema.section(plain)
	switch {
	case s == nil || !s.many:
		return &problem{one.name + " is not an array of tables; no number is expected", ""}
	case d.count(plain) == 0:
		return &problem{"there is no " + s.header() + " in the scenario", ""}
	case d.count(plain) == 1:
		return &problem{"there is only one " + s.header(), "it has number 0"}
	}
	return &problem{"there are only " + strconv.Itoa(d.count(plain)) + " " + s.header(),
		"they are numbered from 0"}
}

// count returns the number of entries of an array of tables in the document. It is 0 for anything
// else, which reading refuses.
func (d *Document) count(plain string) int {
	n := d.root
	for _, name := range strings.Split(plain, ".") {
		if n = n.child(name); n == nil {
			return 0
		}
	}
	switch {
	case n.shape == table:
		return 1
	case n.shape == array && !slices.ContainsFunc(n.items, func(c *node) bool {
		return c.shape != table
	}):
		return len(n.items)
	}
	return 0
}

// display returns a numbered path as an error shows it: without numbers where there is one entry.
func (d *Document) display(at string) string {
	p, ok := parsePath(at)
	if !ok {
		return at
	}
	p = d.origin.written(p)
	for i := range p {
		if p[i].index != all && d.count(p[:i+1].plain()) == 1 {
			p[i].index = all
		}
	}
	return p.String()
}
