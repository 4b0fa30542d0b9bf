package shards_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/shards"
)

func TestParse(t *testing.T) {
	slurm := map[string]string{"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "5",
		"SLURM_ARRAY_TASK_COUNT": "4"}
	pod := map[string]string{"JOB_COMPLETION_INDEX": "0"}
	for _, c := range []struct {
		text string
		env  map[string]string
		want shards.Shard
		err  string
	}{
		{text: "2/16", want: shards.Shard{Number: 2, Of: 16}},
		{text: "1/1", want: shards.Shard{Number: 1, Of: 1}},
		{text: "auto", env: slurm, want: shards.Shard{Number: 3, Of: 4}},
		{text: "auto/8", env: slurm, want: shards.Shard{Number: 3, Of: 8}},
		{text: "auto/8", env: pod, want: shards.Shard{Number: 1, Of: 8}},
		{text: "auto", env: pod, err: "a shard of a number of them is expected"},
		{text: "auto/8", err: "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set"},
		{text: "auto/8", env: map[string]string{"SLURM_ARRAY_TASK_ID": "x"}, err: "whole numbers"},
		{text: "0/4", err: "as 2/16"}, {text: "5/4", err: "as 2/16"}, {text: "2", err: "as 2/16"},
		{text: "a/b", err: "as 2/16"}, {text: "", err: "as 2/16"}, {text: "1/-1", err: "as 2/16"},
	} {
		s, err := shards.Parse(c.text, func(name string) string { return c.env[name] })
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.text)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, s)
	}
}

// TestOf deals items out: each is in one shard, in the order of all, and costs are about the same.
func TestOf(t *testing.T) {
	items := make([]int, 100)
	for i := range items {
		items[i] = i
	}
	cost := func(i int) float64 { return float64(i * i) }
	for n := 1; n <= 12; n++ {
		seen, costs := map[int]bool{}, make([]float64, n)
		for k := 1; k <= n; k++ {
			last := -1
			for _, i := range shards.Of(shards.Shard{Number: k, Of: n}, items, cost) {
				require.False(t, seen[i])
				require.Greater(t, i, last)
				seen[i], last = true, i
				costs[k-1] += cost(i)
			}
		}
		require.Len(t, seen, len(items))
		for _, c := range costs {
			require.InEpsilon(t, costs[0], c, 0.35)
		}
	}
	require.Equal(t, items, shards.Of(shards.Shard{}, items, cost))
}

const whole = `{"scenario":"s.toml","digest":"d1","warnings":["w"],"result":{"id":"a"}}
{"scenario":"s.toml","digest":"d2","skipped":{"id":"b","why":"odd"}}
{"summary":[{"results":1}]}
`

func TestLines(t *testing.T) {
	l := shards.NewLines()
	require.NoError(t, l.Read("a.jsonl", strings.NewReader(whole+`{"scenario":"s.toml","dig`)))
	require.NoError(t, l.Read("again.jsonl", strings.NewReader(whole)))
	line, is := l.Result(shards.Point{ID: "a", Digest: "d1"})
	require.True(t, is)
	require.Equal(t, []string{"w"}, line.Warnings)
	require.True(t, strings.HasPrefix(whole, string(line.Text)))
	require.False(t, l.Has(shards.Point{ID: "a", Digest: "d2"}), "it meant something else")
	why, is := l.Skipped(shards.Point{ID: "b", Digest: "d2"})
	require.True(t, is)
	require.Equal(t, "odd", why)

	for text, want := range map[string]string{
		"{}\n":      "a result with its digest is expected",
		"no JSON\n": "a line of collsim FILE --jsonl is expected",
		"[1]\n":     "a line of collsim FILE --jsonl is expected",
		`{"digest":"d1","result":{"id":"a","time_ps":1}}` + "\n": "differs from a.jsonl:1, of the same",
	} {
		err := l.Read("x.jsonl", strings.NewReader(text))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "x.jsonl:1: ")
	}
}

func FuzzLines(f *testing.F) {
	f.Add(whole)
	f.Add("{\"digest\":\"d\",\"skipped\":{}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		l := shards.NewLines()
		if err := l.Read("x", strings.NewReader(text)); err != nil {
			require.Contains(t, err.Error(), "x:")
		}
	})
}

func ExampleOf() {
	sizes := []int{1, 1024, 64, 16}
	cost := func(n int) float64 { return float64(n) }
	fmt.Println(shards.Of(shards.Shard{Number: 1, Of: 2}, sizes, cost))
	// Output: [1024 16]
}
