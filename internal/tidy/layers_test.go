package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// manyFiles is the most files of a package that a reader finds his way in without a map.
const manyFiles = 20

// layer is a line of a package's "# Layers": what its files are about, and their names, or
// patterns of names.
type layer struct {
	name  string
	files []string
}

// parseLayers reads the list below the heading "# Layers" of a package comment. A layer is
// "name: file.go file.go"; further lines may go on with its files.
func parseLayers(doc string) (list []layer) {
	_, text, found := strings.Cut(doc, "\n# Layers\n")
	if !found {
		return nil
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# ") {
			break
		}
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "  ") {
			continue // a sentence
		}
		name, files, isNew := strings.Cut(line, ":")
		if isNew {
			list = append(list, layer{name: strings.TrimSpace(name)})
		} else {
			files = line
		}
		if len(list) > 0 {
			last := &list[len(list)-1]
			last.files = append(last.files, strings.Fields(files)...)
		}
	}
	return list
}

// spelled replaces patterns ("all_*.go") by the files that no layer names by itself.
func spelled(layers []layer, files []string) []layer {
	named := map[string]bool{}
	for _, l := range layers {
		for _, file := range l.files {
			named[file] = true
		}
	}
	for i, l := range layers {
		var list []string
		for _, pattern := range l.files {
			if !strings.Contains(pattern, "*") {
				list = append(list, pattern)
				continue
			}
			for _, file := range files {
				if fits, _ := filepath.Match(pattern, file); fits && !named[file] {
					list = append(list, file)
				}
			}
		}
		layers[i].files = list
	}
	return layers
}

// without returns the elements of a list that another one has not.
func without(list, others []string) (rest []string) {
	for _, one := range list {
		if !slices.Contains(others, one) {
			rest = append(rest, one)
		}
	}
	return rest
}

// names returns the names of a package's files on all systems, without tests and doc.go, in order.
func (s *source) names() (list []string) {
	list, _ = filepath.Glob(filepath.Join(root, s.path, "*.go")) // fails for bad patterns alone
	for i, path := range list {
		list[i] = filepath.Base(path)
	}
	return slices.DeleteFunc(list, func(name string) bool {
		return name == "doc.go" || strings.HasSuffix(name, "_test.go")
	})
}

func (s *source) file(pos token.Pos) string {
	return filepath.Base(s.fset.Position(pos).Filename)
}

// doc returns the package comment.
func (s *source) doc() string {
	for _, f := range s.files {
		if f.Doc != nil {
			return f.Doc.Text()
		}
	}
	return ""
}

// use is a place where one file of a package uses a function, method, type, constant or variable
// that another one declares.
type use struct {
	at       token.Position
	from, to string // files
	name     string
}

// usesOfFiles lists the uses between the files of a package, in order.
func (s *source) usesOfFiles() (list []use) {
	s.each(func(n ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok {
			return
		}
		o := s.info.Uses[id]
		if o == nil || o.Pkg() != s.pkg {
			return
		}
		f, isFunc := o.(*types.Func)
		isMethod := isFunc && f.Signature().Recv() != nil
		if !isMethod && o.Parent() != s.pkg.Scope() {
			return
		}
		u := use{s.fset.Position(id.Pos()), s.file(id.Pos()), s.file(o.Pos()), id.Name}
		if u.from != u.to {
			list = append(list, u)
		}
	})
	return list
}

// upward lists the uses of a name that a later layer declares.
func upward(layers []layer, uses []use) (list []string) {
	place := map[string]int{}
	for i, l := range layers {
		for _, file := range l.files {
			place[file] = i
		}
	}
	for _, u := range uses {
		if place[u.to] > place[u.from] {
			list = append(list, fmt.Sprintf("%v: %s is in the later layer of %s", u.at, u.name, u.to))
		}
	}
	return list
}

// fromBelow orders files such that few uses go to a later one: next is always the file that uses
// least of those that are left.
func fromBelow(files []string, uses []use) (order []string) {
	left := slices.Clone(files)
	for len(left) > 0 {
		count := map[string]int{}
		for _, u := range uses {
			if slices.Contains(left, u.from) && slices.Contains(left, u.to) {
				count[u.from]++
			}
		}
		next := slices.MinFunc(left, func(a, b string) int { return count[a] - count[b] })
		order = append(order, next)
		left = slices.DeleteFunc(left, func(f string) bool { return f == next })
	}
	return order
}

// TestLayers holds every package of many files to a list of them in layers, from below, in its
// package comment. Uses of a name from a later layer, in testdata/layers.txt, may only get fewer.
func TestLayers(t *testing.T) {
	sources, err := load()
	require.NoError(t, err)
	found := map[string][]string{}
	for _, s := range sources {
		files := s.names()
		layers := spelled(parseLayers(s.doc()), files)
		if len(files) <= manyFiles && layers == nil {
			continue
		}
		if layers == nil {
			t.Errorf("%s: # Layers of its doc.go must list its files; they are, roughly from below, %v",
				s.path, fromBelow(files, s.usesOfFiles()))
			continue
		}
		var listed []string
		for _, l := range layers {
			listed = append(listed, l.files...)
		}
		if lacks, gone := without(files, listed), without(listed, files); lacks != nil || gone != nil {
			t.Errorf("%s: # Layers of its doc.go: add %v, take out %v", s.path, lacks, gone)
			continue
		}
		found[s.path] = upward(layers, s.usesOfFiles())
	}
	holdTo(t, "testdata/layers.txt", 0, found)
}

// TestLayersAreRead: a list is read with lines that go on, and a use of a later layer is seen.
func TestLayersAreRead(t *testing.T) {
	layers := parseLayers("Package x.\n\n# Layers\n\nFrom below:\n\n\ttext: a.go b.go\n\t  c.go\n" +
		"\twork: d.go\n\n# More\n\n\tother: e.go\n")
	require.Equal(t, []layer{{"text", []string{"a.go", "b.go", "c.go"}}, {"work", []string{"d.go"}}},
		layers)
	uses := []use{{from: "a.go", to: "d.go", name: "late"}, {from: "d.go", to: "a.go", name: "early"}}
	require.Len(t, upward(layers, uses), 1)
	require.Equal(t, []string{"a.go", "d.go"}, fromBelow([]string{"d.go", "a.go"}, uses[1:]))
}

// TestUsesAreSeen: functions, methods and types of another file count. Fields and what other
// packages declare do not.
func TestUsesAreSeen(t *testing.T) {
	s := snippet(t, "sim", "package sim\nfunc f(x t) { x.m(); println(x.field, g, local()) }\n",
		"package sim\ntype t struct{ field int }\nfunc (t) m() {}\nconst g = 1\n"+
			"func local() int { own := g; return own }\n")
	var names []string
	for _, u := range s.usesOfFiles() {
		names = append(names, u.name)
	}
	require.Equal(t, []string{"t", "m", "g", "local"}, names)
}
