package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// TestCommandDocument holds docs/cli.md to the commands and flags that there are.
func TestCommandDocument(t *testing.T) {
	path := filepath.Join(repository(t), "docs", "cli.md")
	want := commandDocument((&app{}).root())
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(have), want, "go test ./cmd/collsim -update writes it")
}

// commandDocument describes a command and those below it.
func commandDocument(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# The command\n\nGenerated from the program; do not edit.\n\n```text\n" + helpText +
		"```\n")
	for _, c := range root.Commands() {
		if c.Name() == "completion" || c.Hidden {
			continue // cobra's; for who packs it
		}
		fmt.Fprintf(&b, "\n## `collsim %s`\n\n", c.Name())
		text := c.Long
		if text == "" {
			text = strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
		}
		fmt.Fprintf(&b, "%s\n\n```text\n%s\n```\n", text, c.UseLine())
		if flags := c.LocalFlags().FlagUsagesWrapped(90); flags != "" {
			fmt.Fprintf(&b, "\n```text\n%s```\n", flags)
		}
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```sh\n%s\n```\n", strings.ReplaceAll("\n"+c.Example, "\n  ", "\n")[1:])
		}
	}
	return b.String()
}
