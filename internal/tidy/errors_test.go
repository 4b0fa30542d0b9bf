package tidy

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// leadingWords matches the words before colons with which an error's text may begin.
var leadingWords = regexp.MustCompile(`^([a-z]+): `)

// prefixed lists the texts of errors.New and fmt.Errorf that begin with the name of a package.
// Users know no packages: an error says what is wrong, and its caller says where.
func (s *source) prefixed(packages []string) (found []string) {
	s.each(func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return
		}
		if pkg, name := s.callee(call); pkg+"."+name != "errors.New" && pkg+"."+name != "fmt.Errorf" {
			return
		}
		text, ok := call.Args[0].(*ast.BasicLit)
		if sum, isSum := call.Args[0].(*ast.BinaryExpr); isSum {
			text, ok = sum.X.(*ast.BasicLit)
		}
		if !ok || text.Kind != token.STRING {
			return
		}
		value, err := strconv.Unquote(text.Value)
		m := leadingWords.FindStringSubmatch(value)
		if err == nil && m != nil && slices.Contains(packages, m[1]) {
			found = append(found, s.at(call, "%q begins with a package's name", value).String())
		}
	})
	return found
}

// TestErrorsNameNoPackage: nobody has to strip a package's name from a text that users read.
func TestErrorsNameNoPackage(t *testing.T) {
	sources, err := load()
	require.NoError(t, err)
	packages := []string{"collsim"}
	for _, s := range sources {
		packages = append(packages, path.Base(s.path))
	}
	for _, s := range sources {
		require.Empty(t, s.prefixed(packages))
	}
}

// TestPrefixesAreSeen: the rule sees both makers of errors, and sums of literals.
func TestPrefixesAreSeen(t *testing.T) {
	s := snippet(t, "collsim/p", `package p
import ("errors"; "fmt")
var a = errors.New("topology: no link")
var b = fmt.Errorf("topology: %d "+
	"links", 3)
var c = errors.New("segment: no number")
var d = fmt.Sprint("topology: a title")
`)
	require.Len(t, s.prefixed([]string{"topology", "p"}), 2)
}
