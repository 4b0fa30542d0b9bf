package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNotebook runs the Python of docs/notebook.md as one program, and holds the document to what
// it prints.
func TestNotebook(t *testing.T) {
	if err := exec.Command("python3", "-c", "import pandas").Run(); err != nil {
		t.Skip("left out: python3 with pandas: ", err)
	}
	path := filepath.Join(repository(t), "docs", "notebook.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	folder := t.TempDir()
	inPath(t)
	var code strings.Builder
	for _, m := range pythonBlock.FindAllStringSubmatch(string(text), -1) {
		code.WriteString(m[1] + "print('====')\n")
	}
	cmd := exec.Command("python3", "-c", code.String())
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	printed := strings.Split(string(out), "====\n")
	i := 0
	fresh := pythonBlock.ReplaceAllStringFunc(string(text), func(block string) string {
		m := pythonBlock.FindStringSubmatch(block)
		block = "```python\n" + m[1] + "```\n"
		if printed[i] != "" {
			block += "\n```text\n" + printed[i] + "```\n"
		}
		i++
		return block
	})
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(fresh), 0o644))
		return
	}
	require.Equal(t, string(text), fresh, "go test ./cmd/collsim -run Notebook -update rewrites it")
}

// pythonBlock is Python in a document, and what it prints.
var pythonBlock = regexp.MustCompile("(?s)```python\n(.*?)```\n(?:\n```text\n.*?```\n)?")
