package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"collsim/device"
	"collsim/internal/ncclnames"
	"collsim/internal/nearest"

	"github.com/BurntSushi/toml"
)

// Document is a scenario whose values have been read one by one, before they are put together. It
// knows its keys and no algorithm, and has opened no file that it names.
type Document struct {
	given    string // as Read was given it
	file     string // as errors call it
	options  Options
	schema   *schema
	root     *node
	errs     collector
	leaves   map[string]*leaf // by numbered path: "collective[1].bytes"
	order    []*leaf          // in the order of the file
	sweeps   []sweep
	sets     []sweep          // of --set sweep.…, until the file's are known
	fixed    map[string]bool  // numbered paths of what --set and other files have replaced
	replaced []string         // by other files, as "path=value"
	meant    map[string]bool  // numbered paths that a misspelt key most likely stands for
	variants []*Document      // the scenario as each of its variants has it
	devices  []*device.Device // the last that points have

	// ask asks a question that a key needs before others can be read; nil outside of Points.
	ask func(Topic, *Point) (Answer, bool)

	// of a variant
	name   string
	own    map[string]bool // numbered paths of what it sets
	origin *origin
}

// leaf is a key that is given.
type leaf struct {
	key   *Key
	path  string // numbered
	items []item // one, or an axis; none if it could not be read
	axis  bool   // given as list or range
	node  *node
}

// sweep is an entry of [sweep].
type sweep struct {
	path   string // as written
	key    *Key
	places []string // numbered paths
	items  []item
	node   *node
}

// maxFile bounds a scenario; it also keeps the library's recursion far from the end of the stack.
const maxFile = 16 << 20

// parse reads the text into a tree.
func (d *Document) parse(text []byte) bool {
	src := strings.TrimPrefix(string(text), "\uFEFF")
	switch {
	case len(src) > maxFile:
		d.errs.add(&Error{File: d.file, Text: fmt.Sprintf("%d bytes are no scenario; "+
			"at most 16 MiB of TOML is expected", len(src))})
		return false
	case !utf8.ValidString(src) || strings.ContainsRune(src, 0):
		d.errs.add(&Error{File: d.file, Text: "not a text file; TOML in UTF-8 is expected",
			Hint: "an example to start from: collsim list examples"})
		return false
	}
	root, s := scan(src)
	if s.tooDeep > 0 {
		d.errs.add(&Error{File: d.file, Line: s.tooDeep,
			Text: fmt.Sprintf("nested more than %d deep; no key of a scenario is", maxDepth)})
		return false
	}
	var decoded map[string]any
	if err := decode(src, &decoded); err != nil {
		d.errs.add(d.syntax(err, s, src))
		return false
	}
	if len(s.repeats) > 0 { // the library lets some through: a = [] and then a.b = 1
		d.errs.add(d.twice(s.repeats[0]))
		return false
	}
	if !root.attach(decoded) {
		d.errs.add(&Error{File: d.file, Text: "a form of TOML that is not understood here",
			Hint: "write tables under headers and one key on a line"})
		return false
	}
	d.root = root
	return true
}

// read visits everything that is given: keys are read, everything unknown is refused.
func (d *Document) read() {
	values := d.root.values()
	d.leaves, d.meant = make(map[string]*leaf, values), map[string]bool{}
	d.order = make([]*leaf, 0, values)
	d.table(d.root, "", "")
	if n := d.root.child("sweep"); n != nil && n.shape == table {
		d.readSweep(n, "")
	}
	d.mergeSweeps()
}

// table reads the entries of one table: plain is its path in the key table, at its numbered path.
func (d *Document) table(n *node, plain, at string) {
	for _, c := range n.items {
		below, place := join(plain, c.name), join(at, c.name)
		if strings.ContainsAny(c.name, ".[]") { // in quotes: a name of its own, and none of ours
			d.unknown(c, plain, join(at, strconv.Quote(c.name)))
			continue
		}
		if k := d.schema.byPath[below]; k != nil {
			d.leaf(k, place, c)
			continue
		}
		s := d.schema.section(below)
		switch {
		case s == nil || c.name == "":
			d.unknown(c, plain, place)
		case s.many && c.shape == array:
			d.entries(c, s, place)
		case s.many && c.shape == table:
			d.table(c, below, numbered(place, 0))
		case c.shape == array:
			d.report(c, place, &problem{"one table is expected, not several",
				"write " + s.header() + ", once"})
		case c.shape == scalar:
			d.report(c, place, &problem{"a table is expected", d.meantKey(c, plain, place) +
				"write " + s.header() + " and its keys on the lines below"})
		case below != "sweep" && below != "variant.set":
			d.table(c, below, place)
		}
	}
}

// entries reads an array of tables.
func (d *Document) entries(list *node, s *section, at string) {
	if len(list.items) > maxRanks {
		d.report(list, at, &problem{text: fmt.Sprintf("%d entries; at most %d are expected",
			len(list.items), maxRanks)})
		return
	}
	for i, c := range list.items {
		if c.shape != table {
			d.report(c, numbered(at, i), &problem{"a table is expected", "write " + s.header()})
			continue
		}
		d.table(c, s.path, numbered(at, i))
	}
}

// meantKey says which key is nearest to the name of a table that has a value, and can take that,
// and notes that it is there, misspelt; empty if there is none.
func (d *Document) meantKey(c *node, plain, place string) string {
	near := d.schema.nearestKey(plain, c.name)
	if near == "" {
		return ""
	}
	takes := true
	d.schema.byPath[join(plain, near)].values(c, func(string, *node, *problem) { takes = false })
	if !takes {
		return ""
	}
	d.meant[strings.TrimSuffix(place, c.name)+near] = true
	return "did you mean " + near + "? As a table, "
}

func (d *Document) unknown(c *node, plain, place string) {
	wrong := problem{"unknown key", d.schema.suggest(plain, c.name)}
	if plain == environmentTable && ncclnames.IsReal(c.name) {
		wrong.text = idleVariable
	}
	e := d.at(c, place, wrong)
	e.Value = ""
	if near := nearKey(c.name, d.schema.entries(plain)); near != "" {
		d.meant[strings.TrimSuffix(place, c.name)+near] = true
	}
	if c.shape != scalar && c.raw == "" {
		e.Text = "unknown table"
		var names, headers []string
		for _, s := range sections[1:] {
			names, headers = append(names, s.path), append(headers, s.header())
		}
		e.Hint = "tables are " + strings.Join(headers, ", ")
		if near := nearest.To(join(plain, c.name), names, 1); len(near) > 0 {
			e.Hint = "did you mean " + d.schema.section(near[0]).header() + "?"
			d.meant[near[0]] = true
		}
	}
	d.errs.add(e)
}

// leaf reads one key.
func (d *Document) leaf(k *Key, at string, n *node) {
	l := &leaf{key: k, path: at, node: n}
	d.leaves[at] = l
	d.order = append(d.order, l)
	if k.Axis && n.shape != scalar {
		l.axis = true
		l.items = k.values(n, func(sub string, n *node, p *problem) {
			d.report(n, strings.TrimSuffix(join(at, sub), "."), p)
			l.items = nil
		})
		return
	}
	v, p := k.read(n)
	if p != nil {
		d.report(n, at, p)
		return
	}
	l.items = []item{{v, n}}
}

// report adds an error at a place.
func (d *Document) report(n *node, at string, p *problem) { d.errs.add(d.at(n, at, *p)) }

// at makes an error that points to a value.
func (d *Document) at(n *node, path string, p problem) *Error {
	e := &Error{File: d.file, Line: n.line, Key: d.display(path), Value: shown(n.raw), Text: p.text,
		Hint: p.hint}
	if n.file != "" {
		e.File = n.file
	}
	return e
}

// twice says that a key is given twice.
func (d *Document) twice(r repeat) *Error {
	return &Error{File: d.file, Line: r.line, Key: shown(r.key), Text: "given twice",
		Hint: fmt.Sprintf("first given on line %d", r.first)}
}

// syntax says a syntax error in the words of this package.
func (d *Document) syntax(err error, s *scanner, src string) *Error {
	e := &Error{File: d.file, Text: "not valid TOML"}
	parse, ok := err.(toml.ParseError)
	if !ok {
		return e
	}
	e.Line = parse.Position.Line
	if len(s.repeats) > 0 && strings.Contains(parse.Message, "already") {
		return d.twice(s.repeats[0])
	}
	if strings.Contains(parse.Message, "to end table name") {
		e.Line = s.line // the library is a line further
	}
	line := ""
	if lines := strings.Split(src, "\n"); e.Line >= 1 && e.Line <= len(lines) {
		line = strings.TrimSpace(lines[e.Line-1])
	}
	e.Text, e.Hint = plainSyntax(parse.Message, line)
	return e
}
