package event

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/critical"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/sim/timeline"
)

// TestLogTells: what is made of a log is the same, whatever a run has written of it: the critical
// path, also from a log that is only opened, and all of a trace. What fails does so in the same
// words.
func TestLogTells(t *testing.T) {
	runs, logged, failed := tier.Raced(50, 70, 3_000), map[string]int{}, 0
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 23))
		s, env := loggedCase(t, rng)
		if env.Validate(s) != nil {
			continue
		}
		e := newEngine(s, &env)
		full, log, opened := model.NewLog(&env, true), model.NewLog(&env, true), model.NewLog(&env, false)
		e.logTo(full)
		wanted := e.run()
		got, err := Run(s, &env, log)
		_, again := Run(s, &env, opened)
		require.Equal(t, wanted, err, "%d", i)
		require.Equal(t, wanted, again, "%d", i)
		if wanted != nil {
			failed++
			continue
		}
		name := fmt.Sprintf("%d: %v on %s, %v", i, s, env.Graph.Preset, env.Sharing)
		require.Equal(t, e.finished(), got, name)
		full.Read()
		for _, what := range loggedKinds(s, &env) {
			logged[what]++
		}
		trace, path := timeline.Of(&env, full), critical.Path(&env, full)
		require.Equal(t, path, critical.Path(&env, opened), name)
		log.Read()
		require.Equal(t, trace, timeline.Of(&env, log), name)
		require.Equal(t, path, critical.Path(&env, log), name)
	}
	t.Logf("%d runs, %d failed, logged: %v", runs, failed, logged)
	for _, what := range []string{"parts", "shared"} {
		require.Greater(t, logged[what], runs/100, what)
	}
}

// loggedCase is a random run of any kind.
func loggedCase(t testing.TB, rng *rand.Rand) (*schedule.Schedule, model.Env) {
	ranks := 2 + rng.IntN(8)
	of := func() (s *schedule.Schedule) {
		switch rng.IntN(5) {
		case 0:
			s = simtest.Schedule(rng, false)
		case 1:
			s = simtest.Symmetric(t, rng, false)
		case 2:
			s = exchanges(t, rng, ranks)
		case 3:
			s = simtest.Build(t, simtest.DirectPlan(ranks, 1+rng.Int64N(5000)))
		default:
			p := simtest.RingPlan(ranks, int64(ranks)*(1+rng.Int64N(3000)))
			p.Slices, p.Channels, p.Slots = 1+rng.IntN(3), 1+rng.IntN(3), rng.IntN(6)
			s = simtest.Build(t, p)
		}
		if lost := rng.IntN(60); rng.IntN(8) == 0 { // damaged
			s = simtest.Rewritten(t, s, func(_, _ int, step schedule.Step, add func(schedule.Step)) {
				if lost--; lost != -1 {
					add(step)
				}
			})
		}
		return s
	}
	s := of()
	isMarked := rng.IntN(5) == 0
	if isMarked {
		s = simtest.Marked(t, rng, simtest.Schedule(rng, false))
	} else if rng.IntN(3) == 0 {
		parts := []*schedule.Schedule{s}
		for range rng.IntN(3) {
			if more := of(); more.Spec.Ranks == s.Spec.Ranks {
				parts = append(parts, more)
			}
		}
		s = composed(t, parts...)
	}
	env := simtest.Env(t, rng, s.Spec.Ranks)
	if rng.IntN(3) == 0 {
		env.Sharing, env.Switching, env.Segment = model.Fluid, model.CutThrough, 0
	}
	if rng.IntN(4) > 0 {
		env.Device.EagerLimit, env.Device.SendBuffer = 0, 0
		env.Device.Offload = env.Device.Offload && rng.IntN(2) == 0
	}
	if isMarked || rng.IntN(3) == 0 {
		simtest.GPU(rng, &env)
		env.Device.SendBuffer, env.Device.EagerLimit = 0, 0
	}
	return s, env
}

// loggedKinds is what a logged run has to do with, if it is on one.
func loggedKinds(s *schedule.Schedule, env *model.Env) (kinds []string) {
	e := newEngine(s, env)
	e.findUncontended()
	e.startLog(model.NewLog(env, true))
	for what, is := range map[string]bool{
		"all": true, "parts": schedule.Composed(s), "parts on GPUs": schedule.Composed(s) && e.gpu != nil,
		"GPU": e.gpu != nil, "memory": env.Device.GPU.HBM > 0, "GPU, fifo": e.gpu != nil && !e.isFluid,
		"launches": e.gpu != nil && e.gpu.isLaunched,
		"shared":   e.isFluid && !e.links.isAhead(), "segments": env.Segment > 0,
		"offload": env.Device.Offload,
	} {
		if is {
			kinds = append(kinds, what)
		}
	}
	return kinds
}

// composed is a schedule of parts one after the other, each on tensors of its own.
func composed(t testing.TB, parts ...*schedule.Schedule) *schedule.Schedule {
	var tensors []schedule.Tensor
	var list []schedule.Part
	for i, s := range parts {
		part := schedule.Part{Schedule: s}
		if i > 0 {
			part.After = []int{i - 1}
		}
		for b := range schedule.Buffer(s.Buffers()) {
			n := int64(1)
			for rank := range s.Spec.Ranks {
				n = max(n, s.Len(b, rank))
			}
			tensors = append(tensors, schedule.Tensor{Name: string(rune('a' + len(tensors))),
				Type: s.TypeOf(b), Shape: collective.Shape{n}})
			part.Memory = append(part.Memory,
				schedule.Place{Tensor: schedule.FirstTensor + schedule.Buffer(len(tensors)-1)})
		}
		list = append(list, part)
	}
	s, err := schedule.Compose("parts", parts[0].Spec.Ranks, tensors, list)
	require.NoError(t, err)
	return s
}
