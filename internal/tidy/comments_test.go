package tidy

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strconv"
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

// TestCommentsAreClear holds the vague phrases of a package to the number that it has left, which
// may only fall. A package that is not in testdata/vague.txt has none.
func TestCommentsAreClear(t *testing.T) {
	sources, err := load()
	require.NoError(t, err)
	left, now := vagueLeft(t), []string{}
	for _, s := range sources {
		found := s.vagueUses()
		if allowed := left[s.path]; len(found) > allowed {
			t.Errorf("%s: %d vague phrases in comments, not %d; some are\n%s", s.path, len(found),
				allowed, strings.Join(found[:min(len(found), 40)], "\n"))
		}
		if len(found) > 0 {
			now = append(now, fmt.Sprintf("%s %d\n", s.path, len(found)))
		}
	}
	if *update && !t.Failed() {
		slices.Sort(now)
		require.NoError(t, os.WriteFile(vagueFile, []byte(strings.Join(now, "")), 0o644))
	}
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

// vagueFile has a line for each package whose comments are not all clear: its path and how many
// vague phrases it may have.
const vagueFile = "testdata/vague.txt"

var update = flag.Bool("update", false, "write the numbers of vague phrases that are left")

// vagueLeft reads vagueFile.
func vagueLeft(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(vagueFile)
	require.NoError(t, err)
	left := map[string]int{}
	for line := range strings.Lines(string(text)) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		left[name], err = strconv.Atoi(count)
		require.NoError(t, err)
	}
	return left
}
