package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// base is the scenario that mistakes are made in.
const base = `name = "base"
[topology]
preset = "switch"
ranks = 8
bandwidth = "400 Gbit/s"
latency = "800 ns"
[[collective]]
kind = "all_reduce"
algorithm = "ring"
bytes = "1 MiB"
`

// TestMistakes: what people write wrong, in a scenario (its lines take the place of those of base
// that have the same key, or follow them) or on the command line, is told with its place, what was
// expected, and mostly what to do; nothing is printed on standard output, and the exit code is 2.
func TestMistakes(t *testing.T) {
	file, err := filepath.Abs("testdata/mistakes.txt")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"base.toml": base, "smi.txt": smi, "nccl.log": log,
		"topo.xml":     "<system version=\"1\">\n  <cpu numaid=\"0\"/>\n</system>\n",
		"hosts":        "# two nodes\nnode1 slots=8\nnode2 slots=8\n",
		"platform.xml": platform, "allpairs.xml": "<algo/>\n",
		"graph.xml": "<graphs version=\"1\">\n  <graph id=\"0\"/>\n</graphs>\n"} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	require.NoError(t, os.Mkdir("folder", 0o777))
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		args := []string{"wrong.toml"}
		if d.Cmd == "cli" {
			args = strings.Fields(strings.ReplaceAll(d.Input, "\n", " "))
		} else {
			require.Equal(t, "toml", d.Cmd)
			require.NoError(t, os.WriteFile(args[0], []byte(mistaken(d.Input)), 0o666))
		}
		code, out, said := runCommand(args...)
		require.Equal(t, exitUsage, code, "%s\n%s", d.Input, said)
		require.Empty(t, out)
		return said
	})
}

// mistaken is base with other lines.
func mistaken(lines string) string {
	text := strings.SplitAfter(base, "\n")
	for line := range strings.SplitSeq(lines, "\n") {
		key, _, _ := strings.Cut(line, "=")
		at := -1
		for i := range text {
			if have, _, is := strings.Cut(text[i], "="); is && have == key {
				at = i
			}
		}
		if old, fresh, is := strings.Cut(line, " -> "); is { // another line instead of one
			for i := range text {
				if text[i] == old+"\n" {
					text[i] = fresh + "\n"
				}
			}
			continue
		}
		if at >= 0 {
			text[at] = line + "\n"
			continue
		}
		text = append(text, line+"\n")
	}
	return strings.Join(text, "")
}

const smi = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV12\t0-23\t0\n"

const platform = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM " +
	"\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\"/>\n"

const log = "node1:1:1 [0] NCCL INFO Channel 00/02 :    0   1   2   3\n"
