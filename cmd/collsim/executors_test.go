package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// executorsBlock is what stands between the comments.
var executorsBlock = regexp.MustCompile(
	`(?s)(<!-- Written from the table in cmd/collsim, .*?-->\n).*?(<!-- end -->\n)`)

// TestExecutorsDocument holds docs/hardware.md to the table of executors.
func TestExecutorsDocument(t *testing.T) {
	var b strings.Builder
	for _, row := range executors(nil) {
		fmt.Fprintf(&b, "* `%s`: %s", row.Name, row.About)
		if len(row.Keys) > 0 {
			fmt.Fprintf(&b, ". Keys of its own: `%s`", strings.Join(row.Keys, "`, `"))
		}
		b.WriteString(".\n")
	}
	path := filepath.Join(repository(t), "docs", "hardware.md")
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	want := executorsBlock.ReplaceAllString(string(have), "${1}"+b.String()+"${2}")
	require.Contains(t, want, b.String())
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(have), "go test ./cmd/collsim -run Executors -update writes it")
}

// TestExecutorsOfScenarios: hardware.executor takes every row of the table, and no list besides.
func TestExecutorsOfScenarios(t *testing.T) {
	require.Equal(t, executorNames()[1:], new(app).reading(run.LoadOptions{}).Executors)
}
