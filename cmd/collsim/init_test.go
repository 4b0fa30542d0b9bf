package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/machine"
	"collsim/run"
	"collsim/scenarios"
	"collsim/topology"
	"collsim/unit"
)

// TestInitOfEveryNetwork: every network of the catalogue, alone, inside nodes and between them,
// makes a scenario that runs as it is.
func TestInitOfEveryNetwork(t *testing.T) {
	run := func(t *testing.T, input string, args ...string) string {
		var out, err bytes.Buffer
		a := &app{in: strings.NewReader(input), out: &out, err: &err}
		require.Equal(t, exitOK, a.main(context.Background(), args), "%v: %s", args, err.String())
		return out.String()
	}
	for _, p := range topology.Catalogue() {
		ways := [][]string{
			{"--topology", p.Name},
			{"--network", p.Name},
			{"--nodes", "3", "--ranks", "12", "--network", p.Name},
			{"--nodes", "4", "--topology", p.Name},
			{"--nodes", "2", "--ranks", "8", "--node", p.Name, "--network", "rails"},
		}
		if p.Name == "hypercube" { // whose number of ranks is a power of two
			ways[2][1], ways[2][3] = "4", "16"
		}
		if p.Name == "rails" { // which join NICs and nothing else
			ways = ways[:4]
		}
		for _, way := range ways {
			t.Run(strings.Join(way, " "), func(t *testing.T) {
				args := append([]string{"init", "all_gather", "-b", "1K", "-e", "16K", "-f", "4"}, way...)
				scenario := run(t, "", args...)
				require.Contains(t, scenario, `"`+p.Name+`"`)
				table := run(t, scenario, "-", "--quiet")
				require.Contains(t, table, "proof    all 3: every input once")
				require.Contains(t, table, "numbers  all 3: exact")
			})
		}
	}
}

// TestInitOfMachines: every machine of the catalogue makes a scenario that loads, with a benchmark
// as well where its two lines are taken out of their comment.
func TestInitOfMachines(t *testing.T) {
	for _, m := range machine.Catalogue() {
		var out, err bytes.Buffer
		a := &app{out: &out, err: &err}
		require.Equal(t, exitOK, a.main(context.Background(),
			[]string{"init", "--machine", m.Name}), "%s: %s", m.Name, err.String())
		text := strings.Replace(out.String(), "\n# [benchmark]", "\n[benchmark]", 1)
		text = strings.Replace(text, "\n# processes", "\nprocesses", 1)
		s, loaded := run.Load("x.toml", []byte(text), run.LoadOptions{})
		require.NoError(t, loaded, m.Name)
		require.Equal(t, scenarios.Benchmark{Calls: 20, Processes: scenarios.OneProcess,
			Issue: 4200 * unit.Nanosecond, IssueMessage: 410 * unit.Nanosecond}, s.Points[0].Benchmark)
	}
}
