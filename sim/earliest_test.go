package sim_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/simtest"
	"collsim/topology"
	"collsim/unit"
)

// TestEarliest compares every lane's end with the independent evaluator, for all algorithms, on a
// full mesh. Where two connections join the same ranks the same way, or a get meets a message, they
// share a link: then links without limit are tried, too.
func TestEarliest(t *testing.T) {
	turn := 0
	for _, kind := range collective.Kinds() {
		for _, a := range algos.ForKind(kind) {
			for _, ranks := range tier.Raced([]int{3}, []int{2, 5, 8}, []int{2, 3, 4, 5, 8, 13}) {
				for _, o := range []algos.Options{{}, {Slices: 3}, {Channels: 2, Slots: 4}} {
					turn++
					if !tier.Long && turn%4 > 1 { // in the short tier they take turns
						continue
					}
					s := build(t, a, specOf(kind, ranks), o)
					for _, slots := range tier.Of([]int{turn % 4 * 5}, []int{5, 8, 0}) { // 0: no limit
						name := fmt.Sprintf("%v %s %d ranks %+v %d slots", kind, a.Name, ranks, o, slots)
						compare(t, name, s, 3e9, slots)
						if shares(s) {
							compare(t, name, s, unit.Unlimited, slots)
						}
					}
				}
			}
		}
	}
}

// TestEarliestRandom does the same for schedules without sense, stalls among them.
func TestEarliestRandom(t *testing.T) {
	for seed := range tier.Raced[uint64](30, 100, 600) {
		rng := rand.New(rand.NewPCG(seed, 2))
		s := simtest.Schedule(rng, true)
		mesh, err := topology.FullMesh(s.Spec.Ranks, 3e9, 0)
		require.NoError(t, err)
		s = simtest.Extended(t, rng, s, mesh)
		slots := rng.IntN(5)
		for _, rate := range []unit.Rate{3e9, unit.Unlimited} {
			compare(t, fmt.Sprintf("seed %d, %v", seed, rate), s, rate, slots)
		}
	}
}

// TestEarliestAhead does the same on devices whose lanes run ahead, and ask for large messages.
func TestEarliestAhead(t *testing.T) {
	stalls, met, seeds := 0, 0, tier.Raced(60, 100, 600)
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s := simtest.Schedule(rng, true)
		m := algostest.Machine{Latency: 700 * unit.Nanosecond, Bandwidth: 3e9, Slots: rng.IntN(5),
			SendBuffer: []unit.Bytes{0, 1, 150, 1000, unit.MiB}[rng.IntN(5)]}
		if rng.IntN(2) == 0 {
			m.EagerLimit, m.ReceivesAhead = []unit.Bytes{1, 300, 900}[rng.IntN(3)], rng.IntN(3)
		}
		if shares(s) || m.EagerLimit > 0 && rng.IntN(2) == 0 {
			m.Bandwidth = unit.Unlimited
		}
		want, stall := algostest.EarliestOn(s, m)
		g, err := topology.FullMesh(s.Spec.Ranks, m.Bandwidth, m.Latency)
		require.NoError(t, err)
		for _, sharing := range []sim.Sharing{sim.FIFO, sim.Fluid} {
			if sharing == sim.FIFO && m.EagerLimit > 0 && m.Bandwidth != unit.Unlimited {
				continue // answers stand behind what goes their way
			}
			env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: sharing, Slots: m.Slots}
			env.Device.SendBuffer, env.Device.EagerLimit = m.SendBuffer, m.EagerLimit
			env.Device.ReceivesAhead = m.ReceivesAhead
			r, err := sim.Run(s, env, sim.Options{})
			if stall != nil {
				stalls++
				require.IsType(t, &sim.StallError{}, err, "seed %d", seed)
				continue
			}
			require.NoError(t, err, "seed %d", seed)
			require.Equal(t, want, r.LaneEnd, "seed %d %v %+v", seed, sharing, m)
			met++
		}
	}
	require.Greater(t, stalls, seeds/6, "the generator has lost its bite")
	require.Greater(t, met, 5*seeds/6, "the generator has lost its sense")
}

// TestClosedForms: on a full mesh ring takes 2(p−1) rounds of a chunk, the largest; pairwise p−1;
// direct one (Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19, 2005).
func TestClosedForms(t *testing.T) {
	const latency, rate = 700 * unit.Nanosecond, 3_000_000_000
	for _, tt := range []struct {
		kind   collective.Kind
		name   string
		rounds func(p int) int
		chunk  func(n int64, p int) int64 // elements of the largest
	}{
		{collective.AllReduce, "ring", func(p int) int { return 2 * (p - 1) },
			func(n int64, p int) int64 { return (n + int64(p) - 1) / int64(p) }},
		{collective.AllToAll, "pairwise", func(p int) int { return p - 1 },
			func(n int64, _ int) int64 { return n }},
		{collective.AllToAll, "direct", func(p int) int { return 1 },
			func(n int64, _ int) int64 { return n }},
	} {
		for _, p := range []int{2, 3, 4, 5, 7, 8, 16, 17, 33, 64} {
			a, err := algos.Find(tt.kind, tt.name)
			require.NoError(t, err)
			spec := specOf(tt.kind, p)
			s, err := a.Build(spec, algos.Options{})
			require.NoError(t, err)
			g, err := topology.FullMesh(p, rate, latency)
			require.NoError(t, err)
			chunk := unit.Bytes(4 * tt.chunk(spec.Count, p))
			want := unit.Time(tt.rounds(p)) * (latency + chunk.Over(rate))
			for _, sharing := range []sim.Sharing{sim.FIFO, sim.Fluid} {
				env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: sharing, Slots: 8}
				r, err := sim.Run(s, env, sim.Options{})
				require.NoError(t, err)
				require.Equal(t, want, r.Time, "%s %d", tt.name, p)
			}
		}
	}
}

// build is an algorithm with options, without those of channels and slices where it has none.
func build(t testing.TB, a algos.Algorithm, spec collective.Spec,
	o algos.Options) *schedule.Schedule {
	t.Helper()
	s, err := a.Build(spec, o)
	var unfit *algos.Unfit
	if errors.As(err, &unfit) && a.Plan != nil {
		o.Channels, o.Slices = 0, 0
		s, err = a.Build(spec, o)
	}
	require.NoError(t, err)
	return s
}

// specOf is a collective with uneven blocks, some of them empty where a kind allows it.
func specOf(kind collective.Kind, ranks int) collective.Spec {
	spec := collective.Spec{Kind: kind, Type: dtype.Float32, Ranks: ranks, Count: 1001}
	switch {
	case kind.Reduces():
		spec.Op = collective.Sum
	case kind == collective.Barrier:
		spec.Type = 0
	}
	if kind == collective.Barrier || kind.Splits() {
		spec.Count = 0
	}
	rows := 1
	if kind == collective.AllToAllV {
		rows = ranks
	}
	for r := 0; r < rows && kind.Splits(); r++ {
		row := make([]int64, ranks)
		for c := range row {
			row[c] = int64((7*r + 5*c) % 11 * 100)
		}
		spec.Splits = append(spec.Splits, row)
	}
	return spec
}

// compare runs a schedule on a full mesh under both sharings and compares: equal where nothing is
// shared, and never earlier where something is.
func compare(t *testing.T, name string, s *schedule.Schedule, rate unit.Rate, slots int) {
	t.Helper()
	const latency = 700 * unit.Nanosecond
	want, stall := algostest.Earliest(s, latency, rate, slots)
	g, err := topology.FullMesh(s.Spec.Ranks, rate, latency)
	require.NoError(t, err)
	shared := rate != unit.Unlimited && shares(s)
	for _, sharing := range []sim.Sharing{sim.FIFO, sim.Fluid} {
		env := sim.Env{Graph: g, Device: device.Ideal(), Sharing: sharing, Slots: slots}
		r, err := sim.Run(s, env, sim.Options{})
		require.Equal(t, stall, err, name)
		switch {
		case err != nil:
		case !shared:
			require.Equal(t, want, r.LaneEnd, name)
		default:
			for i, end := range want {
				require.GreaterOrEqual(t, r.LaneEnd[i], end, name)
			}
		}
	}
}

// shares reports whether two messages of different connections can meet on a link of a full mesh.
func shares(s *schedule.Schedule) bool {
	type pair struct{ from, to int32 }
	type connection struct {
		from, to schedule.Peer
	}
	seen := map[pair]connection{}
	clash := false
	add := func(p pair, c connection) {
		other, ok := seen[p]
		clash = clash || ok && other != c
		seen[p] = c
	}
	_, _ = schedule.Execute(s, schedule.Limits{}, schedule.Hooks{Step: func(v *schedule.Visit) error {
		me := schedule.Peer{Rank: v.Rank, Lane: v.Lane}
		for i, d := range v.Step.Send {
			for _, other := range v.Step.Send[:i] { // silent puts of one step to one rank
				clash = clash || d.Team == nil && other.Team == nil && d.Peer.Rank == other.Peer.Rank
			}
			me.Class = d.Peer.Class
			add(pair{v.Rank, d.Peer.Rank}, connection{me, d.Peer})
		}
		for _, f := range v.Step.From {
			if f.Kind == schedule.Get {
				me.Class = schedule.Free + 1
				add(pair{v.Rank, f.Peer.Rank}, connection{me, f.Peer})
				add(pair{f.Peer.Rank, v.Rank}, connection{f.Peer, me})
			}
		}
		return nil
	}})
	return clash
}
