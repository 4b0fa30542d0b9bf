package report

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/run"
	"collsim/scenarios"
)

// streamed runs scenarios with a stream, and returns what it has printed after each result, and in
// the end.
func streamed(t *testing.T, list ...*run.Scenario) (after []string, text string,
	reports []*run.Report) {
	t.Helper()
	var b strings.Builder
	s := NewStream(func(text string) {
		require.NotEmpty(t, text)
		b.WriteString(text)
	})
	for _, scenario := range list {
		s.Begin(scenario)
		r, err := scenario.Run(context.Background(), run.RunOptions{Done: func(r *run.Result) {
			s.Take(r)
			after = append(after, b.String())
		}})
		require.NoError(t, err)
		s.End(r)
		reports = append(reports, r)
	}
	s.Close()
	return after, b.String(), reports
}

// TestStream: what is printed piece by piece is the table, byte for byte: of every example, of what
// an algorithm stands for, of backward passes, of several scenarios and of none of the points.
func TestStream(t *testing.T) {
	lists := map[string][]*run.Scenario{
		"all": {load(t, "s.toml", strings.Replace(small, `"ring"`, `["all", "chain(segment=1KiB)"]`, 1),
			"collective.kind=broadcast", `collective.bytes=["1 KiB", "64 KiB"]`)},
		"fastest": {load(t, "s.toml", strings.Replace(small, `"ring"`, `["fastest", "ring"]`, 1),
			`collective.bytes=["1 KiB", "1 MiB"]`)},
		"library": {load(t, "s.toml", strings.Replace(small, `"ring"`, `"openmpi:tuned"`, 1),
			`collective.bytes=["8 B", "1 KiB", "1 MiB", "16 B"]`)},
		"skipped": {load(t, "s.toml", strings.Replace(small, `"ring"`, `"all"`, 1)+
			"[sweep]\n\"topology.ranks\" = [6, 8]\n")},
		"gradient": {load(t, "s.toml", small+"gradient = \"full\"\n[sweep]\n"+
			"\"topology.ranks\" = [4, 6]\n\"collective.kind\" = [\"all_gather\", \"all_reduce\"]\n")},
		"sizes outermost": {load(t, "s.toml", strings.Replace(small, `"ring"`, `["ring", "one-shot"]`,
			1)+"[sweep]\n\"collective.bytes\" = [\"1 KiB\", \"2 KiB\"]\nseed = [1, 2]\n")},
		"several": {load(t, "a.toml", small), load(t, "b.toml", small)},
	}
	for i, name := range scenarios.Examples() {
		if name == "imported" || tier.Of(i%3 > 0, false) { // it needs its files; a third of them
			continue
		}
		set := []string{"check.numbers=false", "check.proof=false"}
		if strings.HasPrefix(name, "torch-") { // which is about its numbers
			set = nil
		}
		s, err := run.Load("example:"+name, nil, run.LoadOptions{Set: append(set, Smaller(name)...)})
		require.NoError(t, err)
		lists[name] = []*run.Scenario{s}
	}
	for name, list := range lists {
		t.Run(name, func(t *testing.T) {
			after, text, reports := streamed(t, list...)
			require.Equal(t, Table(reports...), text)
			for _, part := range after {
				require.True(t, strings.HasPrefix(text, part))
			}
		})
	}
}

// TestStreamInTime: a group is there with its last result, whatever is still to come.
func TestStreamInTime(t *testing.T) {
	text := strings.Replace(small, `"ring"`, `["ring", "one-shot"]`, 1)
	groups := func(text string) int { return strings.Count(text, "# all_reduce ") }
	after, text, _ := streamed(t, load(t, "s.toml", text+"[sweep]\n\"topology.ranks\" = [4, 6]\n",
		`collective.bytes=["1 KiB", "2 KiB", "4 KiB"]`))
	require.Len(t, after, 12)
	for i, text := range after {
		require.Equal(t, (i+1)/3, groups(text), "after result %d", i)
		require.Contains(t, text, "# 4 ranks on a switch", "what is understood is said at once")
		require.Equal(t, (i+1)/6, strings.Count(text, "# time (us), * is the best"))
		require.Equal(t, i >= 6, strings.Contains(text, "# 6 ranks on a switch"))
	}
	require.Equal(t, 4, groups(text))
	require.Contains(t, text, "# proof    all 12: ")
}

// TestStreamLeftOut: points that were left out are waited for no longer than until the next has
// come, each once, in every scenario anew.
func TestStreamLeftOut(t *testing.T) {
	text := strings.Replace(small, `"ring"`, `["ring", "one-shot"]`, 1)
	var b strings.Builder
	out := NewStream(func(text string) { b.WriteString(text) })
	for range 2 {
		s := load(t, "s.toml", text, `collective.bytes=["1 KiB", "2 KiB", "4 KiB", "8 KiB"]`)
		r := runAll(t, s)
		out.Begin(s)
		b.Reset()
		for _, c := range []struct{ take, groups int }{{1, 0}, {2, 0}, {3, 1}, {5, 1}, {7, 2}} {
			out.Take(r.Results[c.take])
			require.Equal(t, c.groups, strings.Count(b.String(), "# all_reduce "), "after %d", c.take)
		}
		out.End(r)
	}
}

// TestStreamEnds: of a scenario that ends early, what there is is printed; of one without a result,
// nothing is until it ends.
func TestStreamEnds(t *testing.T) {
	s := load(t, "s.toml", small, `collective.bytes=["1 KiB", "2 KiB", "4 KiB"]`)
	r := runAll(t, s)
	r.Results = r.Results[:2]
	var b strings.Builder
	out := NewStream(func(text string) { b.WriteString(text) })
	out.Begin(s)
	require.Empty(t, b.String())
	out.Take(r.Results[0])
	out.Take(r.Results[1])
	require.NotContains(t, b.String(), "# all_reduce ring")
	out.End(r)
	require.Equal(t, 1, strings.Count(b.String(), "\n        2048 "))
	out.Close()
	require.Equal(t, Table(r), b.String())
}
