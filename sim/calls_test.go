package sim

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/event"
	"collsim/sim/simtest"
	"collsim/unit"
)

// looped is a schedule of which every rank does all so many times, in lanes of its own program: the
// lanes of a rank wait for one another between two calls. Nothing of this is how calls in a row are
// simulated.
func looped(t testing.TB, s *schedule.Schedule, calls int) (once, whole *schedule.Schedule) {
	t.Helper()
	lanes := make([]int, s.Spec.Ranks)
	written := make([][][]schedule.Step, len(lanes))
	for rank := range lanes {
		lanes[rank] = s.Program(rank).Lanes()
		written[rank] = make([][]schedule.Step, lanes[rank])
	}
	once = simtest.Rewritten(t, s, func(rank, lane int, step schedule.Step, add func(schedule.Step)) {
		add(step)
		step.Await = slices.Clone(step.Await) // which a schedule keeps
		written[rank][lane] = append(written[rank][lane], step)
	})
	posts := func(rank, lane int) (n int32) { // of a call; the last step posts in any case
		steps := written[rank][lane]
		for i := range steps {
			if steps[i].Post || i == len(steps)-1 {
				n++
			}
		}
		return n
	}
	whole, err := schedule.Assemble(schedule.Schedule{Name: s.Name, Spec: s.Spec, Cuts: s.Cuts,
		Memory: s.Memory, Slots: s.Slots, Slices: s.Slices}, lanes,
		func(rank, lane int, add func(schedule.Step)) {
			steps := written[rank][lane]
			for call := range int32(calls) {
				for i, step := range steps {
					var awaits []schedule.Event
					for _, e := range step.Await {
						if e.Value > 0 {
							awaits = append(awaits, schedule.Event{Lane: e.Lane,
								Value: e.Value + call*posts(rank, int(e.Lane))})
						}
					}
					for other := range lanes[rank] {
						if n := posts(rank, other); i == 0 && call > 0 && n > 0 && other != lane {
							awaits = append(awaits, schedule.Event{Lane: int32(other), Value: call * n})
						}
					}
					step.Await, step.Post = awaits, step.Post || i == len(steps)-1
					add(step)
				}
			}
		})
	require.NoError(t, err)
	return once, whole
}

// rankEnds is when the last lane of each rank ends; −1 of a rank without steps.
func rankEnds(s *schedule.Schedule, lanes []unit.Time) (ends []unit.Time) {
	for rank := range s.Spec.Ranks {
		end, p := unit.Time(-1), s.Program(rank)
		for lane := range p.Lanes() {
			if at := p.Walk(lane); !at.Done() {
				end = max(end, lanes[lane])
			}
		}
		ends, lanes = append(ends, end), lanes[p.Lanes():]
	}
	return ends
}

// TestCallsAsALoop: calls in a row take what one schedule takes in which every rank does the same
// so many times, on networks and devices of every kind, or stall as it does.
func TestCallsAsALoop(t *testing.T) {
	stalls, overlaps := 0, 0
	simtest.Law(t, 3000, "calls are a loop", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Schedule(rng, rng.IntN(8) == 0)
		if rng.IntN(2) == 0 { // of loops, whose steps are kept
			s = simtest.Build(t, simtest.VariedRing(rng, 2+rng.IntN(6)))
		}
		env := simtest.Env(t, rng, s.Spec.Ranks)
		env.Device.EagerLimit = 0 // receives are not posted for the next call
		env.Device.Launch = 0     // of which a loop has one
		if env.Sharing == Fluid && rng.IntN(3) == 0 {
			// Without costs of launches, nor of memory. Under FIFO the blocks of the next call get
			// their places after what asks for links at that time, which a loop need not wait for.
			simtest.GPU(rng, &env)
			env.Device.Launch, env.Device.GPU.LaunchLatency, env.Device.GPU.HBM = 0, 0, 0
		}
		calls := 1 + rng.IntN(4)
		s, whole := looped(t, s, calls)
		want, stalled := Run(whole, env, Options{})
		ends, complete, err := event.Calls(s, &env, event.Row{Calls: calls, Messages: 1 << 40,
			Enough: func([][]unit.Time, int) bool { return false }})
		var stall *schedule.StallError
		if errors.As(stalled, &stall) {
			stalls++
			return errors.As(err, &stall)
		}
		require.NoError(t, stalled)
		require.NoError(t, err)
		one, err := Run(s, env, Options{})
		require.NoError(t, err)
		for rank, end := range rankEnds(whole, want.LaneEnd) {
			switch {
			case end < 0 != (ends[rank] == nil), end >= 0 && (len(ends[rank]) != calls ||
				ends[rank][calls-1] != end):
				t.Logf("rank %d, %d calls: %v, a loop %v", rank, calls, ends[rank], end)
				return false
			case end >= 0 && calls > 1 && ends[rank][0] < one.Time:
				overlaps++
			}
		}
		return complete == calls || want.Steps == 0
	})
	require.Greater(t, stalls, tier.Raced(1, 2, 50))
	require.Greater(t, overlaps, tier.Raced(10, 30, 400))
}

// TestPeriodOfOne: where it is said that a call alone tells the period, calls in a row have it.
func TestPeriodOfOne(t *testing.T) {
	told := 0
	simtest.Law(t, 3000, "a call alone tells the period", func(t testing.TB, rng *rand.Rand) bool {
		s := simtest.Symmetric(t, rng, false)
		env := simtest.SymmetricEnv(t, rng, s.Spec.Ranks)
		if rng.IntN(4) > 0 { // or else nothing is to be told, most likely
			env.Start, env.Slowdown, env.Device.SlotLatency = nil, nil, 0
		}
		switch d := &env.Device; rng.IntN(12) {
		case 0:
			d.Offload, d.Queue = true, 1+rng.IntN(3)
		case 1:
			d.SendBuffer = 100
		case 2:
			d.EagerLimit, d.ReceivesAhead = 100, rng.IntN(2)
		}
		o := CallsOptions{Calls: 4, Messages: 1 << 40}
		if rng.IntN(3) == 0 {
			simtest.GPU(rng, &env)
		}
		alone, err := Run(s, env, Options{Folded: rng.IntN(2) == 0})
		if stall := (*schedule.StallError)(nil); errors.As(err, &stall) {
			return true
		}
		require.NoError(t, err)
		period, ok := periodOf(s, &env, &alone.Totals)
		if !ok {
			return true
		}
		told++
		ends, _, err := event.Calls(s, &env, event.Row{Calls: o.Calls, Messages: o.Messages,
			Enough: func([][]unit.Time, int) bool { return false }})
		require.NoError(t, err)
		for rank, of := range ends {
			for call := range of {
				if want := alone.Time + period*unit.Time(call); of[call] != want {
					t.Logf("rank %d: %v, not %v", rank, of, want)
					return false
				}
			}
		}
		return true
	})
	require.Greater(t, told, tier.Raced(10, 30, 400))
}

// inRow simulates calls of a schedule without asking what one alone tells.
func inRow(t *testing.T, s *schedule.Schedule, env Env, calls int) (ends [][]float64) {
	t.Helper()
	all, _, err := event.Calls(s, &env, event.Row{Calls: calls, Messages: 1 << 40,
		Enough: func([][]unit.Time, int) bool { return false }})
	require.NoError(t, err)
	for _, of := range all {
		var in []float64
		for _, end := range of {
			in = append(in, float64(end)/1000)
		}
		ends = append(ends, in)
	}
	return ends
}

// TestCallsInNanoseconds: rank 0 sends 100 bytes, which take 100 ns on the first link, to rank 1,
// and so on to rank 2 over a link of 0.5 GB/s, 200 ns; latencies are 100 ns.
func TestCallsInNanoseconds(t *testing.T) {
	s := written(t, 3, `
rank 0
  lane 0
    send in[0] to 1
rank 1
  lane 0
    recvCopySend from 0 into out[0] to 2
rank 2
  lane 0
    recv from 1 into out[0]`)
	env := wires(t, "gpu0->gpu1", "gpu1->gpu2 0.5 GB/s, 100 ns", "gpu2->gpu0")
	for _, sharing := range []Sharing{Fluid, FIFO} {
		env.Sharing = sharing
		// Rank 0 ends call i at 100i, rank 1 has it at 200 + 200i and rank 2 at 500 + 200(i − 1).
		env.Slots = 8
		require.Equal(t, [][]float64{{100, 200, 300, 400}, {400, 600, 800, 1000}, {500, 700, 900, 1100}},
			inRow(t, s, env, 4))
		// Slots stay from call to call: with one, rank 0 sends again when rank 1 has sent on, so that
		// a call takes 100 + 100 + 200.
		env.Slots = 1
		require.Equal(t, [][]float64{{100, 500, 900, 1300}, {400, 800, 1200, 1600},
			{500, 900, 1300, 1700}}, inRow(t, s, env, 4))
	}
	// Every call costs the launch of 50 ns on each rank.
	env.Slots, env.Device.Launch = 8, 50*ns
	require.Equal(t, [][]float64{{150, 300, 450, 600}, {450, 700, 950, 1200}, {550, 800, 1050, 1300}},
		inRow(t, s, env, 4))

	alone, err := Run(s, env, Options{})
	require.NoError(t, err)
	row, err := Calls(s, env, CallsOptions{Calls: 20, Messages: 1 << 40}, &alone.Totals)
	require.NoError(t, err)
	require.True(t, row.Repeats)
	require.Equal(t, 250*ns, row.Period)
	require.Len(t, row.Ends, 3)
	require.Equal(t, 550*ns, row.Loop(1))
	require.Equal(t, (550+19*250)*ns, row.Loop(20))
	for _, messages := range []int64{5, 6} { // of three calls, and of what rank 0 has sent meanwhile
		row, err = Calls(s, env, CallsOptions{Calls: 20, Messages: messages}, &alone.Totals)
		require.NoError(t, err)
		require.Nil(t, row)
	}
}

// TestCallsOnAGPU: every call costs the launch of 60 ns; the host of a GPU launches calls ahead,
// so that the latency of a launch, 40 ns, is seen in the first alone. A call takes 200 ns besides.
func TestCallsOnAGPU(t *testing.T) {
	s := written(t, 2, `
rank 0
  lane 0
    send in[0] to 1
    recv from 1 into out[1]
rank 1
  lane 0
    send in[1] to 0
    recv from 0 into out[0]`)
	env := wires(t, "gpu0->gpu1", "gpu1->gpu0")
	d := &env.Device
	d.GPU.SMs, d.GPU.BlocksPerSM = 4, 1
	d.Launch, d.GPU.LaunchLatency = 60*ns, 40*ns
	ends := []float64{300, 560, 820}
	require.Equal(t, [][]float64{ends, ends}, inRow(t, s, env, 3))
	alone, err := Run(s, env, Options{})
	require.NoError(t, err)
	row, err := Calls(s, env, CallsOptions{Calls: 20, Messages: 1}, &alone.Totals)
	require.NoError(t, err)
	require.Equal(t, 260*ns, row.Period)
	require.Equal(t, (300+19*260)*ns, row.Loop(20))
}
