package model_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTimeDocument: every function that docs/time.md names for a rule is one of this package, and
// every section that it or a comment here refers to is there.
func TestTimeDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/time.md")
	require.NoError(t, err)
	sections := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(text), -1) {
		sections[strings.ToLower(m[1])] = true
	}
	declared := declarations(t)
	rows := regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\(#([^)]+)\) \| (.+) \|$`).
		FindAllStringSubmatch(string(text), -1)
	require.Len(t, rows, 8)
	for _, row := range rows {
		require.True(t, sections[strings.ToLower(row[1])], row[1])
		require.Equal(t, strings.ReplaceAll(strings.ToLower(row[1]), " ", "-"), row[2])
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[3], -1) {
			require.True(t, declared[name[1]], "%s has no %s", row[1], name[1])
		}
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	cited := regexp.MustCompile(`\(docs/time\.md,[\s/]+([A-Za-z ]+)[;)]`)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range cited.FindAllStringSubmatch(string(source), -1) {
			name := strings.ToLower(m[1])
			require.True(t, sections[name] || strings.HasPrefix(name, "decision"), "%s: %s", file, m[0])
		}
	}
}

// declarations has the names of this package's types and functions, methods as Type.Method.
func declarations(t *testing.T) map[string]bool {
	names := map[string]bool{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					of := d.Recv.List[0].Type
					if star, ok := of.(*ast.StarExpr); ok {
						of = star.X
					}
					if id, ok := of.(*ast.Ident); ok {
						name = id.Name + "." + name
					}
				}
				names[name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						names[s.Name.Name] = true
					}
				}
			}
		}
	}
	return names
}
