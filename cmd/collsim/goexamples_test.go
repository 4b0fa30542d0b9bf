package main

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

// exampleBlock is a Go example in a document, named by package and function, and what it prints.
var exampleBlock = regexp.MustCompile("(?s)<!-- example: (\\S+) (\\w+) -->\n```go\n.*?```\n\n" +
	"```text\n.*?```\n")

// TestGoExamples holds the Go code of documents to the examples that are compiled and run, and what
// it prints to what they print.
func TestGoExamples(t *testing.T) {
	for _, name := range []string{"docs/communications.md"} {
		path := filepath.Join(repository(t), name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		shown := 0
		regenerated := exampleBlock.ReplaceAllStringFunc(string(text), func(block string) string {
			m := exampleBlock.FindStringSubmatch(block)
			first, _, _ := strings.Cut(block, "\n")
			code, output := goExample(t, filepath.Join(repository(t), m[1]), m[2])
			shown++
			return first + "\n```go\n" + code + "```\n\n```text\n" + output + "```\n"
		})
		require.Equal(t, strings.Count(string(text), "```go"), shown, "all blocks are examples")
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(regenerated), 0o644))
			continue
		}
		require.Equal(t, string(text), regenerated, "go test ./cmd/collsim -update rewrites it")
	}
}

// goExample is the body of an example, and its output.
func goExample(t *testing.T, directory, name string) (code, output string) {
	t.Helper()
	file := filepath.Join(directory, "example_test.go")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, 0)
	require.NoError(t, err)
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != name {
			continue
		}
		body := string(text[fset.Position(f.Body.Lbrace).Offset+2 : fset.Position(
			f.Body.Rbrace).Offset])
		code, output, ok := strings.Cut(body, "\t// Output:")
		require.True(t, ok, "%s of %s prints nothing", name, file)
		output = strings.ReplaceAll(output, "\t// ", "")
		return strings.ReplaceAll("\n"+code, "\n\t", "\n")[1:], strings.TrimSpace(output) + "\n"
	}
	require.Fail(t, "no such example", "%s in %s", name, file)
	return "", ""
}
