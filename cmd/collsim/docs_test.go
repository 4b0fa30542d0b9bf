package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/run"
)

// repository is the way from here to the root of the repository.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	return root
}

var (
	// fileBlock is a file's text in a document: what its commands find in their directory.
	fileBlock = regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```\\w*\n(.*?)```\n")
	// consoleBlock is a command and what it prints.
	consoleBlock = regexp.MustCompile("(?s)```console\n" +
		"\\$ (?:go run ./cmd/)?collsim ([^\n]*)\n(.*?)```\n")
)

// costly are commands whose numbers take more than a quarter of a second: the short tier runs them
// without. Others there are programs with numbers, of which they are less.
var costly = map[string]bool{
	"choice.toml --pivot algorithm": true,
	"example:trace":                 true,
	"example:profile":               true,
	"example:profile-moe --quiet":   true,
	"example:module --quiet":        true,
	"example:mlp":                   true,
	"example:ring":                  true,
	"trees.toml":                    true,
	"example:ring --set topology.ranks=4 --timeline - --quiet":                                  true,
	"docs/published/gather-matmul.toml --set sweep.device.l2=[0,52428800] --pivot time --quiet": true,
	"example:mlp --set program.gradient=full --only lowering.pipeline=off":                      true,
}

// onEightNodes is a command whose table takes long: the short tier makes its first column.
const onEightNodes = "example:training-step --set sweep.topology.nodes=[1,8] " +
	"--set check.numbers=false --pivot time --quiet"

// narrower are other commands that take long, and what the short tier runs of them: the first
// columns of a table, one of two programs.
var narrower = map[string]string{
	"example:mlp --set check.numbers=false --set sweep.program.iterations=[1,2,4] " +
		"--pivot time --quiet": "example:mlp --set check.numbers=false " +
		"--set sweep.program.iterations=[1,2] --pivot time --quiet",
	"sum.toml --quiet": "sum.toml --quiet --only lowering.register=true --set check.numbers=false",
}

// repeated are costly commands that show another column of what the one before has simulated: the
// long tier runs them.
var repeated = map[string]bool{
	"example:training-step --set sweep.topology.nodes=[1,8] --set check.proof=false " +
		"--set check.numbers=false --pivot exposed_ps --quiet": true,
	"choice.toml --pivot busbw --across ranks --only topology.preset=ring": true,
}

// ofNumbers are the lines that say whether and how numbers were checked, and the commands that are
// next, which repeat that they were not.
var ofNumbers = regexp.MustCompile("(?m)^.*numbers.*\n|^#.* collsim .*\n")

// renewed says what a document that is not up to date wants.
const renewed = "go test ./cmd/collsim -update rewrites it"

// withoutNumbers holds what a costly command prints when it checks no numbers to what is shown.
func withoutNumbers(t *testing.T, command, shown string) {
	t.Helper()
	got := call(t, command+" --set check.numbers=false")
	got = strings.ReplaceAll(got, "N/A", "  0") // values that are wrong
	require.Equal(t, ofNumbers.ReplaceAllString(shown, ""), ofNumbers.ReplaceAllString(got, ""),
		renewed)
}

// onOneNode holds the first column of such a table to what is shown.
func onOneNode(t *testing.T, shown string) {
	t.Helper()
	got := strings.Fields(call(t, strings.Replace(onEightNodes, "[1,8]", "[1]", 1)))
	table := strings.Fields(shown)
	require.Equal(t, got[len(got)-1], table[len(table)-2], renewed)
}

// partOf holds each line that a narrower command prints to one of those that are shown, which
// begins with the same words and stands behind the one before; but for what was set for it.
func partOf(t *testing.T, command, shown string) {
	t.Helper()
	lines := strings.Split(shown, "\n")
	held := 0
	for line := range strings.Lines(ofNumbers.ReplaceAllString(call(t, command), "")) {
		if strings.HasPrefix(line, "# set ") {
			continue
		}
		begins := strings.Join(strings.Fields(line), " ") + " "
		at := slices.IndexFunc(lines, func(line string) bool {
			return strings.HasPrefix(strings.Join(strings.Fields(line), " ")+" ", begins)
		})
		require.GreaterOrEqual(t, at, 0, "%q is not shown there: %s\n%s", line, renewed, shown)
		lines = lines[at+1:]
		held++
	}
	require.Greater(t, held, 4, command)
}

// documents lists the documents that show what the command prints. Times of real hardware and of
// the machine that runs collsim are of their day: those of two documents are not repeated.
func documents(t *testing.T) []string {
	t.Helper()
	list := []string{"README.md"}
	all, err := filepath.Glob(filepath.Join(repository(t), "docs", "*.md"))
	require.NoError(t, err)
	for _, path := range all {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		name := "docs/" + filepath.Base(path)
		if consoleBlock.Match(text) && name != "docs/hardware.md" && name != "docs/performance.md" {
			list = append(list, name)
		}
	}
	return list
}

// TestDocuments runs every command that a document shows, and compares what it prints; while the
// race detector watches, the first one of each.
func TestDocuments(t *testing.T) {
	oracle, err := filepath.Glob("testdata/oracle/*.safetensors")
	require.NoError(t, err)
	measured := os.DirFS(filepath.Join(repository(t), "docs", "published"))
	arrays := map[string][]byte{} // that documents speak of, and cannot hold
	for _, name := range oracle {
		arrays[filepath.Base(name)], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	for _, name := range documents(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(repository(t), name)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			t.Chdir(t.TempDir())
			require.NoError(t, os.CopyFS(filepath.Join("docs", "published"), measured))
			for _, m := range fileBlock.FindAllSubmatch(text, -1) {
				require.NoError(t, os.WriteFile(string(m[1]), m[2], 0o644))
			}
			for file, content := range arrays {
				require.NoError(t, os.WriteFile(file, content, 0o644))
			}
			ran := 0
			regenerated := consoleBlock.ReplaceAllStringFunc(string(text), func(block string) string {
				ran++
				m := consoleBlock.FindStringSubmatch(block)
				command := m[1]
				short := !tier.Long && !*update
				if short && repeated[command] {
					return block // the long tier runs it
				}
				if tier.Race && ran > 1 {
					return block // it starts no other goroutines than the first one
				}
				if short && command == onEightNodes {
					onOneNode(t, m[2])
					return block
				} else if short && narrower[command] != "" {
					partOf(t, narrower[command], m[2])
					return block
				} else if short && costly[command] {
					withoutNumbers(t, command, m[2])
					return block
				}
				first, _, _ := strings.Cut(block[len("```console\n"):], "\n")
				return "```console\n" + first + "\n" + call(t, command) + "```\n"
			})
			require.NotZero(t, ran)
			require.Equal(t, strings.Count(string(text), "```console"), ran, "all blocks are run")
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(regenerated), 0o644))
				return
			}
			require.Equal(t, string(text), regenerated, renewed)
		})
	}
}

// call runs a command line and returns what appears on a terminal.
func call(t *testing.T, line string) string {
	t.Helper()
	var out, err bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: &err}
	a.main(context.Background(), shellWords(line))
	return err.String() + out.String()
}

// shellWords splits a line as a shell does: at blanks, but for those in single or double quotes,
// which go.
func shellWords(line string) (words []string) {
	var word strings.Builder
	quote, within := rune(0), false
	for _, r := range line + " " {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote, within = r, true
		case r == quote:
			quote = 0
		case quote == 0 && r == ' ':
			if within {
				words = append(words, word.String())
			}
			word.Reset()
			within = false
		default:
			word.WriteRune(r)
			within = true
		}
	}
	return words
}

// TestShellWords: documents show commands as one would type them.
func TestShellWords(t *testing.T) {
	require.Equal(t, []string{"a", `sweep."x.y"=["p q",1]`, "b=c d", "", "e"},
		shellWords(`a  'sweep."x.y"=["p q",1]' b="c d" '' e`))
}

// TestPictures draws the documents' pictures again.
func TestPictures(t *testing.T) {
	for name, command := range map[string]string{
		"machine.svg": "example:machine --topology machine.svg --figure slide --quiet",
		"ring.svg":    "example:ring --timeline ring.svg --quiet",
		"compare.svg": "example:compare --curves compare.svg --quiet",
		"facets.svg": "example:compare --curves facets.svg --set sweep.topology.ranks=[4,8,16] " +
			`--set 'sweep.topology.latency=["500ns","5us"]' --quiet`,
		"winners.svg": `map example:compare --set 'collective.algorithm=["ring",` +
			`"recursive-doubling","double-binary-tree"]' --set check.numbers=false --set ` +
			`'collective.bytes={from="4 KiB",to="16 MiB",factor=8}' --plot winners.svg --quiet ` +
			`--set sweep.topology.ranks=[8,16,32,64,128]`,
		"nodes.svg": "example:nodes --only name=tensor --set check.numbers=false " +
			"--timeline nodes.svg --quiet",
		"mlp-off.svg": "example:mlp --only lowering.pipeline=off --set check.numbers=false " +
			"--timeline mlp-{lowering.pipeline}.svg --quiet",
		"mlp-repaired.svg": "example:mlp --only lowering.pipeline=repaired " +
			"--set check.numbers=false --timeline mlp-{lowering.pipeline}.svg --quiet",
		"tree.svg": "example:ring --set topology.ranks=512 --set topology.preset=switch " +
			"--set collective.algorithm=double-binary-tree(segment=32MiB) --set check.numbers=false " +
			"--timeline tree.svg --quiet",
	} {
		if name == "facets.svg" && !tier.Long && !*update {
			continue // 30 points for each of 6 facets; package plots draws smaller ones
		}
		t.Run(name, func(t *testing.T) {
			want := filepath.Join(repository(t), "docs", name)
			t.Chdir(t.TempDir())
			unchecked := name == "ring.svg" && !tier.Long && !*update // it has many numbers
			if unchecked {
				command += " --set check.numbers=false"
			}
			call(t, command)
			got, err := os.ReadFile(name)
			require.NoError(t, err)
			if unchecked {
				got = bytes.Replace(got, []byte("ring, check.numbers=false"), []byte("ring"), 1)
			}
			if *update {
				require.NoError(t, os.WriteFile(want, got, 0o644))
				return
			}
			old, err := os.ReadFile(want)
			require.NoError(t, err)
			require.Equal(t, string(old), string(got), "go test ./cmd/collsim -update draws it anew")
		})
	}
}

// TestLibraryProgram holds the program of docs/library.md to the example that is compiled and run.
func TestLibraryProgram(t *testing.T) {
	library, err := os.ReadFile("../../docs/library.md")
	require.NoError(t, err)
	example, err := os.ReadFile("../../example_test.go")
	require.NoError(t, err)
	_, program, ok := strings.Cut(string(library), "```go\n")
	require.True(t, ok)
	program, _, _ = strings.Cut(program, "```")
	indented := "\t" + strings.ReplaceAll(strings.TrimSpace(program), "\n", "\n\t")
	require.Contains(t, string(example), indented)
	require.LessOrEqual(t, strings.Count(program, "\n"), 15)
}

// TestScheduleDocument holds the example of the text form to what the algorithm makes.
func TestScheduleDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/schedule.md")
	require.NoError(t, err)
	s, err := run.Load("example:ring", nil, run.LoadOptions{
		Set: []string{"collective.bytes=4 KiB"}})
	require.NoError(t, err)
	ring, err := s.Build(s.Points[0])
	require.NoError(t, err)
	require.Contains(t, string(text), "```text\n"+ring.String()+"```")
}
