package event

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers names the types that engine has as fields. What reads a log belongs to its writer, and
// what observes GPUs to these.
var layers = map[string][]string{"lanes": {"lanes"}, "conns": {"connections"}, "links": {"links"},
	"flows": {"flows"}, "log": {"writer", "reader"}, "repeats": {"repeater"}, "ahead": {"ahead"},
	"rendezvous": {"rendezvous"}, "branches": {"branches"}, "row": {"row"}, "period": {"period"},
	"gpu": {"gpus", "gpuWatch", "reader"}, "faults": {"faults"}}

// TestLayers holds that no layer touches the fields of another: it calls its methods.
func TestLayers(t *testing.T) {
	var decls []ast.Decl
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			decls = append(decls, f.Decls...)
		}
	}
	fields := fieldsOf(decls)
	seen := map[string]bool{}
	for _, d := range decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil { // what makes an engine fills in its fields
			continue
		}
		mine := strings.TrimPrefix(nameOf(f.Recv.List[0].Type), "*")
		ast.Inspect(f, func(n ast.Node) bool {
			of, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			layer, ok := of.X.(*ast.SelectorExpr)
			if !ok || layers[layer.Sel.Name] == nil {
				return true
			}
			seen[layer.Sel.Name] = true
			if all := layers[layer.Sel.Name]; !slices.Contains(all, mine) {
				require.NotContains(t, fields[all[0]], of.Sel.Name, "%s.%s in %s.%s", all[0],
					of.Sel.Name, mine, f.Name.Name)
			}
			return true
		})
	}
	require.Len(t, seen, len(layers))
}

// fieldsOf lists the fields of each type, also those of the types that it embeds.
func fieldsOf(decls []ast.Decl) map[string][]string {
	fields, embedded := map[string][]string{}, map[string][]string{}
	for _, d := range decls {
		g, ok := d.(*ast.GenDecl)
		for i := 0; ok && i < len(g.Specs); i++ {
			spec, _ := g.Specs[i].(*ast.TypeSpec)
			if spec == nil {
				continue
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, name := range f.Names {
						fields[spec.Name.Name] = append(fields[spec.Name.Name], name.Name)
					}
					if len(f.Names) == 0 {
						embedded[spec.Name.Name] = append(embedded[spec.Name.Name], nameOf(f.Type))
					}
				}
			}
		}
	}
	for name := range layers {
		of := layers[name][0]
		for _, inner := range embedded[of] {
			fields[of] = append(fields[of], fields[inner]...)
		}
	}
	return fields
}

// nameOf writes a type's name.
func nameOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return "*" + nameOf(x.X)
	}
	return ""
}
