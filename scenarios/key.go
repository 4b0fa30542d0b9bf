package scenarios

import (
	"slices"
	"strings"

	"collsim/internal/nearest"
)

// Key is one key of the scenario file: all that the loader, the documentation and a list of keys
// need to know of it.
type Key struct {
	Path    string   // "topology.bandwidth"; the last part is the key, the rest its table
	Type    string   // in words: "rate", "whole number"
	Default string   // as one would write it; empty where there is none
	Values  []string // all that are possible, where they can be listed
	Limit   string   // the bounds in words, or empty
	Doc     string   // one sentence
	Example string   // a value as one would write it
	Axis    bool     // a list or a range makes one point for each value
	Sweep   bool     // may stand in [sweep]

	kind      kind
	min, max  int64 // of the value in its smallest unit, where max > 0
	unlimited bool  // a rate may be "unlimited"

	// A value goes where to stores it; or by names the function that reads it together with others.
	to    setter
	by    any
	must  string // what is expected where a table goes without; empty: it may
	usual any    // the value of Default, nil where that is in words
	idle  string // why it may have no effect, which its reader says by view.use
	in    *schema
}

// setter stores a key's value in a field of a target: zero for nil, which could not be read.
type setter func(target, value any)

// set returns the setter of targets of type T. V is what the key's kind reads.
func set[T, V any](store func(*T, V)) setter {
	return func(target, value any) {
		var v V
		if value != nil {
			v = value.(V)
		}
		store(target.(*T), v)
	}
}

// kind selects how a value is read.
type kind uint8

const (
	aText kind = iota
	aFile
	anAddress
	aWhole
	aFactor
	aFlag
	aSize
	aRate
	aTime
	aChange
	aChoice
	anOperator
	aDataType
	anAlgorithm
	aMatrix
	aShape
	anOrder
	aTeams
	aShare
	aNames
	aFigure
	aCount
	aFiles
	aLengths
)

// words are the kinds as an error or the documentation says them.
var words = [...]string{
	aText: "text", aFile: "file name", anAddress: "address", aWhole: "whole number", aFactor: "number",
	aFlag: "true or false", aSize: "size", aRate: "rate", aTime: "time",
	aChange: "rate or share", aChoice: "choice", anOperator: "operator", aDataType: "data type",
	anAlgorithm: "algorithm", aMatrix: "matrix", aShape: "list of whole numbers",
	anOrder: "order", aTeams: "teams", aShare: "share", aNames: "list of names", aFigure: "figure",
	aCount: "whole number or a list of them", aFiles: "file name or a list of them",
	aLengths: "list of lengths",
}

// section is one table of the scenario file.
type section struct {
	path string // "topology.link"
	many bool   // written [[topology.link]]; any number of them
	doc  string
}

// header returns the line that begins a section in a file.
func (s section) header() string {
	if s.many {
		return "[[" + s.path + "]]"
	}
	return "[" + s.path + "]"
}

// table returns the path of the key's table, empty for keys before the first table.
func (k *Key) table() string {
	at := strings.LastIndexByte(k.Path, '.')
	return k.Path[:max(at, 0)]
}

// name returns the last part of the key's path.
func (k *Key) name() string { return k.Path[strings.LastIndexByte(k.Path, '.')+1:] }

// textual reports whether the key's values are names and the like, which may look like numbers.
func (k *Key) textual() bool {
	return k.kind == aText || k.kind == aFile || k.kind == anAddress
}

// schema is the key table with what it takes to find keys in it.
type schema struct {
	keys   []Key
	byPath map[string]*Key
	filled map[string][]*Key // by table: those with a setter
	// environment lists the variables of NCCL.
	environment []*Key
}

// newSchema returns the schema of all keys. It knows the given executors besides those of the key
// table.
func newSchema(executors ...string) *schema {
	s := &schema{keys: Keys(), byPath: map[string]*Key{}, filled: map[string][]*Key{}}
	for i := range s.keys {
		k := &s.keys[i]
		k.in, s.byPath[k.Path] = s, k
		if k.to != nil {
			s.filled[k.table()] = append(s.filled[k.table()], k)
		}
		if k.table() == environmentTable {
			s.environment = append(s.environment, k)
		}
	}
	executor := s.byPath["hardware.executor"]
	for _, name := range executors {
		if !slices.Contains(executor.Values, name) {
			executor.Values = append(executor.Values, name)
		}
	}
	return s
}

// section returns the table of that path, nil if there is none.
func (s *schema) section(path string) *section {
	for i := range sections {
		if sections[i].path == path {
			return &sections[i]
		}
	}
	return nil
}

// entries lists what may stand in a table: its keys, then its tables.
func (s *schema) entries(path string) []string {
	var names []string
	for i := range s.keys {
		if s.keys[i].table() == path {
			names = append(names, s.keys[i].name())
		}
	}
	for _, t := range sections {
		up, name := "", t.path
		if at := strings.LastIndexByte(t.path, '.'); at >= 0 {
			up, name = t.path[:at], t.path[at+1:]
		}
		if t.path != "" && up == path {
			names = append(names, name)
		}
	}
	return names
}

// suggest says what may have been meant by an unknown name in a table: a near name of the same
// table, the same name in another table, a near name there, or else what the table has.
func (s *schema) suggest(path, name string) string {
	if s.byPath[join(path, name)] != nil {
		return "write " + name + " without quotes"
	}
	here := s.entries(path)
	if near := nearKey(name, here); near != "" {
		return "did you mean " + quoted(near) + "?"
	}
	folded := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	for i := range s.keys {
		k := &s.keys[i]
		if k.name() != folded || k.table() == path {
			continue
		}
		if k.table() == "" {
			return quoted(folded) + " stands before the first table"
		}
		return quoted(folded) + " belongs in " + s.section(k.table()).header()
	}
	if path == "" {
		return "known here: " + strings.Join(here, ", ")
	}
	return s.section(path).header() + " has " + strings.Join(here, ", ")
}

// nearKey returns the key that a misspelt one most likely stands for, empty if there is none. A key
// of one letter is near to every other letter, so only its capital counts.
func nearKey(name string, keys []string) string {
	for _, near := range nearest.To(name, keys, len(keys)) {
		if len(near) > 1 || strings.EqualFold(near, name) {
			return near
		}
	}
	return ""
}

// nearestKey returns the key of a table whose name is nearest to a given one, which may be a
// table's; empty if there is none.
func (s *schema) nearestKey(path, name string) string {
	var names []string
	for i := range s.keys {
		if s.keys[i].table() == path {
			names = append(names, s.keys[i].name())
		}
	}
	return nearKey(name, names)
}

// suggestPath suggests a whole path as in --set or [sweep]; among selects the paths that are
// possible there.
func (s *schema) suggestPath(path string, among func(*Key) bool) string {
	var paths, same []string
	for i := range s.keys {
		if k := &s.keys[i]; among(k) {
			paths = append(paths, k.Path)
			if k.name() == path[strings.LastIndexByte(path, '.')+1:] {
				same = append(same, k.Path)
			}
		}
	}
	if near := nearest.To(path, paths, 1); len(near) > 0 && !slices.Contains(same, path) {
		if len(same) == 1 {
			near = same
		}
		return "did you mean " + quoted(near[0]) + "?"
	}
	if len(same) > 0 {
		return "did you mean " + either(same) + "?"
	}
	return "all keys: collsim list keys"
}

// either lists names as a sentence does: "a", "a or b", "a, b or c".
func either(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
