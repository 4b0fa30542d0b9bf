package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestManPages: every command that is listed has a page, and groff, where it is, warns of nothing.
func TestManPages(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man1")
	code, out, said := runCommand("man", folder)
	require.Equal(t, exitOK, code, said)
	require.Empty(t, out)
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	require.NoError(t, err)
	root := (&app{}).root()
	listed := 2 // collsim itself, and help
	for _, c := range root.Commands() {
		if !c.Hidden {
			listed++
		}
	}
	require.Len(t, pages, listed)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Contains(t, string(text), ".SH SYNOPSIS")
		if groff, err := exec.LookPath("groff"); err == nil {
			warned, err := exec.Command(groff, "-man", "-Tutf8", "-Kutf8", "-z", "-ww", page).
				CombinedOutput()
			require.NoError(t, err)
			require.Empty(t, string(warned), page)
		}
	}
}

// TestManText escapes what would be a request or an escape.
func TestManText(t *testing.T) {
	require.Equal(t, "\\&.png or \\-\\-x\n\\&'a\\eb'", roff(".png or --x\n'a\\b'"))
}

// TestCompletion: flags complete what they take, from the program's own lists.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"x.toml", "--set", "topology.ba"}, []string{"topology.bandwidth="}},
		{[]string{"x.toml", "--set", "topology.routing="}, []string{"topology.routing=ecmp"}},
		{[]string{"x.toml", "--set", "collective.kind=all_r"}, []string{"collective.kind=all_reduce"}},
		{[]string{"check", "x.toml", "--set", "dev"}, []string{"device.preset="}},
		{[]string{"x.toml", "--only", ""}, []string{"algorithm=", "bytes=", "kind="}},
		{[]string{"x.toml", "--only", "kind="}, []string{"kind=all_gather"}},
		{[]string{"x.toml", "--figure", ""}, []string{"page", "column", "slide"}},
		{[]string{"list", "algorithms", "--kind", ""}, []string{"all_reduce"}},
		{[]string{"init", ""}, []string{"all_reduce"}},
	} {
		code, out, said := runCommand(append([]string{"__completeNoDesc"}, c.args...)...)
		require.Equal(t, exitOK, code, said)
		for _, want := range c.want {
			require.Contains(t, "\n"+out, "\n"+want+"\n", c.args)
		}
	}
}
