package sim_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim"
	"collsim/sim/event"
	"collsim/sim/fold"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/sim/sweep"
)

var agreementRuns = flag.Int("runs", 0, "of TestEnginesAgree: so many random runs")

// agreement counts what TestEnginesAgree has seen.
type agreement struct {
	runs, stalls, broken         int
	folded, swept, naive, logged int
	uneven, gpus                 int
}

// TestEnginesAgree: of random runs every engine that accepts one tells the same end of each lane
// and the same load of each link, to the picosecond and the byte, or the same stall in the same
// words: sim/event with a log and without, sim/fold, sim/sweep, and a naive engine. A million runs:
//
//	go test ./sim -run TestEnginesAgree -timeout 0 -v -args -runs 1000000
func TestEnginesAgree(t *testing.T) {
	runs := tier.Raced(70, 100, 3_000)
	if *agreementRuns > 0 {
		runs = *agreementRuns
	}
	agreementKinds["gpus"] = onGPUs
	names := make([]string, 0, len(agreementKinds))
	for name := range agreementKinds {
		names = append(names, name)
	}
	slices.Sort(names)
	shares := make([]agreement, len(names))
	t.Run("of", func(t *testing.T) {
		for k, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for i := range (runs + len(names) - 1) / len(names) {
					rng := rand.New(rand.NewPCG(uint64(i), uint64(1000+k)))
					s, env := agreementKinds[name](t, rng)
					shares[k].compare(t, fmt.Sprintf("run %d of %s", i, name), s, &env)
				}
			})
		}
	})
	all := agreement{}
	for k, a := range shares {
		t.Logf("%-12s %+v", names[k], a)
		all.runs, all.stalls, all.broken = all.runs+a.runs, all.stalls+a.stalls, all.broken+a.broken
		all.folded, all.swept = all.folded+a.folded, all.swept+a.swept
		all.uneven, all.gpus = all.uneven+a.uneven, all.gpus+a.gpus
		all.naive, all.logged = all.naive+a.naive, all.logged+a.logged
	}
	t.Logf("%-12s %+v", "all", all)
	for what, n := range map[string]int{"folded": all.folded, "swept": all.swept,
		"uneven": 2 * all.uneven, "naive": all.naive, "stalls": all.stalls, "broken": 4 * all.broken} {
		require.Greater(t, n, all.runs/30, "%s: the generators have lost their bite", what)
	}
	if all.runs > 1000 {
		require.Greater(t, all.gpus, all.runs/100)
	}
}

// agreementKinds are random runs of several kinds.
var agreementKinds = map[string]func(testing.TB, *rand.Rand) (*schedule.Schedule, sim.Env){
	"algorithms": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		for { // not all have all numbers of ranks
			kinds := collective.Kinds()
			kind, ranks := kinds[rng.IntN(len(kinds))], 2+rng.IntN(15)
			some := algos.ForKind(kind)
			spec := specOf(kind, ranks)
			if spec.Count > 0 {
				spec.Count = 1 + rng.Int64N(4000)
			}
			o := algos.Options{Slices: 1 + rng.IntN(3)}
			if s, err := some[rng.IntN(len(some))].Build(spec, o); err == nil {
				return s, plainly(rng, randomly(t, rng, ranks))
			}
		}
	},
	"halvings": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		ranks := 2 << rng.IntN(4)
		a := halvings[rng.IntN(len(halvings))]
		of, err := algos.Find(a.kind, a.name)
		require.NoError(t, err)
		spec := specOf(a.kind, ranks)
		spec.Count = int64(ranks*(1+rng.IntN(300)) + rng.IntN(2)*rng.IntN(ranks))
		return build(t, of, spec, algos.Options{Channels: 1 + rng.IntN(2), Slices: 1 + rng.IntN(3),
			Slots: rng.IntN(2) * (1 + rng.IntN(3))}), plainly(rng, simtest.SymmetricEnv(t, rng, ranks))
	},
	"loops": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		ranks := 2 + rng.IntN(20)
		p := simtest.RingPlan(ranks, int64(ranks*(1+rng.IntN(300))+rng.IntN(2)*rng.IntN(ranks)))
		p.Slices, p.Channels, p.Slots = 1+rng.IntN(3), 1+rng.IntN(3), rng.IntN(2)*(1+rng.IntN(6))
		if rng.IntN(3) == 0 {
			p.Group = nil
		}
		p.Lane = simtest.Framed(rng, p.Lane)
		return simtest.Build(t, p), plainly(rng, randomly(t, rng, ranks))
	},
	"any": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		s := simtest.Schedule(rng, rng.IntN(3) == 0)
		return s, plainly(rng, randomly(t, rng, s.Spec.Ranks))
	},
	"extended": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		s := simtest.Schedule(rng, rng.IntN(3) == 0)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		return simtest.Extended(t, rng, s, env.Graph), env
	},
	"aggregated": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		env.Graph = simtest.Aggregation(t, rng, s.Spec.Ranks)
		return simtest.Fused(t, simtest.Extended(t, rng, s, env.Graph)), env
	},
	"symmetric": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		s := simtest.Symmetric(t, rng, rng.IntN(4) == 0)
		return s, plainly(rng, simtest.SymmetricEnv(t, rng, s.Spec.Ranks))
	},
	"uneven": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		for {
			a := evens[rng.IntN(len(evens))]
			of, err := algos.Find(a.kind, a.name)
			require.NoError(t, err)
			ranks := []int{4, 6, 8, 12, 16, 24, 40}[rng.IntN(7)]
			spec := specOf(a.kind, ranks)
			if spec.Count > 0 {
				spec.Count = int64(ranks * (1 + rng.IntN(300)))
			}
			s, err := of.Build(spec, algos.Options{Channels: 1 + rng.IntN(5)/4,
				Slices: 1 + rng.IntN(3), Slots: rng.IntN(2) * (1 + rng.IntN(6))})
			if err == nil {
				return s, simtest.UnevenEnv(t, rng, ranks)
			}
		}
	},
	"networks":   onNetworks,
	"translated": onTranslated,
	"wired":      onWiredNodes,
	"ties": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		s := simtest.Tied(t, rng)
		return s, simtest.TiedEnv(t, rng, s.Spec.Ranks)
	},
	"damaged": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		s := simtest.Schedule(rng, false)
		if rng.IntN(2) == 0 {
			s = simtest.Symmetric(t, rng, false)
		}
		lost := rng.IntN(40)
		env := plainly(rng, randomly(t, rng, s.Spec.Ranks))
		return simtest.Rewritten(t, s, func(_, _ int, step schedule.Step, add func(schedule.Step)) {
			if lost--; lost != -1 {
				add(step)
			}
		}), env
	},
	"devices": func(t testing.TB, rng *rand.Rand) (*schedule.Schedule, sim.Env) {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		if rng.IntN(2) == 0 {
			return s, env
		}
		simtest.GPU(rng, &env)
		env.Device.Offload, env.Device.SendBuffer, env.Device.EagerLimit = false, 0, 0
		return simtest.Marked(t, rng, s), env
	},
}

// halvings are the algorithms whose group is the exclusive or.
var halvings = []struct {
	kind collective.Kind
	name string
}{{collective.AllReduce, "rabenseifner"}, {collective.AllReduce, "recursive-doubling"},
	{collective.AllGather, "recursive-doubling"}, {collective.ReduceScatter, "recursive-halving"}}

// evens are algorithms with a group of one digit, or of two.
var evens = []struct {
	kind collective.Kind
	name string
}{{collective.AllReduce, "ring"}, {collective.AllReduce, "ring"},
	{collective.AllGather, "ring"}, {collective.ReduceScatter, "ring"},
	{collective.AllReduce, "hierarchical"}, {collective.AllReduce, "hierarchical"},
	{collective.AllToAll, "pairwise"}, {collective.AllToAll, "bruck"},
	{collective.AllGather, "bruck"}, {collective.Barrier, "dissemination"}}

// randomly is a random network and device, on which ranks may be alike or not.
func randomly(t testing.TB, rng *rand.Rand, ranks int) sim.Env {
	if rng.IntN(2) == 0 {
		return simtest.SymmetricEnv(t, rng, ranks)
	}
	return simtest.Env(t, rng, ranks)
}

// plainly takes from most environments what only sim/event simulates.
func plainly(rng *rand.Rand, env sim.Env) sim.Env {
	if rng.IntN(10) > 0 {
		env.Device.Offload, env.Device.SendBuffer, env.Device.EagerLimit = false, 0, 0
	}
	return env
}

// compare has all engines simulate a run.
func (a *agreement) compare(t testing.TB, name string, s *schedule.Schedule, env *sim.Env) {
	if env.Validate(s) != nil {
		return
	}
	name = fmt.Sprintf("%s: %v on %s, %v", name, s, env.Graph.Preset, env.Sharing)
	a.runs++
	want, wanted := event.Run(s, env, nil)
	var stall *schedule.StallError
	switch {
	case errors.As(wanted, &stall):
		a.stalls++
	case wanted != nil:
		a.broken++
	}
	same := func(engine string, count *int, got *model.Totals, err error) {
		*count++
		require.Equal(t, wanted, err, "%s: %s", engine, name)
		if err == nil {
			got.Unfold()
			require.Equal(t, want.LaneEnd, got.LaneEnd, "%s: %s", engine, name)
			require.Equal(t, want, got, "%s: %s", engine, name)
		}
	}
	log := model.NewLog(env, true)
	got, err := event.Run(s, env, log)
	log.Read()
	same("event, logged", &a.logged, got, err)
	var notFolded *sim.NotFolded
	if got, err = fold.Run(s, env); !errors.As(err, &notFolded) {
		same("fold", &a.folded, got, err)
	}
	if got, err = fold.RunUneven(s, env); !errors.As(err, &notFolded) {
		same("uneven", &a.uneven, got, err)
	}
	if env.Device.GPU.SMs > 0 {
		r, err := sim.Run(s, *env, sim.Options{Engine: sim.Fold, Folded: true})
		if err == nil { // which package fold alone does not do
			same("fold, on GPUs", &a.gpus, &r.Totals, err)
		}
	}
	var notSwept *sim.NotSwept
	if got, err = sweep.Run(s, env); !errors.As(err, &notSwept) {
		same("sweep", &a.swept, got, err)
	}
	if !isNaive(s, env) {
		return
	}
	a.naive++
	ends, load, isBad := runNaive(s, env)
	require.Equal(t, wanted != nil, isBad, "naive: %s", name)
	if isBad { // why, the untimed executor knows
		_, err = schedule.Execute(s, schedule.Limits{Slots: env.Slots}, schedule.Hooks{})
		require.Equal(t, err, wanted, "naive: %s", name)
		return
	}
	require.Equal(t, want.LaneEnd, ends, "naive: %s", name)
	require.Equal(t, want.LinkLoad, load, "naive: %s", name)
}

// isNaive reports whether the naive engine simulates what a schedule and a device have: not lanes
// that run ahead, requests of large messages, parts, GPUs and multimem.
func isNaive(s *schedule.Schedule, env *sim.Env) bool {
	d := &env.Device
	return !schedule.Composed(s) && s.Teams() == nil && !d.Offload && d.SendBuffer == 0 &&
		d.EagerLimit == 0 && d.GPU.SMs == 0 && !s.AnyStep(func(step *schedule.Step) bool {
		others := step.Launch != nil
		for i := range step.From {
			others = others || step.From[i].Kind == schedule.Multimem
		}
		for i := range step.Send {
			others = others || step.Send[i].Team != nil
		}
		return others
	})
}
