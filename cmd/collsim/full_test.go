//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

// smallDisk is a file system of 64 KiB. A test that may not mount one is left out.
func smallDisk(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("left out: a small file system cannot be mounted: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// fill leaves so many pages of a file system.
func fill(t *testing.T, dir string, left uint64) {
	t.Helper()
	var s syscall.Statfs_t
	require.NoError(t, syscall.Statfs(dir, &s))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "filling"),
		make([]byte, (s.Bfree-left)*uint64(s.Bsize)), 0o666))
}

// TestFullDisk: a disk that is full before an output is complete is an error, whatever the output
// is. Nothing is under its name but what was there before, and nothing is left beside it. In the
// short tier each output has a file before it or has none, by turns.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	const scenario = `[topology]
preset = "switch"
ranks = 8
bandwidth = "100 Gbit/s"
latency = "500 ns"
[collective]
kind = "all_reduce"
algorithm = "ring"
bytes = { from = "1 KiB", to = "64 KiB", factor = 2 }
`
	for i, c := range []struct {
		name, args string
		files      []string // that do not fit
	}{
		{"a table", "--csv out.csv --links links.csv", []string{"links.csv"}},
		{"JSON", "--set output.json=out.json", []string{"out.json"}},
		{"pictures", "--timeline {bytes}.svg --quiet", []string{"1024.svg"}},
		{"pictures of points", "--timeline {bytes}.png --quiet --only bytes=32768,bytes=65536",
			[]string{"65536.png"}},
		{"curves", "--curves curves.pdf", []string{"curves.pdf"}},
		{"a trace", "--trace {bytes}.pftrace", []string{"1024.pftrace"}},
		{"arrays", "--set collective.output={bytes}.npz", []string{"32768.npz", "65536.npz"}},
		{"arrays of ranks", "--set collective.output={bytes}-{rank}.npy", []string{"65536-0.npy"}},
		{"tensors", "--set collective.output={bytes}.safetensors", []string{"65536.safetensors"}},
		{"a compact table", "--pivot time --pivot-to out.md --links links.csv", []string{"links.csv"}},
	} {
		for _, there := range tier.Of([]bool{i%2 == 1}, []bool{false, true}) {
			dir := smallDisk(t)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "s.toml"), []byte(scenario), 0o666))
			args := append([]string{"s.toml", "--overwrite"}, strings.Fields(c.args)...)
			if there {
				for _, file := range c.files {
					require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("before"), 0o666))
				}
			}
			fill(t, dir, 2)
			cmd := command(t, args...)
			cmd.Dir = dir
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			var exit *exec.ExitError
			require.ErrorAs(t, cmd.Run(), &exit, "%s: %s", c.name, errs.String())
			require.Equal(t, exitLost, exit.ExitCode(), "%s: %s", c.name, errs.String())
			require.Contains(t, errs.String(), "cannot be written: no space left on device", c.name)
			require.Contains(t, out.String(), "# proof    all ", "%s: the table is printed", c.name)
			for _, file := range c.files {
				text, err := os.ReadFile(filepath.Join(dir, file))
				if !there {
					require.ErrorIs(t, err, os.ErrNotExist, "%s: %s", c.name, file)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, "before", string(text), "%s: %s is as it was", c.name, file)
			}
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			for _, e := range entries {
				require.False(t, strings.HasPrefix(e.Name(), "."), "%s: %s is left", c.name, e.Name())
			}
		}
	}
}

// TestFullStandardOutput: a table that goes to a file on a disk that is full is an error, in each
// form. The shell has made the file: what is in it is the beginning of what was to be there.
func TestFullStandardOutput(t *testing.T) {
	for _, form := range []string{"", "--json", "--jsonl", "--csv -", "--links -"} {
		dir := smallDisk(t)
		fill(t, dir, 1)
		file, err := os.Create(filepath.Join(dir, "table.txt"))
		require.NoError(t, err)
		cmd := command(t, append(strings.Fields("example:compare --set check.numbers=false"),
			strings.Fields(form)...)...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = file, &errs
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Run(), &exit, form)
		require.NoError(t, file.Close())
		require.Equal(t, exitLost, exit.ExitCode(), "%s: %s", form, errs.String())
		require.Contains(t, errs.String(), "cannot be written: no space left on device", form)
		info, err := os.Stat(file.Name())
		require.NoError(t, err)
		require.Equal(t, int64(4096), info.Size(), form)
	}
}
