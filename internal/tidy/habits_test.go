package tidy

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rule finds a banned habit in a package. bad is code that breaks it, every breach marked by a
// comment "// BAD" on its line, in a package called where; code without the mark must pass.
type rule struct {
	name  string
	why   string
	find  func(*source) []finding
	where string
	bad   string
}

func rules() []rule {
	return []rule{
		{"no init", "what runs before main cannot be tested or ordered",
			noInit, "sim", badInit},
		{"no package variable changes", "a result must depend on its input alone",
			noChange, "sim", badChange},
		{"no clock", "only cmd and hw may know what time it is",
			noClock, "sim", badClock},
		{"no luck", "random numbers come from a seed that the caller gives",
			noLuck, "sim", badLuck},
		{"no printing", "libraries return values; cmd prints",
			noPrinting, "sim", badPrinting},
		{"no writing", "files are written by internal/output, complete or not at all",
			noWriting, "sim", badWriting},
		{"no reading", "internal/input reads and unpacks: regular files, and no more than a limit",
			noReading, "sim", badReading},
		{"no range over a map", "sort the keys: slices.Sorted(maps.Keys(m))",
			noMapRange, "sim", badMapRange},
		{"no goroutine in sim", "one run is one sequence of events",
			noGoroutine, "sim", badGoroutine},
		{"no fused product", "write float64(x*y) + z: some processors round x*y + z once",
			noFused, "sim", badFused},
	}
}

// TestHabits holds every package to every rule.
func TestHabits(t *testing.T) {
	sources, err := load()
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, r := range rules() {
		t.Run(strings.ReplaceAll(r.name, " ", "-"), func(t *testing.T) {
			for _, s := range sources {
				for _, f := range r.find(s) {
					t.Errorf("%v (%s)", f, r.why)
				}
			}
		})
	}
}

// TestRulesSeeWhatTheyBan tries each rule on bad code: a rule that finds nothing asserts nothing.
func TestRulesSeeWhatTheyBan(t *testing.T) {
	for _, r := range rules() {
		t.Run(strings.ReplaceAll(r.name, " ", "-"), func(t *testing.T) {
			var want, got []int
			for i, line := range strings.Split(r.bad, "\n") {
				if strings.Contains(line, "// BAD") {
					want = append(want, i+1)
				}
			}
			for _, f := range r.find(snippet(t, r.where, r.bad)) {
				got = append(got, f.at.Line)
			}
			slices.Sort(got)
			require.NotEmpty(t, want)
			require.Equal(t, want, got)
		})
	}
}

func noInit(s *source) (found []finding) {
	for _, f := range s.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, s.at(fn, "func init"))
			}
		}
	}
	return found
}

// uses lists the places that name something at the top of a package which forbidden refuses.
func (s *source) uses(forbidden func(o types.Object) bool) (found []finding) {
	for _, id := range s.named {
		if o := s.info.Uses[id]; forbidden(o) {
			found = append(found, s.at(id, "%s.%s", o.Pkg().Path(), o.Name()))
		}
	}
	return found
}

func noClock(s *source) []finding {
	if within(s.path, "cmd", "hw") {
		return nil
	}
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker",
		"NewTimer"}
	return s.uses(func(o types.Object) bool {
		return o.Pkg().Path() == "time" && slices.Contains(clock, o.Name())
	})
}

// noLuck finds sources of randomness without a seed: the functions of math/rand that are not
// constructors draw from one that is hidden.
func noLuck(s *source) []finding {
	return s.uses(func(o types.Object) bool {
		switch o.Pkg().Path() {
		case "math/rand", "math/rand/v2":
			_, function := o.(*types.Func)
			return function && !strings.HasPrefix(o.Name(), "New")
		case "crypto/rand":
			return !within(s.path, "hw/gate") // nobody may guess a secret
		case "hash/maphash":
			return true
		}
		return false
	})
}

func noPrinting(s *source) []finding {
	if within(s.path, commands()...) {
		return nil
	}
	found := s.uses(func(o types.Object) bool {
		switch o.Pkg().Path() {
		case "fmt":
			return strings.HasPrefix(o.Name(), "Print") || strings.HasPrefix(o.Name(), "Scan")
		case "os":
			return slices.Contains([]string{"Stdin", "Stdout", "Stderr", "Exit"}, o.Name())
		case "log", "log/slog":
			return true
		}
		return false
	})
	s.each(func(n ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok {
			return
		}
		b, ok := s.info.Uses[id].(*types.Builtin)
		if ok && (b.Name() == "print" || b.Name() == "println") {
			found = append(found, s.at(id, "%s", b.Name()))
		}
	})
	return found
}

// noWriting finds what makes, opens for writing, moves or cuts files. os.OpenFile can do no more
// than os.Open unless it is told to.
func noWriting(s *source) []finding {
	if within(s.path, writers()...) {
		return nil
	}
	writing := []string{"Create", "CreateTemp", "CreateInRoot", "OpenFile", "WriteFile", "Rename",
		"Truncate", "Link", "Symlink", "CopyFS", "OpenRoot", "OpenInRoot", "NewFile"}
	return s.uses(func(o types.Object) bool {
		switch o.Pkg().Path() {
		case "os", "io/ioutil":
			return slices.Contains(writing, o.Name())
		case "syscall":
			return slices.Contains([]string{"Open", "Openat", "Creat", "Rename", "Truncate"}, o.Name())
		}
		return false
	})
}

// noReading finds what opens files, reads to an end that may never come, or unpacks.
func noReading(s *source) []finding {
	if within(s.path, readers()...) {
		return nil
	}
	return s.uses(func(o types.Object) bool {
		switch o.Pkg().Path() {
		case "os":
			return slices.Contains([]string{"Open", "ReadFile", "CopyFS"}, o.Name())
		case "io", "io/fs", "io/ioutil":
			return slices.Contains([]string{"ReadAll", "Copy", "CopyBuffer", "ReadFile"}, o.Name())
		case "archive/zip", "archive/tar", "compress/gzip", "compress/zlib", "compress/flate",
			"compress/bzip2", "compress/lzw":
			return strings.HasPrefix(o.Name(), "NewReader") || o.Name() == "OpenReader"
		}
		return false
	})
}

func noGoroutine(s *source) (found []finding) {
	if !within(s.path, "sim") {
		return nil
	}
	s.each(func(n ast.Node) {
		if g, ok := n.(*ast.GoStmt); ok {
			found = append(found, s.at(g, "go statement"))
		}
	})
	return found
}

// noMapRange finds loops over maps, and keys and values of maps that are not sorted at once.
func noMapRange(s *source) (found []finding) {
	if !within(s.path, deterministic()...) {
		return nil
	}
	sorted := map[ast.Expr]bool{} // arguments of slices.Sorted and the like
	s.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch pkg, name := s.callee(n); {
			case pkg == "slices" && strings.HasPrefix(name, "Sorted") && len(n.Args) > 0:
				sorted[ast.Unparen(n.Args[0])] = true
			case pkg == "maps" && (name == "Keys" || name == "Values" || name == "All") && !sorted[n]:
				found = append(found, s.at(n, "maps.%s without slices.Sorted", name))
			}
		case *ast.RangeStmt:
			if _, ok := s.info.TypeOf(n.X).Underlying().(*types.Map); ok {
				found = append(found, s.at(n, "range over a map"))
			}
		}
	})
	return found
}

// callee returns the package and the name of the function that a call names directly.
func (s *source) callee(c *ast.CallExpr) (pkg, name string) {
	fun := ast.Unparen(c.Fun)
	if index, ok := fun.(*ast.IndexExpr); ok {
		fun = index.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	o := s.info.Uses[sel.Sel]
	if o == nil || o.Pkg() == nil {
		return "", ""
	}
	return o.Pkg().Path(), o.Name()
}

// noChange finds assignments to variables of a package, and calls that could change one: those of
// a method with a pointer receiver on a variable that is no pointer, clear and delete.
func noChange(s *source) (found []finding) {
	report := func(at ast.Node, e ast.Expr) {
		if v := s.packageVariable(e); v != nil {
			found = append(found, s.at(at, "%s.%s changes", v.Pkg().Name(), v.Name()))
		}
	}
	s.each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				report(n, e)
			}
		case *ast.IncDecStmt:
			report(n, n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				report(n, n.Key)
				report(n, n.Value)
			}
		case *ast.CallExpr:
			if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
				b, ok := s.info.Uses[id].(*types.Builtin)
				if ok && (b.Name() == "clear" || b.Name() == "delete" || b.Name() == "copy") {
					report(n, n.Args[0])
				}
			}
		case *ast.SelectorExpr:
			m := s.info.Selections[n]
			if m != nil && m.Kind() == types.MethodVal && pointerMethod(m) {
				report(n, n.X)
			}
		}
	})
	return found
}

// pointerMethod reports whether a method selection takes the address of what stands before the dot.
func pointerMethod(m *types.Selection) bool {
	receiver := m.Obj().Type().(*types.Signature).Recv().Type()
	_, onPointer := receiver.(*types.Pointer)
	_, isPointer := m.Recv().Underlying().(*types.Pointer)
	return onPointer && !isPointer
}

// packageVariable returns the variable of a package that an expression is, or is a part of.
func (s *source) packageVariable(e ast.Expr) *types.Var {
	for e != nil {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if s.info.Selections[x] == nil { // a name of another package
				e = x.Sel
				continue
			}
			e = x.X
		case *ast.Ident:
			v, ok := s.info.Uses[x].(*types.Var)
			if ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				return v
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}
