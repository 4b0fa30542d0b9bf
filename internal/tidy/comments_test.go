package tidy

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vague lists the phrases that comments do without, each with what to write instead. A reader who
// knows the field and not this project stumbled over them.
func vague() []phrase {
	return []phrase{
		{regexp.MustCompile(`\b(told|tells?|telling)\b`), "report, say, distinguish"},
		{regexp.MustCompile(`\b[Pp]lay(s|ed|ing)?\b`), "simulate (sim), execute (hw)"},
		{regexp.MustCompile(`\b[Ww]hoever\b`), "the caller, the reader, the rank that"},
		{regexp.MustCompile(`\bof which\b`), "a sentence of its own"},
		{regexp.MustCompile(`\blies?\b`), "is stored at, is below, is between"},
		{regexp.MustCompile(`^\w+ (is|are) (what|how|whether|where|when|that)\b`), "a verb first"},
	}
}

// phrase is a pattern and its remedy.
type phrase struct {
	pattern *regexp.Regexp
	instead string
}

// vagueUses lists the vague phrases in the comments of a package without tests, and the functions
// whose comment begins with what they are.
func (s *source) vagueUses() (found []string) {
	list := vague()
	for _, file := range s.files {
		for _, group := range file.Comments {
			text := strings.ReplaceAll(group.Text(), "\n", " ")
			for _, p := range list {
				for _, use := range p.pattern.FindAllString(text, -1) {
					found = append(found, s.at(group, "%q: rather %s", use, p.instead).String())
				}
			}
		}
	}
	noun := regexp.MustCompile(`^\w+ (is|are) `)
	s.each(func(n ast.Node) {
		if f, ok := n.(*ast.FuncDecl); ok && f.Doc != nil && noun.MatchString(f.Doc.Text()) {
			found = append(found, s.at(f, "%s: a verb first", f.Name.Name).String())
		}
	})
	return found
}

// TestCommentsAreClear holds the vague phrases of each package to the number that it has left in
// testdata/vague.txt, which may only fall. A package that is not listed has none.
func TestCommentsAreClear(t *testing.T) {
	sources, err := load()
	require.NoError(t, err)
	found := map[string][]string{}
	for _, s := range sources {
		found[s.path] = s.vagueUses()
	}
	holdTo(t, "testdata/vague.txt", 0, found)
}

// TestVagueIsSeen: each phrase is found in a comment that has it.
func TestVagueIsSeen(t *testing.T) {
	for _, text := range []string{"what was told", "it plays", "Whoever reads", "ten, of which two",
		"it lies below", "Cost is what it costs"} {
		require.True(t, slices.ContainsFunc(vague(), func(p phrase) bool {
			return p.pattern.MatchString(text)
		}), text)
	}
}
