package tidy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

// root is the directory of the module, seen from this package's.
const root = "../.."

// module is the path of ours; imports alone may spell it.
const module = "collsim"

// source is one of our packages: its files without tests, with types.
type source struct {
	path    string // below the module, "." for its root
	fset    *token.FileSet
	files   []*ast.File
	pkg     *types.Package
	info    *types.Info
	imports []string     // of the files without tests
	tests   []string     // imports of the test files
	named   []*ast.Ident // what names something at the top of a package
}

// syntax is what is parsed: go/types resolves names, nobody else needs to.
const syntax = parser.ParseComments | parser.SkipObjectResolution

// goFiles are files on disk, by their names below the module.
type goFiles struct {
	fset  *token.FileSet
	files map[string]goFile
}

// goFile has no syntax if it is a test's, in the short tier: the compiler reads those of this
// system.
type goFile struct {
	code   string
	syntax *ast.File
}

// onDisk reads all Go files of the module, whatever their build tags, without those of nested
// modules and testdata, once for all tests of this package.
var onDisk = sync.OnceValues(func() (*goFiles, error) {
	all := &goFiles{token.NewFileSet(), map[string]goFile{}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if nested == nil || d.Name() == "testdata" || d.Name()[0] == '.' || d.Name()[0] == '_' {
				return filepath.SkipDir
			}
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		code, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		f := goFile{code: string(code)}
		if tier.Long || !strings.HasSuffix(name, "_test.go") {
			f.syntax, err = parser.ParseFile(all.fset, name, code, syntax)
		}
		all.files[name] = f
		return err
	})
	return all, err
})

// listed is what `go list` says of a package.
type listed struct {
	ImportPath, Dir, Export            string
	Standard                           bool
	Module                             *struct{ Main bool }
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
	Error                              *struct{ Err string }
}

// load reads our packages, once for all tests of this package.
var load = sync.OnceValues(func() ([]*source, error) {
	list, err := goList()
	if err != nil {
		return nil, err
	}
	all, err := onDisk()
	if err != nil {
		return nil, err
	}
	imports := compiled(list)
	var sources []*source
	for _, l := range list {
		if l.Module == nil || !l.Module.Main {
			continue
		}
		s := &source{path: below(l.ImportPath), fset: all.fset, imports: l.Imports}
		s.tests = append(append(s.tests, l.TestImports...), l.XTestImports...)
		for _, name := range l.GoFiles {
			f, ok := all.files[path.Join(s.path, name)]
			if !ok {
				return nil, fmt.Errorf("%s/%s is not on disk", s.path, name)
			}
			s.files = append(s.files, f.syntax)
		}
		if err := s.check(imports); err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
})

// compiled imports packages from their export data.
func compiled(list []listed) types.Importer {
	exports := map[string]string{}
	for _, l := range list {
		exports[l.ImportPath] = l.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("%s does not compile", path)
		}
		return os.Open(exports[path])
	})
}

// goList describes all our packages and what they depend on, with export data.
var goList = sync.OnceValues(func() ([]listed, error) {
	cmd := exec.Command("go", "list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,"+
		"Standard,Module,GoFiles,Imports,TestImports,XTestImports,Error", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var list []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		list = append(list, l)
	}
})

// below returns the path of one of our packages below the module, and "" for others'.
func below(importPath string) string {
	if importPath == module {
		return "."
	}
	path, ok := strings.CutPrefix(importPath, module+"/")
	if !ok {
		return ""
	}
	return path
}

// check finds the types of a package.
func (s *source) check(imports types.Importer) error {
	s.info = &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{Importer: imports}
	var err error
	s.pkg, err = config.Check(s.path, s.fset, s.files, s.info)
	s.each(func(n ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok {
			return
		}
		if o := s.info.Uses[id]; o != nil && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
			s.named = append(s.named, id)
		}
	})
	return err
}

// forSnippets imports what our packages depend on.
var forSnippets = sync.OnceValues(func() (types.Importer, error) {
	list, err := goList()
	return compiled(list), err
})

// snippet type-checks files of package path, to try a rule on.
func snippet(t *testing.T, path string, codes ...string) *source {
	t.Helper()
	s := &source{path: path, fset: token.NewFileSet()}
	for i, code := range codes {
		f, err := parser.ParseFile(s.fset, fmt.Sprintf("bad%d.go", i), code, syntax)
		require.NoError(t, err)
		s.files = append(s.files, f)
	}
	imports, err := forSnippets()
	require.NoError(t, err)
	require.NoError(t, s.check(imports))
	return s
}

// finding is a place where a rule is broken.
type finding struct {
	at   token.Position
	text string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s", f.at.Filename, f.at.Line, f.text)
}

// at makes a finding of a node.
func (s *source) at(n ast.Node, format string, args ...any) finding {
	return finding{s.fset.Position(n.Pos()), fmt.Sprintf(format, args...)}
}

// each calls visit for every node of the package.
func (s *source) each(visit func(ast.Node)) {
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if n != nil {
				visit(n)
			}
			return true
		})
	}
}
