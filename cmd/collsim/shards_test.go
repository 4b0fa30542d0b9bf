package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sweepOfMany = `name = "a sweep"
[topology]
preset = "switch"
ranks = 8
bandwidth = "100 Gbit/s"
latency = "1 us"
[collective]
kind = "all_reduce"
algorithm = "all"
bytes = ["100 B", "64 KiB"]
gradient = "full"
[sweep]
"topology.ranks" = [4, 5]
`

// printed returns what a command prints, which ends well.
func printed(t *testing.T, args ...string) []byte {
	var out bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: os.Stderr}
	require.Equal(t, exitOK, a.main(context.Background(), args), args)
	return out.Bytes()
}

// TestShards puts the shards of a sweep together: the bytes are those of a run of all, whatever the
// number of shards, and where each was killed.
func TestShards(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("s.toml", []byte(sweepOfMany), 0o644))
	whole := printed(t, "s.toml", "--jsonl", "--quiet")
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 40} { // of 40 some have no point
		args := []string{"merge", "s.toml"}
		for k := 1; k <= n; k++ {
			part, more := fmt.Sprintf("%d-%d.jsonl", n, k), fmt.Sprintf("%d-%d-more.jsonl", n, k)
			shard := []string{"s.toml", "--jsonl", "--quiet", "--shard", fmt.Sprintf("%d/%d", k, n)}
			text := printed(t, shard...)
			killed := text[:rng.IntN(len(text)+1)]
			require.NoError(t, os.WriteFile(part, killed, 0o644))
			rest := printed(t, append(shard, "--resume", part)...)
			require.NoError(t, os.WriteFile(more, rest, 0o644))
			args = append(args, part, more)
		}
		require.Equal(t, string(whole), string(printed(t, args...)), n)
	}
}

// TestStreamedCSV: a run that keeps no results writes the same CSV, forward and backward passes in
// their order, and the same summary; its exit code knows of checks that have failed.
func TestStreamedCSV(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("s.toml", []byte(sweepOfMany), 0o644))
	lines := printed(t, "s.toml", "--jsonl", "--quiet", "--csv", "streamed.csv")
	require.Equal(t, string(printed(t, "s.toml", "--jsonl", "--quiet")), string(lines))
	printed(t, "s.toml", "--quiet", "--csv", "whole.csv")
	whole, err := os.ReadFile("whole.csv")
	require.NoError(t, err)
	streamed, err := os.ReadFile("streamed.csv")
	require.NoError(t, err)
	require.Equal(t, string(whole), string(streamed))
	require.Greater(t, strings.Count(string(whole), "\n"), 20)

	const wrong = `schedule exchange
collective all_reduce float32 sum
ranks 2
count 1024
rank 0
  lane 0
    send in to 1 @0
    recvReduceCopy from 1, in into out @0
rank 1
  lane 0
    send in to 0 @0
    recv from 0 into out @0
`
	require.NoError(t, os.WriteFile("wrong.schedule", []byte(wrong), 0o644))
	require.NoError(t, os.WriteFile("w.toml", []byte(`[topology]
preset = "switch"
ranks = 2
bandwidth = "100 Gbit/s"
latency = "1 us"
[collective]
kind = "all_reduce"
algorithm = "file:wrong.schedule"
bytes = "4 KiB"
`), 0o644))
	var out bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: &bytes.Buffer{}}
	code := a.main(context.Background(), []string{"w.toml", "--jsonl", "--csv", "w.csv", "--quiet"})
	require.Equal(t, exitFailed, code)
	require.FileExists(t, "w.csv")
	code = (&app{in: strings.NewReader(""), out: &out, err: &bytes.Buffer{}}).main(
		context.Background(), []string{"s.toml", "--jsonl", "--csv", "no/such.csv", "--quiet"})
	require.Equal(t, exitUsage, code)
}
