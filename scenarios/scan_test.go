package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestScan prints every value of a document with the line that errors would name.
func TestScan(t *testing.T) {
	datadriven.RunTest(t, "testdata/scan", func(t *testing.T, c *datadriven.TestData) string {
		src := strings.NewReplacer("<CRLF>", "\r", "<TAB>", "\t").Replace(c.Input + "\n")
		root, s := scan(src)
		require.Zero(t, s.tooDeep)
		var decoded map[string]any
		require.NoError(t, decode(src, &decoded), "%s", c.Pos)
		require.True(t, root.attach(decoded), "%s: scanner and library disagree", c.Pos)
		var b strings.Builder
		printNode(&b, root, "")
		return b.String()
	})
}

func printNode(b *strings.Builder, n *node, at string) {
	for i, c := range n.items {
		path := join(at, c.name)
		if n.shape == array {
			path = numbered(at, i)
		}
		if c.shape == scalar {
			value := fmt.Sprint(c.value)
			if s, ok := c.value.(string); ok {
				value = fmt.Sprintf("%q", s)
			}
			fmt.Fprintf(b, "%d: %s = %s  (%s)\n", c.line, path, shown(c.raw), value)
			continue
		}
		fmt.Fprintf(b, "%d: %s %s\n", c.line, path, map[shape]string{array: "[ ]", table: "{ }"}[c.shape])
		printNode(b, c, path)
	}
}

// corpus returns all scenarios of the tests and the examples.
func corpus(t testing.TB) []string {
	var texts []string
	for _, name := range Examples() {
		text, err := Example(name)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	files, err := filepath.Glob("testdata/errors/*")
	require.NoError(t, err)
	for _, file := range append(files, "testdata/scan", "testdata/points") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, c := range strings.Split(string(text), "\nload")[1:] {
			_, body, _ := strings.Cut(c, "\n")
			body, _, _ = strings.Cut(body, "\n----")
			texts = append(texts, body)
		}
	}
	return texts
}

// TestShift is the law of lines: n lines of comment in front move every error by n lines and change
// nothing else.
func TestShift(t *testing.T) {
	for _, text := range corpus(t) {
		for _, n := range []int{1, 7} {
			_, before := load("s.toml", []byte(text), testOptions())
			_, after := load("s.toml", []byte(strings.Repeat("# =[\"\n", n)+text), testOptions())
			if before == nil {
				require.NoError(t, after)
				continue
			}
			want, got := before.(*Errors), after.(*Errors)
			require.Len(t, got.List, len(want.List), text)
			for i, e := range want.List {
				moved := *e
				if e.Line > 0 {
					moved.Line += n
				}
				if at := strings.LastIndex(e.Hint, "first given on line "); at >= 0 {
					moved.Hint = got.List[i].Hint
				}
				require.Equal(t, moved, *got.List[i], text)
			}
		}
	}
}

// TestNotText: what is no text, or too much of it, is refused before anything reads it.
func TestNotText(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"binary", "\x7fELF\x02\x01\x01\x00", "s.toml: not a text file; TOML in UTF-8 is expected"},
		{"UTF-16", "\xff\xfen\x00a\x00", "s.toml: not a text file; TOML in UTF-8 is expected"},
		{"Latin-1", "name = \"na\xefve\"", "s.toml: not a text file; TOML in UTF-8 is expected"},
		{"huge", strings.Repeat("#", 16<<20+1),
			"s.toml: 16777217 bytes are no scenario; at most 16 MiB of TOML is expected"},
		{"deep keys", strings.Repeat("a.", 500_000) + "a = 1",
			"s.toml:1: nested more than 16 deep; no key of a scenario is"},
		{"deep tables", strings.Repeat("x = {", 1) + strings.Repeat("a = {", 100_000),
			"s.toml:1: nested more than 16 deep; no key of a scenario is"},
	} {
		_, err := load("s.toml", []byte(c.text), testOptions())
		require.Error(t, err, c.name)
		requirePlain(t, err)
		first, _, _ := strings.Cut(err.Error(), "\n")
		require.Equal(t, c.want, first, c.name)
	}
}

// FuzzLoad: no input makes Load panic, and every error is fit for a person. Lines "#! --set x" and
// "#! --only x" are flags.
func FuzzLoad(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o := testOptions()
		o.Set, o.Only = flags(text)
		s, err := load("s.toml", []byte(text), o)
		if err != nil {
			requirePlain(t, err)
			require.NotContains(t, err.Error(), "not understood here", "scanner and library disagree")
			return
		}
		require.NotZero(t, len(s.Points)+len(s.Programs))
		ids := map[string]bool{}
		for _, p := range s.Points {
			for _, spec := range p.specs() {
				require.NoError(t, spec.Validate())
			}
			require.NoError(t, p.Device.Validate())
			require.False(t, ids[p.ID], p.ID)
			ids[p.ID] = true
		}
	})
}

// FuzzScan: the scanner sees the structure that the library sees, in every document that the
// library takes.
func FuzzScan(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, src string) {
		root, s := scan(src)
		if s.tooDeep > 0 || len(s.repeats) > 0 || len(src) > maxFile || strings.HasPrefix(src, "\uFEFF") {
			return
		}
		var decoded map[string]any
		if strings.ContainsRune(src, 0) || strings.ToValidUTF8(src, "") != src ||
			decode(src, &decoded) != nil {
			return
		}
		require.True(t, root.attach(decoded))
	})
}
