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
