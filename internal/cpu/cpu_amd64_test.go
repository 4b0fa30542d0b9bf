package cpu

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVectorsAreUsedWhereTheyAre asks Linux what the processor has and the system saves.
func TestVectorsAreUsedWhereTheyAre(t *testing.T) {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip("no Linux to ask: ", err)
	}
	_, flags, found := strings.Cut(string(text), "\nflags")
	require.True(t, found)
	flags, _, _ = strings.Cut(flags, "\n")
	words := strings.Fields(flags)
	require.Equal(t, slices.Contains(words, "avx2") && slices.Contains(words, "f16c"), HasVectors())
}
