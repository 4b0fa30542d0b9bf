package bounds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// TestTeamsShareALink: 2 nodes of 4 ranks, joined by a wire each way. GPU i of either node do an
// all_reduce of 8000 B: each alone has 8 · 640 ns · (1 GB/s) for itself, all four need 32 000 B.
func TestTeamsShareALink(t *testing.T) {
	var wires []topology.Wire
	for r := range 8 {
		wires = append(wires, topology.Wire{From: gpu(r), To: []string{"a", "b"}[r/4],
			Bandwidth: 100 * gigabyte, Both: true})
	}
	wires = append(wires, topology.Wire{From: "a", To: "b", Bandwidth: gigabyte, Both: true})
	g := linked(t, wires)
	var rails, nodes []Team
	for r := range 4 {
		rails = append(rails, Team{specOf(collective.AllReduce, 2, 2000), []int{r, r + 4}})
	}
	for n := range 2 {
		nodes = append(nodes, Team{specOf(collective.AllReduce, 4, 2000),
			[]int{4 * n, 4*n + 1, 4*n + 2, 4*n + 3}})
	}
	b, err := ForTeams(rails, g, Options{})
	require.NoError(t, err)
	require.Equal(t, 32*unit.Microsecond, b.Bandwidth) // 4 · 8000 B at 1 GB/s
	require.Equal(t, 32*unit.Microsecond+3*hop, b.Lower, "up, over, down")
	require.Equal(t, "link a->b", b.Cut)

	// Within the nodes nothing is shared: 2·3/4 · 8000 B at 100 GB/s.
	b, err = ForTeams(nodes, g, Options{})
	require.NoError(t, err)
	require.Equal(t, 120*unit.Nanosecond, b.Bandwidth)

	none, err := ForTeams([]Team{{specOf(collective.Barrier, 4, 0), []int{0, 1, 2, 3}},
		{specOf(collective.AllReduce, 1, 100), []int{5}}}, g, Options{})
	require.NoError(t, err)
	require.Zero(t, none)
	_, err = ForTeams([]Team{{specOf(collective.AllReduce, 3, 5), []int{0, 1}}}, g, Options{})
	require.EqualError(t, err, "all_reduce on 3 ranks, but the team has 2")
}

// TestOneTeam: a team of all ranks needs no more than For says, which tries as many cuts and
// more; but with their latency it notes only those on its way to the worst.
func TestOneTeam(t *testing.T) {
	for seed := range int64(200) {
		c := newCase(seed)
		spec, g := c.spec(collective.Kinds()[c.rng.Intn(len(collective.Kinds()))]), c.graph()
		team := Team{Spec: spec}
		for r := range spec.Ranks {
			team.Ranks = append(team.Ranks, r)
		}
		b, err := ForTeams([]Team{team}, g, Options{})
		require.NoError(t, err)
		alone := boundsOf(t, spec, g)
		require.LessOrEqual(t, b.Bandwidth, alone.Bandwidth, "%d: %v", seed, spec)
	}
}

// TestNoTeamsBeatABound runs teams on small random networks, and on rings and switches.
func TestNoTeamsBeatABound(t *testing.T) {
	cases, higher := 0, 0
	run := func(c randomCase, g *topology.Graph) {
		for _, a := range algos.Table() {
			kind := a.Kinds[c.rng.Intn(len(a.Kinds))]
			order := c.rng.Perm(len(g.Ranks))
			var teams []Team
			var beside []schedule.Part
			for len(order) > 0 {
				n := min(len(order), 1+c.rng.Intn(4))
				small := c
				small.ranks = n
				spec := small.spec(kind)
				spec.Op, spec.Count, spec.Splits = specOf(kind, n, 1).Op, 0, nil
				if kind != collective.Barrier {
					spec = specOf(kind, n, 1+c.rng.Int63n(5000))
				}
				s, err := a.Build(spec, algos.Options{})
				if err != nil {
					break
				}
				teams = append(teams, Team{spec, order[:n]})
				beside = append(beside, schedule.Part{Ranks: order[:n], Schedule: s})
				order = order[n:]
			}
			if len(teams) < 2 {
				continue
			}
			s, err := schedule.Compose("", len(g.Ranks), nil, beside)
			require.NoError(t, err)
			env := randomEnv(c, g)
			r, err := sim.Run(s, env, sim.Options{})
			require.NoError(t, err)
			b, err := ForTeams(teams, g, Options{Overhead: env.Device.Overhead})
			require.NoError(t, err)
			require.GreaterOrEqual(t, r.Time, b.Lower, "%s %v %+v\n%v", a.Name, teams, b, c.wires)
			cases++
			alone := unit.Time(0)
			for _, team := range teams {
				view := *g
				view.Ranks = nil
				for _, rank := range team.Ranks {
					view.Ranks = append(view.Ranks, g.Ranks[rank])
				}
				alone = max(alone, boundsOf(t, team.Spec, &view).Lower)
			}
			if b.Lower > alone {
				higher++
			}
		}
	}
	seeds := tier.Raced(3, 7, 60)
	for seed := range int64(seeds) {
		c := newCase(seed)
		run(c, c.graph())
		for _, name := range []string{"ring", "switch"} {
			if g, err := simtest.Network(name, c.ranks, rate, hop); err == nil {
				run(c, g)
			}
		}
	}
	require.Greater(t, cases, 10*seeds)
	require.Greater(t, higher, cases/20, "teams hinder each other")
}
