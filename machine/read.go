package machine

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"collsim/topology"
)

// files are the machines of the catalogue, one a file, by name.
//
//go:embed data/*.toml
var files embed.FS

// Catalogue lists all machines that a scenario may name, by name. Callers must not change them.
func Catalogue() []*Machine {
	all := make([]*Machine, len(names()))
	for i, name := range names() {
		all[i] = known()[name]()
	}
	return all
}

// names lists the machines that there are files of.
var names = sync.OnceValue(func() (all []string) {
	entries, err := files.ReadDir("data")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		all = append(all, strings.TrimSuffix(e.Name(), ".toml"))
	}
	return all
})

// known reads the file of each machine once, when it is asked for: reading all takes longer than
// most scenarios. It panics on an error; a test reads them all.
var known = sync.OnceValue(func() map[string]func() *Machine {
	of := map[string]func() *Machine{}
	for _, name := range names() {
		of[name] = sync.OnceValue(func() *Machine {
			text, err := files.ReadFile("data/" + name + ".toml")
			if err != nil {
				panic(err)
			}
			m, err := Read(name, text)
			if err != nil {
				panic(err)
			}
			return m
		})
	}
	return of
})

// written is a figure in a file.
type written struct {
	Is     string `toml:"is"`
	Sheet  string `toml:"sheet"`
	Source string `toml:"source"`
}

// mostLike bounds the chain of machines that are like one another.
const mostLike = 8

// Read reads a machine's file. A machine that is like another one of the catalogue has all figures
// of that one which it does not state itself.
func Read(name string, text []byte) (*Machine, error) {
	return read(name, string(text), func(like string) (string, bool) {
		data, err := files.ReadFile("data/" + like + ".toml")
		return string(data), err == nil
	}, 0)
}

// file holds the contents of a machine's file.
type file struct {
	name, about, like string
	own               map[string]written
	keys              []string // of own, in their order
	text              string
}

// wrong returns an error about a key of the file, with its line if it has one.
func (f *file) wrong(key, format string, args ...any) error {
	place := f.name
	for i, text := range strings.Split(f.text, "\n") {
		if name, _, ok := strings.Cut(text, "="); ok && strings.TrimSpace(name) == key {
			place += fmt.Sprintf(":%d", i+1)
			break
		}
	}
	return fmt.Errorf("%s: %s: %s", place, key, fmt.Sprintf(format, args...))
}

// parse parses a file and checks its form.
func parse(name, text string) (*file, error) {
	var tables map[string]toml.Primitive
	meta, err := toml.Decode(text, &tables)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f := &file{name: name, text: text, own: map[string]written{}}
	for _, path := range meta.Keys() {
		if len(path) > 1 {
			continue // a key of a figure
		}
		key, value := path[0], tables[path[0]]
		var w written
		switch key {
		case "about":
			err = meta.PrimitiveDecode(value, &f.about)
		case "like":
			err = meta.PrimitiveDecode(value, &f.like)
		default:
			if err = meta.PrimitiveDecode(value, &w); err == nil && (w.Is == "" || w.Source == "") {
				return nil, f.wrong(key, `is and source are expected, as { is = "8", source = "…" }`)
			}
			f.own[key], f.keys = w, append(f.keys, key)
		}
		if err != nil {
			return nil, f.wrong(key, "%v", err)
		}
	}
	if left := meta.Undecoded(); len(left) > 0 {
		return nil, f.wrong(left[0].String(), "no such key; is, sheet and source are expected")
	}
	return f, nil
}

// read reads a file, and by other those that it is like.
func read(name, text string, other func(string) (string, bool), depth int) (*Machine, error) {
	f, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	base := &Machine{}
	if f.like != "" {
		text, ok := other(f.like)
		if !ok || depth == mostLike {
			return nil, f.wrong("like", "%q: a machine that does not depend on this one is expected",
				f.like)
		}
		if base, err = read(f.like, text, other, depth+1); err != nil {
			return nil, err
		}
	}
	m := &Machine{Name: name, About: f.about}
	for _, k := range kinds() {
		if err := f.figure(m, k, base.Figures); err != nil {
			return nil, err
		}
	}
	for _, key := range f.keys {
		if !slices.ContainsFunc(kinds(), func(k kind) bool { return k.name == key }) {
			return nil, f.wrong(key, "no such figure")
		}
	}
	return m, m.check(f)
}

// figure sets one figure of a machine: the file's own or else that of the machine it is like.
func (f *file) figure(m *Machine, k kind, base []Figure) error {
	w, given := f.own[k.name]
	figure := Figure{k.name, w.Is, w.Sheet, w.Source, ""}
	means := k.of == nil || k.of(m)
	if given && !means {
		return f.wrong(k.name, "%q: has no effect on a machine that is joined by %s", w.Is, m.Joined)
	}
	if !given {
		i := slices.IndexFunc(base, func(f Figure) bool { return f.Name == k.name })
		switch {
		case !means, i < 0 && isOptional(k.name):
			return nil
		case i < 0:
			return f.wrong(k.name, "missing: %s", k.about)
		}
		figure = base[i]
		figure.Of = cmp.Or(figure.Of, f.like)
	}
	if err := k.set(m, figure.Is); err != nil {
		return f.wrong(k.name, "%.60q: %v", figure.Is, err)
	}
	m.Figures = append(m.Figures, figure)
	return nil
}

// check checks the figures together: whether the network of a node can be built.
func (m *Machine) check(f *file) error {
	if nics := len(m.nics(m.GPUs)); m.Wires != nil && nics != m.NICs {
		return f.wrong("nics", "%d: the wires join GPUs with %d, which are nic0, nic1, …", m.NICs, nics)
	}
	p := m.Node(m.GPUs)
	g, err := topology.Build(topology.Params{Nodes: 1, Node: &p})
	if err == nil {
		err = g.Connected()
	}
	if err != nil {
		return f.wrong("wires", "%v", err)
	}
	return nil
}
