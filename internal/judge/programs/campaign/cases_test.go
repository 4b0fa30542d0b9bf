package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCases: what the campaign has found once is right, as the command does it.
func TestCases(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.toml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			o, err := public(string(text))
			require.NoError(t, err)
			r := result{acted: map[string]int{}}
			kind, why := o.compare(string(text), &r)
			require.Empty(t, kind, why)
			require.Equal(t, 1, r.compared)
		})
	}
}
