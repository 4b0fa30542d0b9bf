package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/sim/simtest"
	"collsim/unit"
)

// partsOf is a schedule of parts, each on tensors of its own.
func partsOf(t testing.TB, ranks int, parts ...schedule.Part) *schedule.Schedule {
	t.Helper()
	var tensors []schedule.Tensor
	for i := range parts {
		s := parts[i].Schedule
		for b := range schedule.Buffer(s.Buffers()) {
			n := int64(1)
			for rank := range s.Spec.Ranks {
				n = max(n, s.Len(b, rank))
			}
			name := "t" + string(rune('a'+i)) + string(rune('a'+b))
			tensors = append(tensors, schedule.Tensor{Name: name, Type: s.TypeOf(b),
				Shape: collective.Shape{n}})
			at := schedule.Place{Tensor: schedule.FirstTensor + schedule.Buffer(len(tensors)-1)}
			parts[i].Memory = append(parts[i].Memory, at)
		}
	}
	s, err := schedule.Compose("parts", ranks, tensors, parts)
	require.NoError(t, err)
	return s
}

// TestOnePartIsItsSchedule: a schedule of one part takes what that takes alone, in every figure, on
// any device.
func TestOnePartIsItsSchedule(t *testing.T) {
	simtest.Law(t, 900, "one part is its schedule", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, false)
		env := simtest.Env(t, rng, s.Spec.Ranks)
		if rng.IntN(2) == 0 {
			simtest.GPU(rng, &env)
		}
		s = simtest.Extended(t, rng, s, env.Graph)
		want, err := Run(s, env, Options{Trace: true, Critical: true})
		require.NoError(t, err)
		got, err := Run(partsOf(t, s.Spec.Ranks, schedule.Part{Schedule: s}), env,
			Options{Trace: true, Critical: true})
		require.NoError(t, err)
		require.Equal(t, want.Totals, got.Totals)
		require.NoError(t, got.Trace.Validate())
		requirePath(t, got.Time, got.Critical)
		return true
	})
}

// ringOf is an all-reduce of 3 ranks of 300 bytes, in so many channels.
func ringOf(t testing.TB, channels int) *schedule.Schedule {
	t.Helper()
	p := simtest.RingPlan(3, 300*int64(channels))
	p.Spec.Type, p.Channels = dtype.Int8, channels
	return simtest.Build(t, p)
}

// kernelOf is a schedule of an opaque kernel on every rank.
func kernelOf(t testing.TB, ranks int, mark string) *schedule.Schedule {
	t.Helper()
	text := ""
	for rank := range ranks {
		text += fmt.Sprintf("rank %d\n  lane 0\n    compute 1000000ps %s\n", rank, mark)
	}
	s, err := schedule.Parse("schedule kernel\ncollective custom int8\nranks 3\nsplits 0 0 0\n" +
		"splits 0 0 0\n" + text)
	require.NoError(t, err)
	return s
}

// TestPartsByHand: in microseconds, on 3 ranks of 8 SMs on links of 1 GB/s without latency. A ring
// of 300 bytes a channel takes 4 messages of 100 bytes: 0.4 us with one channel; with more, as
// many channels share each link. A kernel takes 1 us.
func TestPartsByHand(t *testing.T) {
	on := func(stream int32, mark *schedule.Launch, s *schedule.Schedule, after ...int) schedule.Part {
		return schedule.Part{Schedule: s, Stream: stream, Launch: mark, After: after}
	}
	sms := func(blocks int32) *schedule.Launch { return &schedule.Launch{Blocks: blocks} }
	ring, rings, kernel := ringOf(t, 1), ringOf(t, 4), kernelOf(t, 3, "")
	tests := []struct {
		name  string
		parts []schedule.Part
		want  float64
	}{
		{"a kernel", []schedule.Part{on(0, sms(0), kernel)}, 1},
		// One stream: 1 + 0.4 + 1.
		{"one stream", []schedule.Part{on(0, sms(0), kernel), on(0, sms(0), ring),
			on(0, sms(0), kernel)}, 2.4},
		// Two: the kernel's 8 blocks are placed first, so the ring waits: 1 + 0.4.
		{"a ring waits", []schedule.Part{on(0, sms(8), kernel), on(1, sms(1), ring)}, 1.4},
		// The ring is launched first and has one SM; the kernel's last block runs from 0.4 on.
		{"a ring comes first", []schedule.Part{on(1, sms(1), ring), on(0, sms(8), kernel)}, 1.4},
		// The kernel has 7 blocks: both at once.
		{"both fit", []schedule.Part{on(1, sms(1), ring), on(0, sms(7), kernel)}, 1},
		// Four channels of two blocks each take all SMs, and 4·0.4 on shared links.
		{"four channels of two blocks", []schedule.Part{on(1, sms(2), rings), on(0, sms(1), kernel)},
			2.6},
		// After joins streams.
		{"after", []schedule.Part{on(0, sms(1), kernel), on(1, sms(1), ring, 0)}, 1.4},
		// Nothing is marked: a launch of all, channels have a block each. The kernel is a stream, 50
		// waves of 8 blocks of 0.02 us. The ring leaves it 7 SMs: 0.4 + 0.02 · ⌈(400 − 20 · 7) / 8⌉.
		{"no marks", []schedule.Part{on(0, nil, ring), on(1, nil, kernelOf(t, 3, ""))}, 1.06},
		// Its own marks hold inside of a part.
		{"own marks", []schedule.Part{on(0, nil, kernelOf(t, 3, "launch(sms blocks=9)"))}, 2},
	}
	for _, tt := range tests {
		env := simtest.OnSwitch(t, 3, gbs, 0)
		env.Device = onGPU(t)
		for _, sharing := range []Sharing{Fluid, FIFO} {
			env.Sharing = sharing
			s := partsOf(t, 3, tt.parts...)
			r, err := Run(s, env, Options{Trace: true, Critical: true})
			require.NoError(t, err, tt.name)
			require.Equal(t, tt.want, float64(r.Time)/1e6, "%s, %v", tt.name, sharing)
			require.NoError(t, r.Trace.Validate())
			requirePath(t, r.Time, r.Critical)
		}
	}
}

// TestEventsBetweenParts: a part after another on its stream begins at its end, one on
// another stream an event later; the launches of both are there by then.
func TestEventsBetweenParts(t *testing.T) {
	for stream, want := range []unit.Time{2, 5} {
		env := simtest.OnSwitch(t, 3, gbs, 0)
		env.Device = onGPU(t, "event_latency 3 us")
		s := partsOf(t, 3, schedule.Part{Schedule: kernelOf(t, 3, ""), Launch: &schedule.Launch{}},
			schedule.Part{Schedule: kernelOf(t, 3, ""), Launch: &schedule.Launch{},
				Stream: int32(stream), After: []int{0}})
		r, err := Run(s, env, Options{Critical: true})
		require.NoError(t, err)
		require.Equal(t, want*unit.Microsecond, r.Time)
		requirePath(t, r.Time, r.Critical)
	}
}

// TestPlacesStall: a bracket whose blocks stay waits for a message of one that waits for its
// places; the error says who has them. On a device with more SMs both go on.
func TestPlacesStall(t *testing.T) {
	s := program(t, 2, `rank 0
lane 0
recv from 1/1 into out[0] launch(sms blocks=8)
lane 1
send in[0] to 1/0 launch(sms) @1
rank 1
lane 0
recv from 0/1 into out[0] launch(sms blocks=8)
lane 1
send in[0] to 0/0 launch(sms) @1
`)
	env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
	env.Device = onGPU(t)
	_, err := Run(s, env, Options{})
	require.EqualError(t, err, `4 lanes wait in a circle
  rank 0 lane 0 step 0  recv chunk 0  waits for a message from rank 1 lane 1
  rank 1 lane 1 step 0  send chunk 0  waits for places from rank 1 lane 0
  rank 1 lane 0 step 0  recv chunk 0  waits for a message from rank 0 lane 1
  rank 0 lane 1 step 0  send chunk 0  waits for places from rank 0 lane 0, above`)
	env.Device.GPU.SMs = 9
	r, err := Run(s, env, Options{})
	require.NoError(t, err)
	require.Equal(t, 1700*ns, r.Time)
}

// TestPipelineTakesItsKernels: where launches, overheads, copies and barriers cost nothing and
// links have no limit, a pipeline on two streams takes as long as its kernels, one after the
// other: each takes all SMs, and whatever is sent in between is there at once.
func TestPipelineTakesItsKernels(t *testing.T) {
	simtest.Law(t, 300, "a pipeline takes its kernels", func(t testing.TB, rng *rand.Rand) bool {
		env := simtest.OnSwitch(t, 3, unit.Unlimited, 0)
		env.Device, env.Sharing = onGPU(t), Sharing(rng.IntN(2))
		var parts []schedule.Part
		sum := unit.Time(0)
		add := func(s *schedule.Schedule, stream int32, mark schedule.Launch) {
			p := schedule.Part{Schedule: s, Stream: stream, Launch: &mark}
			if n := len(parts); n > 0 && rng.IntN(2) == 0 {
				p.After = []int{rng.IntN(n)}
			}
			parts = append(parts, p)
		}
		for i := range 1 + rng.Int32N(5) {
			kernel, waves := kernelOf(t, 3, ""), 1+rng.Int32N(3)
			add(kernel, i%2, schedule.Launch{Blocks: 8 * waves})
			sum += unit.Time(waves) * unit.Microsecond
			if engine := schedule.Engine(rng.IntN(2)); engine == schedule.SMs {
				add(ringOf(t, 2), (i+1)%2, schedule.Launch{Blocks: rng.Int32N(4)})
			} else {
				add(ringOf(t, 1), (i+1)%2, schedule.Launch{Engine: engine})
			}
		}
		r, err := Run(partsOf(t, 3, parts...), env, Options{Critical: true})
		require.NoError(t, err)
		require.Equal(t, sum, r.Time)
		requirePath(t, r.Time, r.Critical)
		return true
	})
}
