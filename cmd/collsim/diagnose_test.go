package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/diagnose"
	"collsim/internal/prose"
	"collsim/internal/tier"
	"collsim/run"
	"collsim/scenarios"
	"collsim/unit"
)

// judged is a machine whose causes are simulated, and found again in their own times with noise.
type judged struct {
	preset    string
	nodes     int
	algorithm string
	others    []diagnose.Cause // that are true, and not among those that are tried
}

func judgedMachines() []judged {
	nic := func(link string) diagnose.Cause {
		return diagnose.Cause{Group: "one NIC at half rate", Place: "elsewhere",
			Change: fmt.Sprintf("link = [{ match = %q, bandwidth = \"50 %%\" }]", link)}
	}
	return []judged{
		{preset: "pcie-h100-8", nodes: 1, algorithm: "nccl:auto"},
		{preset: "mi300x-8", nodes: 1, algorithm: "ring"},
		{preset: "dgx-h100", nodes: 1, algorithm: "nccl:auto"},
		{preset: "dgx-a100", nodes: 2, algorithm: "nccl:auto",
			others: []diagnose.Cause{nic("node0/nic5 <-> rail5"), nic("node1/nic2 <-> rail2")}},
		{preset: "dgx-h100", nodes: 4, algorithm: "nccl:auto", others: []diagnose.Cause{
			nic("node0/nic5 <-> rail5"), nic("node2/nic2 <-> rail2"), nic("node3/nic0 <-> rail0")}},
	}
}

// simulate returns the tables of all causes of a machine that it does not refuse, then those of the
// others.
func (m *judged) simulate(t *testing.T, sizes []unit.Bytes) (all, others []diagnose.Candidate) {
	text := fmt.Sprintf("[topology]\npreset = %q\nnodes = %d\n[collective]\nkind = \"all_reduce\"\n"+
		"algorithm = %q\nbytes = \"1 MiB\"\n", m.preset, m.nodes, m.algorithm)
	load := func(with ...scenarios.With) (*run.Scenario, error) {
		return run.Load(m.preset, []byte(text), run.LoadOptions{With: with, Free: freeMemory()})
	}
	s, err := load()
	require.NoError(t, err)
	g, err := s.Points[0].Topology.Graph()
	require.NoError(t, err)
	table := func(c diagnose.Cause) (diagnose.Candidate, bool) {
		s, err := load(scenarios.With{Name: "cause", Text: diagnose.Overlay(&c, "", sizes)})
		if refused(err) {
			return diagnose.Candidate{}, false
		}
		require.NoError(t, err)
		r, err := s.Run(context.Background(), run.RunOptions{})
		if refused(err) {
			return diagnose.Candidate{}, false
		}
		require.NoError(t, err)
		return diagnose.Candidate{Cause: c, Times: perCall(r)}, true
	}
	for _, c := range diagnose.Causes(s.Points[0], g) {
		if one, possible := table(c); possible {
			all = append(all, one)
		}
	}
	for _, c := range m.others {
		one, possible := table(c)
		require.True(t, possible)
		others = append(others, one)
	}
	return all, others
}

// score counts how often a cause is found in its own times with noise: in the nearest fit, and in
// the nearest three.
type score struct{ tried, first, amongThree int }

// find diagnoses the times of a true cause many times, with noise of 3 % each time.
func (s *score) find(truth *diagnose.Candidate, all []diagnose.Candidate, sizes []unit.Bytes,
	rng *rand.Rand) {
	for range 25 {
		calls := make([]diagnose.Call, len(sizes))
		for i, size := range sizes {
			noisy := float64(truth.Times[i]) * math.Exp(0.03*rng.NormFloat64())
			calls[i] = diagnose.Call{Size: size, Time: unit.Time(noisy)}
		}
		fits := diagnose.Rank(calls, all).Fits
		at := slices.IndexFunc(fits, func(f diagnose.Fit) bool {
			return slices.ContainsFunc(f.Causes, func(c diagnose.Cause) bool {
				return c.Group == truth.Group
			})
		})
		s.tried++
		if at == 0 {
			s.first++
		}
		if at >= 0 && at < 3 {
			s.amongThree++
		}
	}
}

func (s *score) cells() []string {
	share := func(n int) string {
		if s.tried == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(s.tried))
	}
	return []string{share(s.first), share(s.amongThree)}
}

// TestDiagnose takes every cause of some machines as the truth, and holds how often it is found to
// what docs/diagnose.md says. The short tier tries one machine, the long one all but the largest,
// which takes a minute: with -update it tries that, too.
func TestDiagnose(t *testing.T) {
	sizes := []unit.Bytes{64 << 10, 1 << 20, 8 << 20, 64 << 20, 256 << 20, 1 << 30}
	machines := judgedMachines()
	rows := [][]string{{"machine", "nodes", "algorithm", "causes", "first", "among three",
		"elsewhere first", "among three"}}
	judged := tier.Of(1, len(machines)-1)
	if *update && tier.Long {
		judged = len(machines)
	}
	for i := range machines[:judged] {
		m := &machines[i]
		all, others := m.simulate(t, sizes)
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		var own, elsewhere score
		for i := range all {
			own.find(&all[i], all, sizes, rng)
		}
		for i := range others {
			elsewhere.find(&others[i], all, sizes, rng)
		}
		row := append([]string{m.preset, fmt.Sprint(m.nodes), m.algorithm, fmt.Sprint(len(all))},
			append(own.cells(), elsewhere.cells()...)...)
		t.Log(row)
		rows = append(rows, row)
	}
	path := filepath.Join(repository(t), "docs", "diagnose.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	const begin, end = "<!-- judged -->\n", "<!-- end -->\n"
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found)
	have, after, found := strings.Cut(rest, end)
	require.True(t, found)
	table := prose.Markdown("lrlrrrrr", rows)
	if *update && tier.Long {
		require.NoError(t, os.WriteFile(path, []byte(before+begin+table+end+after), 0o644))
		return
	}
	plain := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "| --") {
			continue
		}
		require.Contains(t, plain(have), plain(line))
	}
}
