package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The limits of style. Tests have no limit of function length: a table is one function.
const (
	maxFileLines  = 400
	maxFuncLines  = 60
	maxColumns    = 100 // runes; a tab is one
	maxParameters = 5
	manyExported  = 25 // names at the top of a package; more are only logged
)

// exempt lists what may be larger, with the reason: "dir/file.go" for a file, "dir/file.go:Func"
// for a function.
func exempt() map[string]string {
	return map[string]string{}
}

// measured is what the limits are about in one file.
type measured struct {
	name       string // below the module
	lines      int
	complaints []string
	functions  []length // without those of tests
	exported   []string // names at the top, without those of tests and without constants
}

type length struct {
	name  string
	lines int
}

// TestSizes holds every file on disk, whatever its build tags, to the limits.
func TestSizes(t *testing.T) {
	files, err := measureAll()
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		for _, c := range f.complaints {
			t.Error(c)
		}
	}
	report(t, files)
}

// report logs how large things are, so that a review can see where growth begins.
func report(t *testing.T, files []measured) {
	var code, tests []int
	var functions []length
	names := map[string]int{}
	for _, f := range files {
		if strings.HasSuffix(f.name, "_test.go") {
			tests = append(tests, f.lines)
			continue
		}
		code = append(code, f.lines)
		functions = append(functions, f.functions...)
		names[filepath.ToSlash(filepath.Dir(f.name))] += len(f.exported)
	}
	summary := func(what string, lines []int) {
		if len(lines) == 0 {
			return
		}
		slices.Sort(lines)
		sum := 0
		for _, n := range lines {
			sum += n
		}
		t.Logf("%s: %d files, %d lines; median %d, p90 %d, longest %d", what, len(lines), sum,
			lines[len(lines)/2], lines[len(lines)*9/10], lines[len(lines)-1])
	}
	summary("code", code)
	summary("tests", tests)
	slices.SortStableFunc(functions, func(a, b length) int { return b.lines - a.lines })
	for _, f := range functions[:min(5, len(functions))] {
		t.Logf("%d lines: %s", f.lines, f.name)
	}
	for _, dir := range slices.Sorted(maps.Keys(names)) {
		if names[dir] > manyExported {
			t.Logf("%d exported names, more than %d: %s", names[dir], manyExported, dir)
		}
	}
}

// measureAll measures all Go files of the module.
func measureAll() (files []measured, err error) {
	all, err := onDisk()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(all.files)) {
		f := all.files[name]
		files = append(files, measure(name, f.code, all.fset, f.syntax))
	}
	return files, nil
}

// measure holds one file to the limits.
func measure(name, code string, fset *token.FileSet, f *ast.File) measured {
	m := measured{name: name, lines: strings.Count(code, "\n")}
	complain := func(line int, format string, args ...any) {
		m.complaints = append(m.complaints,
			fmt.Sprintf("%s:%d: %s", name, line, fmt.Sprintf(format, args...)))
	}
	if m.lines > maxFileLines && exempt()[name] == "" {
		complain(1, "%d lines; the limit is %d", m.lines, maxFileLines)
	}
	for i, line := range strings.Split(code, "\n") {
		if n := utf8.RuneCountInString(line); n > maxColumns {
			complain(i+1, "%d columns; the limit is %d", n, maxColumns)
		}
	}
	if strings.HasSuffix(name, "_test.go") {
		return m
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			m.exported = append(m.exported, exportedNames(d.(*ast.GenDecl))...)
			continue
		}
		if fn.Recv == nil && fn.Name.IsExported() {
			m.exported = append(m.exported, fn.Name.Name)
		}
		first, last := fset.Position(fn.Pos()).Line, fset.Position(fn.End()).Line
		full := name + ":" + fn.Name.Name
		m.functions = append(m.functions, length{full, last - first + 1})
		if n := last - first + 1; n > maxFuncLines && exempt()[full] == "" {
			complain(first, "%s has %d lines; the limit is %d", fn.Name.Name, n, maxFuncLines)
		}
		if n := fn.Type.Params.NumFields(); n > maxParameters && exempt()[full] == "" {
			complain(first, "%s has %d parameters; the limit is %d", fn.Name.Name, n, maxParameters)
		}
		if fn.Doc == nil && fn.Name.IsExported() && visible(fn) {
			complain(first, "%s has no doc comment", fn.Name.Name)
		}
	}
	return m
}

// visible reports whether an exported function or method can be named outside.
func visible(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		exported = exported || ok && id.IsExported()
		return true
	})
	return exported
}

// exportedNames returns the exported variables and types of a declaration. The constants of an
// enumeration count as its type.
func exportedNames(d *ast.GenDecl) (names []string) {
	if d.Tok == token.CONST {
		return nil
	}
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				names = append(names, s.Name.Name)
			}
		case *ast.ValueSpec:
			for _, id := range s.Names {
				if id.IsExported() {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

func TestMeasureSeesWhatItBans(t *testing.T) {
	measured := func(name, code string) measured {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, code, syntax)
		require.NoError(t, err)
		return measure(name, code, fset, f)
	}
	body := strings.Repeat("\t_ = 0\n", maxFuncLines)
	code := "package p\n\nfunc F() {\n" + body + "}\n\n" +
		"// G is documented.\nfunc G(a, b, c int, d, e, f string) {}\n\n" +
		"type T struct{}\n\nfunc (t T) M() {}\n\ntype u struct{}\n\nfunc (u) M() {}\n" +
		"// " + strings.Repeat("é", maxColumns) + "\n"
	m := measured("a/b.go", code)
	require.Equal(t, []string{
		"a/b.go:76: 103 columns; the limit is 100",
		"a/b.go:3: F has 62 lines; the limit is 60",
		"a/b.go:3: F has no doc comment",
		"a/b.go:67: G has 6 parameters; the limit is 5",
		"a/b.go:71: M has no doc comment",
	}, m.complaints)
	require.Equal(t, []string{"F", "G", "T"}, m.exported)

	m = measured("a/b_test.go", strings.Replace(code, "é", "", 9))
	require.Empty(t, m.complaints, "tests are free to be long")

	m = measured("a/b.go", "package p\n"+strings.Repeat("\n", maxFileLines))
	require.Equal(t, []string{"a/b.go:1: 401 lines; the limit is 400"}, m.complaints)
}
