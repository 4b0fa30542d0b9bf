package event

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// tapeCase is a random run of a kind of which there is a tape, but for some.
func tapeCase(t testing.TB, rng *rand.Rand) (*schedule.Schedule, model.Env) {
	s, env := aheadCase(t, rng)
	isMarked := false
	switch rng.IntN(4) {
	case 0, 1:
		s = exchanges(t, rng, s.Spec.Ranks)
		isMarked = s.Spec.Type == dtype.Int8
		if rng.IntN(3) == 0 { // of several links a way
			g, err := simtest.Network("ring", s.Spec.Ranks, simtest.GBs, 100*unit.Nanosecond)
			require.NoError(t, err)
			env.Graph = g
		}
		if rng.IntN(6) == 0 {
			s = simtest.Rewritten(t, s, func(_, _ int, step schedule.Step, add func(schedule.Step)) {
				for k := range step.Send {
					d, kind := &step.Send[k], rng.IntN(4)
					d.Packet, d.Line, d.Relaxed = kind == 0, kind == 1, kind == 2
				}
				add(step)
			})
		}
	case 2: // with links for itself, more often than not
		p := simtest.RingPlan(s.Spec.Ranks, 1+rng.Int64N(20_000))
		p.Slices, p.Slots = 1+rng.IntN(3), rng.IntN(6)
		if rng.IntN(3) == 0 { // steps are alike, and start evenly once the slowest is waited for
			ranks := 8 + rng.IntN(8)
			p = simtest.RingPlan(ranks, int64(ranks*p.Slices*(1+rng.IntN(100))))
			even := simtest.OnSwitch(t, ranks, simtest.GBs, 100*unit.Nanosecond)
			even.Graph.Links()[0].Bandwidth /= 1 + unit.Rate(rng.IntN(3))
			if even.Sharing = model.Sharing(rng.IntN(2)); even.Sharing == model.FIFO {
				even.Switching = model.Switching(rng.IntN(2))
			}
			return simtest.Build(t, p), even
		}
		s, env.Sharing = simtest.Build(t, p), model.Sharing(rng.IntN(3)/2)
		if rng.IntN(2) == 0 {
			env.Sharing, env.Device.LaneRate = model.FIFO, unit.Unlimited
			env.Segment = unit.Bytes(50 + rng.IntN(1<<12))
			odd := simtest.GBs - unit.Rate(rng.IntN(1<<20))
			for l := range env.Graph.Links() { // so that times are rounded
				env.Graph.Links()[l].Bandwidth = odd + unit.Rate(rng.IntN(1<<10)*rng.IntN(2))
			}
			if rng.IntN(3) == 0 {
				env.Device.LaneRate = odd - unit.Rate(rng.IntN(1<<10))
			}
		}
	}
	if env.Switching = model.CutThrough; env.Sharing == model.FIFO {
		if rng.IntN(3) == 0 {
			env.Segment = unit.Bytes(50 + rng.IntN(1<<rng.IntN(13)))
		}
		env.Switching = model.Switching(rng.IntN(3) / 2)
	}
	isSlow := rng.IntN(2) == 0
	for l := range env.Graph.Links() {
		if link := &env.Graph.Links()[l]; isSlow && rng.IntN(6) == 0 {
			link.Bandwidth = max(link.Bandwidth/[]unit.Rate{2, 1000}[rng.IntN(2)], 1)
		}
	}
	if isMarked || rng.IntN(4) == 0 {
		if simtest.GPU(rng, &env); isMarked {
			g := &env.Device.GPU // blocks and brackets are in the way of others
			g.SMs, g.CopyEngines = 1+rng.IntN(6), 1
			if env.Sharing = model.Sharing(rng.IntN(2)); env.Sharing == model.Fluid {
				env.Switching, env.Segment = model.CutThrough, 0
			}
			if rng.IntN(2) == 0 {
				g.HBM = simtest.GBs
			}
			if rng.IntN(3) == 0 {
				env.Device.Own = device.Message{Latency: unit.Nanosecond, Efficiency: 500_000}
			}
			s = withKernels(t, rng, s)
		}
	}
	return s, env
}

// wayCase is a random run of any kind, on a device that mostly goes on before what it sends has
// left, or asks for large messages.
func wayCase(t testing.TB, rng *rand.Rand) (*schedule.Schedule, model.Env) {
	switch rng.IntN(12) {
	case 0:
		return spreads(t, rng)
	case 1: // bodies of several steps, whatever these are
		s := simtest.Tied(t, rng)
		return s, simtest.TiedEnv(t, rng, s.Spec.Ranks)
	}
	s, env := tapeCase(t, rng)
	if rng.IntN(4) > 0 {
		s = simtest.Schedule(rng, false)
		if env = simtest.Env(t, rng, s.Spec.Ranks); rng.IntN(3) > 0 {
			s = simtest.Fused(t, simtest.Extended(t, rng, s, env.Graph))
		}
	}
	d := &env.Device
	switch rng.IntN(4) {
	case 0:
		d.Offload, d.SendBuffer, d.Queue = true, 0, 1+rng.IntN(4)
	case 1, 2:
		d.Offload, d.SendBuffer = false, unit.Bytes(1+rng.IntN(1<<rng.IntN(14)))
		if rng.IntN(2) == 0 { // as much as some messages have together
			d.SendBuffer = unit.Bytes(100 * (1 + rng.IntN(20)))
		}
	}
	if rng.IntN(2) == 0 {
		d.EagerLimit, d.ReceivesAhead = unit.Bytes(1+rng.IntN(1000)), rng.IntN(4)
	}
	if rng.IntN(3) == 0 {
		env.Sharing, env.Switching, env.Segment = model.Fluid, model.CutThrough, 0
	}
	if rng.IntN(3) == 0 {
		s = simtest.Rewritten(t, s, func(_, _ int, step schedule.Step, add func(schedule.Step)) {
			add(step)
			if rng.IntN(8) == 0 {
				add(schedule.Step{Flush: true})
			}
		})
	}
	if env.Device.GPU.SMs == 0 && rng.IntN(4) == 0 {
		simtest.GPU(rng, &env)
	}
	return s, env
}

// spreads is a run of loops of few steps, of which one sends to several ranks, and of signals, on
// links that a lane mostly has for itself.
func spreads(t testing.TB, rng *rand.Rand) (*schedule.Schedule, model.Env) {
	ranks, times := 5+rng.IntN(4), 1+rng.IntN(12)
	peers, signal := rng.IntN(3), rng.IntN(3) // 0: in no turn, 1: in each, 2: before all
	s := simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(ranks, 1000), Chunks: ranks,
		Group: schedule.Group{int32(ranks)}, Slices: 1 + rng.IntN(2), Slots: rng.IntN(3),
		Lane: func(l *schedule.Lane) {
			for i := range times {
				if signal == 1 || signal == 2 && i == 0 {
					l.Signal(l.Rank + 1)
					l.Wait(l.Rank - 1)
				}
				to := []int{l.Rank + 1, l.Rank + 2, l.Rank + 4}[:1+peers]
				l.Combine(nil, to, l.Local(l.In(i)))
				for _, peer := range to {
					l.Recv(2*l.Rank-peer, l.Out(i))
				}
			}
		}})
	g, err := simtest.Network([]string{"full-mesh", "switch"}[rng.IntN(2)], ranks, simtest.GBs,
		100*unit.Nanosecond)
	require.NoError(t, err)
	env := model.Env{Graph: g, Device: device.Ideal(), Sharing: model.Sharing(rng.IntN(2))}
	return s, env
}

// withKernels is a schedule of exchanges with kernels, and mostly with brackets. Blocks that stay
// may wait for one another, but seldom do.
func withKernels(t testing.TB, rng *rand.Rand, s *schedule.Schedule) *schedule.Schedule {
	isMarked, often := rng.IntN(4) > 0, 2+rng.IntN(8)
	sum, err := kernel.Parse("add 100 int8+int8->int8")
	require.NoError(t, err)
	cast, err := kernel.Parse("cast 100 int8->int8") // takes no time but its memory's
	require.NoError(t, err)
	mark := func(engine schedule.Engine) *schedule.Launch {
		m := &schedule.Launch{Engine: engine, Graph: max(0, rng.Int32N(5)-2), Priority: rng.Int32N(2)}
		if m.Engine == schedule.SMs {
			m.Blocks, m.PerSM = max(rng.Int32N(6)-3, 0), rng.Int32N(4)
		}
		return m
	}
	isOnSMs := map[[2]int]bool{}
	type writer = func(schedule.Step)
	return simtest.Rewritten(t, s, func(rank, lane int, step schedule.Step, add writer) {
		at := [2]int{rank, lane}
		if isMarked && rng.IntN(often) == 0 {
			step.Launch = mark(schedule.Engine(rng.IntN(3)))
			isOnSMs[at] = step.Launch.Engine == schedule.SMs
		}
		if rng.IntN(often) > 0 || s.Slices > 1 {
			add(step)
			return
		}
		to := schedule.Region{First: rng.Int32N(100), Run: 1, Times: 1}
		from := to
		to.Buffer = schedule.Output
		computes := schedule.Step{Kernel: &sum, To: []schedule.Region{to},
			From: []schedule.Source{{Region: from}, {Region: to}}}
		switch rng.IntN(4) {
		case 0:
			computes.Kernel, computes.From = &cast, computes.From[:1]
		case 1:
			computes = schedule.Step{Kernel: schedule.Opaque(unit.Time(1 + rng.IntN(300_000)))}
		}
		if isMarked && (!isOnSMs[at] || rng.IntN(2) == 0) {
			computes.Launch, isOnSMs[at] = mark(schedule.SMs), true
		}
		if computes.Post = rng.IntN(6) == 0; rng.IntN(2) == 0 {
			add(step)
			add(computes)
			return
		}
		computes.Await, step.Await, step.Launch = step.Await, nil, nil
		add(computes)
		add(step)
	})
}

// exchanges is a random schedule of messages between lanes, some of which wait for others of their
// rank.
func exchanges(t testing.TB, rng *rand.Rand, ranks int) *schedule.Schedule {
	lanes := 1 + rng.IntN(3)
	steps, posted := make([][]func(*schedule.Lane), ranks*lanes), make([]int, ranks*lanes)
	add := func(rank, lane int, step func(*schedule.Lane)) {
		other, value, posts := rng.IntN(lanes), 0, rng.IntN(3) == 0
		if n := posted[rank*lanes+other]; other != lane && n > 0 && rng.IntN(2) == 0 {
			value = 1 + rng.IntN(n)
		}
		if posts {
			posted[rank*lanes+lane]++
		}
		steps[rank*lanes+lane] = append(steps[rank*lanes+lane], func(l *schedule.Lane) {
			if value > 0 {
				l.After(other, value)
			}
			if step(l); posts {
				l.Post()
			}
		})
	}
	for range rng.IntN(60) {
		at, n, from, to := rng.IntN(80), 1+rng.IntN(20), rng.IntN(lanes), rng.IntN(lanes)
		peers := rng.Perm(ranks)[:2+rng.IntN(min(ranks, 4)-1)]
		add(peers[0], from, func(l *schedule.Lane) {
			l.Facing(to)
			l.Combine(nil, peers[1:], l.Local(l.In(at).Blocks(n)))
		})
		for _, peer := range peers[1:] {
			add(peer, to, func(l *schedule.Lane) {
				l.Facing(from)
				l.Recv(peers[0], l.Out(at).Blocks(n))
			})
		}
		add(peers[1], from, func(l *schedule.Lane) { l.Copy(l.Out(at), l.In(at)) })
	}
	spec := simtest.AllReduce(ranks, 10_000)
	if rng.IntN(2) == 0 {
		spec.Type = dtype.Int8
	}
	return simtest.Build(t, schedule.Plan{Spec: spec, Chunks: 100,
		Lanes: lanes, Slices: max(rng.IntN(6)-2, 1), Slots: rng.IntN(4), Lane: func(l *schedule.Lane) {
			for _, step := range steps[l.Rank*lanes+l.Index] {
				step(l)
			}
		}})
}
