package scenarios

import (
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// node is one value of a scenario and where it was written. The library parses TOML and judges
// what is valid; it gives no line for most keys, so this scanner walks the same text for the
// structure alone: which keys there are, in which order, on which line, and how they were spelt.
type node struct {
	shape shape
	given bool             // a table's own header was seen
	name  string           // the last part of the key; empty for elements of an array
	line  int              // of the key or header; of an element, its own first line
	raw   string           // the source of the value; empty for tables under a header
	value any              // of a scalar, and of an array of values, as the library decoded it
	items []*node          // of a table and of an array, in the order of the file
	index map[string]*node // of the entries of a large table
	file  string           // where the value was set from, when not from the file: "--set"
}

type shape uint8

const (
	scalar shape = iota
	array
	table
)

// small is the number of entries up to which a table is searched one by one: most tables have two
// or three, and a scenario may have thousands of tables.
const small = 8

// child returns the entry of a table, nil if there is none.
func (n *node) child(name string) *node {
	if n.shape != table {
		return nil
	}
	if n.index != nil {
		return n.index[name]
	}
	for _, c := range n.items {
		if c.name == name {
			return c
		}
	}
	return nil
}

// put adds or replaces an entry of a table.
func (n *node) put(c *node) {
	if old := n.child(c.name); old != nil {
		n.items[slices.Index(n.items, old)] = c
	} else {
		n.items = append(n.items, c)
	}
	if n.index == nil && len(n.items) > small {
		n.index = map[string]*node{}
		for _, one := range n.items {
			n.index[one.name] = one
		}
	}
	if n.index != nil {
		n.index[c.name] = c
	}
}

// values returns the number of named values in a table and in the tables below it.
func (n *node) values() int {
	count := 0
	for _, c := range n.items {
		if c.shape != scalar {
			count += c.values()
		} else if c.name != "" {
			count++
		}
	}
	return count
}

// remove takes an entry out of a table.
func (n *node) remove(c *node) {
	n.items = slices.DeleteFunc(slices.Clone(n.items), func(one *node) bool { return one == c })
	delete(n.index, c.name)
}

// maxDepth bounds how deep tables and arrays nest; the deepest key of a scenario needs 4.
const maxDepth = 16

// repeat is a key that is given twice.
type repeat struct {
	key         string
	line, first int
}

// scanner is a position in the text. It stops at the first thing that it does not understand,
// which is where the library finds a syntax error.
type scanner struct {
	src     string
	pos     int
	line    int
	tooDeep int      // the line at which maxDepth was passed, or 0
	table   []string // under which header the scanner is
	path    []string // of the key that was read last
	repeats []repeat
}

// scan returns the document as a table, as far as it is understood.
func scan(src string) (*node, *scanner) {
	s := &scanner{src: src, line: 1}
	root := &node{shape: table, line: 1}
	for current := root; ; {
		s.blank(true)
		if s.pos >= len(s.src) {
			return root, s
		}
		ok := true
		if s.peek() == '[' {
			current, ok = s.header(root)
		} else {
			ok = s.pair(current, 0)
		}
		if !ok {
			return root, s
		}
	}
}

func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

// take moves over a literal if it comes next.
func (s *scanner) take(lit string) bool {
	if !strings.HasPrefix(s.src[s.pos:], lit) {
		return false
	}
	s.advance(len(lit))
	return true
}

// advance moves n bytes on and counts lines.
func (s *scanner) advance(n int) {
	s.line += strings.Count(s.src[s.pos:s.pos+n], "\n")
	s.pos += n
}

// blank skips spaces and tabs, and over line ends and comments too if asked.
func (s *scanner) blank(lines bool) {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == ' ' || c == '\t':
			s.pos++
		case lines && (c == '\n' || c == '\r'):
			s.advance(1)
		case lines && c == '#':
			end := strings.IndexByte(s.src[s.pos:], '\n')
			if end < 0 {
				end = len(s.src) - s.pos
			}
			s.pos += end
		default:
			return
		}
	}
}

// header reads "[a.b]" or "[[a.b]]" and returns the table that the following keys belong to.
func (s *scanner) header(root *node) (*node, bool) {
	line, closing := s.line, "]"
	many := s.take("[[")
	if many {
		closing = "]]"
	} else {
		s.take("[")
	}
	path, ok := s.key()
	if !ok || !s.take(closing) {
		return nil, false
	}
	s.table = s.table[:0]
	into, ok := s.descend(root, path[:len(path)-1], line)
	if !ok {
		return nil, false
	}
	s.table = append(s.table, path...)
	name := path[len(path)-1]
	old := into.child(name)
	switch {
	case many && old == nil:
		old = &node{shape: array, name: name, line: line}
		into.put(old)
		fallthrough
	case many && old.shape == array:
		one := &node{shape: table, line: line, given: true}
		old.items = append(old.items, one)
		return one, true
	case old == nil:
		old = &node{shape: table, name: name, line: line, given: true}
		into.put(old)
		return old, true
	case old.shape != table || many || old.given:
		s.repeats = append(s.repeats, repeat{s.under(), line, old.line})
		return old, old.shape == table
	}
	old.line, old.given = line, true
	return old, true
}

// descend walks down a path of tables, making those that are missing; of an array of tables it
// enters the last.
func (s *scanner) descend(from *node, path []string, line int) (*node, bool) {
	if len(path) >= maxDepth {
		s.tooDeep = line
		return nil, false
	}
	for _, name := range path {
		next := from.child(name)
		if next == nil {
			next = &node{shape: table, name: name, line: line}
			from.put(next)
		}
		if next.shape == array && len(next.items) > 0 {
			next = next.items[len(next.items)-1]
		}
		if next.shape != table {
			s.repeats = append(s.repeats, repeat{s.under(name), line, next.line})
			return nil, false
		}
		from = next
	}
	return from, true
}

// pair reads "a.b = value" into a table.
func (s *scanner) pair(into *node, depth int) bool {
	line := s.line
	path, ok := s.key()
	if !ok || !s.take("=") {
		return false
	}
	into, ok = s.descend(into, path[:len(path)-1], line)
	if !ok {
		return false
	}
	name := path[len(path)-1]
	if old := into.child(name); old != nil {
		s.repeats = append(s.repeats, repeat{s.under(path...), line, old.line})
		return false
	}
	s.blank(false)
	value, ok := s.value(depth + len(path))
	if !ok {
		return false
	}
	value.name, value.line = name, line
	into.put(value)
	return true
}

// under returns the path of a key below the last header.
func (s *scanner) under(path ...string) string {
	return strings.Join(slices.Concat(s.table, path), ".")
}

// key reads a key of one or more parts and the blanks after it. The path holds until the next key.
func (s *scanner) key() (path []string, ok bool) {
	for s.path = s.path[:0]; ; {
		s.blank(false)
		part, ok := s.keyPart()
		if !ok {
			return nil, false
		}
		s.path = append(s.path, part)
		s.blank(false)
		if !s.take(".") {
			return s.path, true
		}
	}
}

func (s *scanner) keyPart() (string, bool) {
	start := s.pos
	switch s.peek() {
	case '"':
		if !s.text(`"`, true) {
			return "", false
		}
		return unescape(s.src[start:s.pos])
	case '\'':
		if !s.text("'", false) {
			return "", false
		}
		return s.src[start+1 : s.pos-1], true
	}
	if n := strings.IndexAny(s.src[s.pos:], " \t\r\n.=[]{}\"'#,"); n > 0 {
		s.pos += n
		return s.src[start:s.pos], true
	}
	return "", false
}

// unescape returns what a basic string in its quotes stands for.
func unescape(raw string) (string, bool) {
	if !strings.Contains(raw, `\`) {
		return raw[1 : len(raw)-1], true
	}
	var one struct{ X string }
	if err := decode("X = "+raw, &one); err != nil {
		return "", false
	}
	return one.X, true
}

// decode decodes TOML, and returns the library's own panics as errors as well.
func decode(src string, into any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = toml.ParseError{Message: "not valid TOML"}
		}
	}()
	_, err = toml.Decode(src, into)
	return err
}

// attach gives every scalar the value that the library decoded. It reports whether scanner and
// library saw the same document.
func (n *node) attach(decoded any) bool {
	switch v := decoded.(type) {
	case map[string]any:
		if n.shape != table || len(v) != len(n.items) {
			return false
		}
		for _, c := range n.items {
			if one, ok := v[c.name]; !ok || !c.attach(one) {
				return false
			}
		}
		return true
	case []map[string]any:
		if n.shape != array || len(v) != len(n.items) {
			return false
		}
		for i, c := range n.items {
			if !c.attach(v[i]) {
				return false
			}
		}
		return true
	case []any:
		if n.shape != array || len(v) != len(n.items) {
			return false
		}
		n.value = v
		for i, c := range n.items {
			if !c.attach(v[i]) {
				return false
			}
		}
		return true
	}
	n.value = decoded
	return n.shape == scalar
}
