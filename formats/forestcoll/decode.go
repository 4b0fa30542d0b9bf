package forestcoll

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"collsim/formats/internal/foreign"
	"collsim/internal/nearest"
)

// Limits of a file.
const (
	maxRanks  = 1 << 16
	maxChunks = 1 << 20
	maxTrees  = 1 << 20
	maxEdges  = 1 << 22
)

// rawTree and rawSend are elements of the file, with the names of nodes.
type rawTree struct {
	root                   node
	index, chunks, height  int
	line, firstSend, sends int
}

type rawSend struct {
	from, to node
	line     int
}

// decoder reads a file element by element.
type decoder struct {
	xml    *xml.Decoder
	file   string
	line   int
	chunks int // of each rank
	nodes  map[string]node
	trees  []rawTree
	sends  []rawSend

	numbers map[string]int // of all nodes
	users   map[link]pair
	shared  bool // two pairs use one link
}

func newDecoder(r io.Reader, file string) *decoder {
	return &decoder{xml: xml.NewDecoder(r), file: file, line: 1, nodes: map[string]node{},
		numbers: map[string]int{}, users: map[link]pair{}}
}

func (d *decoder) wrong(format string, args ...any) error {
	return &foreign.Error{File: d.file, Line: d.line, Text: fmt.Sprintf(format, args...)}
}

// read reads the file, without relating its elements.
func (d *decoder) read() error {
	levels := [...]string{"Algo", "tree", "send"}
	depth, done := 0, false
	for {
		t, err := d.xml.Token()
		d.line, _ = d.xml.InputPos()
		switch {
		case err == io.EOF && done:
			return nil
		case err == io.EOF:
			return d.wrong("the file has no <Algo>, or ends within it")
		case err != nil:
			return d.broken(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth == len(levels) || done {
				return d.wrong("<%.40s>: nothing more is expected here", t.Name.Local)
			}
			if t.Name.Local != levels[depth] {
				return d.unknown("<"+t.Name.Local+">", "<"+levels[depth]+">")
			}
			if err := d.element(depth, t.Attr); err != nil {
				return err
			}
			depth++
		case xml.EndElement:
			depth--
			done = depth == 0
		case xml.CharData:
			if text := strings.TrimSpace(string(t)); text != "" {
				d.line -= strings.Count(strings.TrimLeft(string(t), " \t\r\n"), "\n")
				return d.wrong("text %.40q: only elements are expected", text)
			}
		}
	}
}

func (d *decoder) broken(err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		d.line = syntax.Line
		return d.wrong("this is no XML: %s", syntax.Msg)
	}
	return d.wrong("%v", err)
}

func (d *decoder) unknown(name string, legal ...string) error {
	e := &foreign.Error{File: d.file, Line: d.line, Text: fmt.Sprintf(
		"%.60q: %s is expected", name, strings.Join(legal, " or "))}
	if near := nearest.To(name, legal, 1); len(near) > 0 {
		e.Hint = "did you mean " + near[0] + "?"
	}
	return e
}

// element reads the attributes of an element.
func (d *decoder) element(depth int, attributes []xml.Attr) error {
	names := [...][]string{{"nchunkspernode"}, {"root", "index", "nchunks", "height"},
		{"src", "dst", "path"}}[depth]
	values := make([]string, len(names))
	given := make([]bool, len(names))
	for _, a := range attributes {
		i := slices.Index(names, a.Name.Local)
		if i < 0 || a.Name.Space != "" {
			return d.unknown(a.Name.Local, names...)
		}
		if given[i] {
			return d.wrong("%s is given twice", a.Name.Local)
		}
		values[i], given[i] = a.Value, true
	}
	if i := slices.Index(given, false); i >= 0 {
		return d.wrong("%s is missing", names[i])
	}
	switch depth {
	case 0:
		return d.number("nchunkspernode", values[0], &d.chunks, 1, maxChunks)
	case 1:
		return d.tree(values)
	}
	return d.send(values)
}

func (d *decoder) number(name, text string, to *int, low, high int) (err error) {
	*to, err = strconv.Atoi(text)
	if err != nil || *to < low || *to > high {
		return d.wrong("%s = %.40q: a whole number from %d to %d is expected", name, text, low, high)
	}
	return nil
}

func (d *decoder) tree(values []string) (err error) {
	t := rawTree{line: d.line, firstSend: len(d.sends)}
	if t.root, err = d.node("root", values[0]); err != nil {
		return err
	}
	if err := d.number("index", values[1], &t.index, 0, maxTrees); err != nil {
		return err
	}
	if err := d.number("nchunks", values[2], &t.chunks, 1, d.chunks); err != nil {
		return err
	}
	if err := d.number("height", values[3], &t.height, 0, maxRanks); err != nil {
		return err
	}
	if len(d.trees) == maxTrees {
		return d.wrong("more than %d trees", maxTrees)
	}
	d.trees = append(d.trees, t)
	return nil
}

func (d *decoder) send(values []string) (err error) {
	s := rawSend{line: d.line}
	if s.from, err = d.node("src", values[0]); err != nil {
		return err
	}
	if s.to, err = d.node("dst", values[1]); err != nil {
		return err
	}
	path, err := parseNodes(values[2])
	if err != nil || len(path) < 2 || path[0].compare(s.from) != 0 ||
		path[len(path)-1].compare(s.to) != 0 {
		return d.wrong("path = %.100q: nodes from %s to %s are expected", values[2], s.from, s.to)
	}
	if s.from.compare(s.to) == 0 {
		return d.wrong("a send from %s to itself", s.from)
	}
	if len(d.sends) == maxEdges {
		return d.wrong("more than %d sends", maxEdges)
	}
	d.walk(path)
	d.sends = append(d.sends, s)
	d.trees[len(d.trees)-1].sends++
	return nil
}

// node parses the name of a node, with a cache, since a file repeats few names.
func (d *decoder) node(name, text string) (node, error) {
	if n, ok := d.nodes[text]; ok {
		return n, nil
	}
	list, err := parseNodes(text)
	if err != nil || len(list) != 1 {
		return nil, d.wrong("%s = %.60q: a node such as (0, 'GPU', 3) is expected", name, text)
	}
	d.nodes[text] = list[0]
	return list[0], nil
}
