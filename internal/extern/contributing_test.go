package extern

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestContributing: what CONTRIBUTING.md tells a newcomer to write is what is tested here.
func TestContributing(t *testing.T) {
	code, err := os.ReadFile("extern.go")
	require.NoError(t, err)
	_, lane, found := strings.Cut(string(code), "\t\tLane: func(l *algos.Lane) {\n")
	require.True(t, found)
	lane, _, found = strings.Cut(lane, "\t\tCost:")
	require.True(t, found)
	document, err := os.ReadFile("../../CONTRIBUTING.md")
	require.NoError(t, err)
	indented := "\n" + lane
	require.Contains(t, string(document), strings.ReplaceAll(indented, "\n\t", "\n"))
}

// TestLibraryModule: the lines that docs/library.md wants in a program's go.mod are those of this
// module, but for the path of the repository; and the import line is that of its programs.
func TestLibraryModule(t *testing.T) {
	module, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	library, err := os.ReadFile("../../docs/library.md")
	require.NoError(t, err)
	_, lines, found := strings.Cut(string(library), "```text\nrequire collsim ")
	require.True(t, found)
	version, rest, _ := strings.Cut(lines, "\n")
	require.Contains(t, string(module), "\tcollsim "+version+"\n")
	require.True(t, strings.HasPrefix(rest, "\nreplace collsim => ../collsim\n```\n"), rest)
	require.Contains(t, string(module), "\nreplace collsim => ../..\n")
	program, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	require.Contains(t, string(library), "`import \"collsim\"`")
	require.Contains(t, string(program), "\t\"collsim\"\n")
}
