package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/fx"
	"collsim/formats/hlo"
)

// TestPyTorch runs the Python of docs/pytorch.md: the graph that torch makes now has the operations
// of the one in the document, and the backward pass is read as well.
func TestPyTorch(t *testing.T) {
	if err := exec.Command("python3", "-c", "import torch").Run(); err != nil {
		t.Skip("left out: python3 with torch: ", err)
	}
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "pytorch.md"))
	require.NoError(t, err)
	files := map[string]string{}
	for _, m := range fileBlock.FindAllStringSubmatch(string(text), -1) {
		files[m[1]] = m[2]
	}
	folder := t.TempDir()
	script := filepath.Join(folder, "layer.py")
	require.NoError(t, os.WriteFile(script, []byte(files["layer.py"]), 0o644))
	cmd := exec.Command("python3", script)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	read := func(graph []byte) *hlo.Program {
		o := fx.Options{Ranks: 8}
		if m := regexp.MustCompile(`'sum', '(\d+)'`).FindSubmatch(graph); m != nil {
			o.Groups = []fx.Group{{Name: string(m[1]), Teams: [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}}}
		}
		p, err := fx.Read("graph.txt", bytes.NewReader(graph), o)
		require.NoError(t, err, "%s", graph)
		for i := range p.Ops {
			p.Ops[i].Line = 0 // the document is without comments
		}
		return p
	}
	forward, err := os.ReadFile(filepath.Join(folder, "forward.txt"))
	require.NoError(t, err)
	require.Equal(t, read([]byte(files["forward.txt"])).Ops, read(forward).Ops)
	backward, err := os.ReadFile(filepath.Join(folder, "backward.txt"))
	require.NoError(t, err)
	require.Len(t, read(backward).Ops, 5) // four products, and the gradient of gelu
}
