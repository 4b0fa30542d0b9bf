package event

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/dtype"
	"collsim/internal/tier"
	"collsim/kernel"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestTape: what is worked out from a tape is the log that a probe writes, but for its order:
// times, causes, what held a step, who received a message, blocks, counters.
func TestTape(t *testing.T) {
	runs, met, causes := tier.Raced(150, 500, 30_000), map[string]int{}, map[model.Awaited]int{}
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 19))
		s, env := tapeCase(t, rng)
		if env.Validate(s) != nil {
			continue
		}
		isForPicture := rng.IntN(3) > 0
		want, log := model.NewLog(&env, isForPicture), model.NewLog(&env, isForPicture)
		e := newEngine(s, &env)
		if rng.IntN(4) > 0 || env.Sharing == model.Fluid {
			e.findSole()
		}
		if rng.IntN(2) == 0 {
			e.mostAhead = rng.IntN(8)
		}
		isTaped := e.startTape(log)
		rng.Shuffle(len(e.ready), func(i, j int) { e.ready[i], e.ready[j] = e.ready[j], e.ready[i] })
		if !isTaped || e.run() != nil {
			continue
		}
		tells := newEngine(s, &env)
		tells.logTo(want)
		require.NoError(t, tells.run())
		want.Read()
		require.Equal(t, tells.finished(), e.finished(), "%d", i)
		r := e.newReader(log)
		log.Later(func() model.Records { return r })
		log.Open()
		for k := range e.lanes { // all that there is room for has been written
			if last := log.Lanes[k].Last; last >= 0 {
				p := &r.steps[last]
				require.Equal(t, e.tape.heads[k].at, p.at+r.forms[p.form].onTape, "%d", i)
			}
		}
		steps, messages := []model.StepRecord{}, []model.MessageRecord{}
		for k := range want.Steps {
			steps = append(steps, log.Step(int32(k)))
		}
		for k := range want.Messages {
			messages = append(messages, log.Message(int32(k)))
		}
		log.Read()
		require.Equal(t, log.Steps, steps, "%d", i) // one by one they are the same
		for k, m := range log.Messages {
			m.To = -1
			require.Equal(t, m, messages[k], "%d", i)
		}
		require.Equal(t, inOrder(want), inOrder(log), "%d: %v on %s, %v", i, s, env.Graph.Preset,
			env.Sharing)
		for k := range log.Steps {
			causes[log.Steps[k].Awaited]++
		}
		for what, is := range metOnTape(e, &env, log) {
			if is {
				met[what]++
			}
		}
	}
	t.Logf("of %d runs on a tape: %v, causes %v", runs, met, causes)
	for c := range model.CopyEngine + 1 {
		if c != model.PostLeft {
			require.Greater(t, causes[c], runs/100, c)
		}
	}
	for _, what := range kindsOnTape {
		require.Greater(t, met[what], runs/60, what)
	}
}

// kindsOnTape is what TestTape has to meet.
var kindsOnTape = []string{"all", "fluid", "ahead", "far", "prompt", "framed", "GPU", "GPU, fluid",
	"GPU, FIFO", "memory, fluid", "memory, FIFO", "engine", "kernel", "kernel that holds", "late wave",
	"idle wave", "launched", "shared wave"}

// metOnTape is what a run on a tape, whose log has been read, has to do with.
func metOnTape(e *engine, env *model.Env, log *model.Log) map[string]bool {
	is := map[string]bool{"all": true, "fluid": e.isFluid, "ahead": e.isAhead,
		"far": len(e.tape.far) > 0}
	for l := range e.links {
		is["prompt"] = is["prompt"] || e.links[l].isPrompt
	}
	is["framed"] = e.rules.Schedule.AnyStep(func(s *schedule.Step) bool {
		return slices.ContainsFunc(s.Send, func(d schedule.Dest) bool {
			return d.Framing() != schedule.Bare
		})
	})
	if e.gpu == nil {
		return is
	}
	is["GPU"], is["GPU, fluid"], is["GPU, FIFO"] = true, e.isFluid, !e.isFluid
	is["launched"] = e.gpu.isLaunched
	for i := range log.Messages {
		m := &log.Messages[i]
		isWave := m.Pacer == model.BlockPace
		is["engine"] = is["engine"] || m.Pacer == model.EnginePace && m.Bytes > 0
		if m.Pacer >= model.CopyPace {
			is["memory, fluid"], is["memory, FIFO"] = e.isFluid, !e.isFluid
		}
		is["shared wave"] = is["shared wave"] || isWave && log.Spans[m.Spans] > 0
	}
	for i := range log.Steps {
		s := &log.Steps[i]
		is["kernel"] = is["kernel"] || s.Dispatched
		if s.Computes && !s.Dispatched && s.End > s.Done {
			is["kernel that holds"] = true
		}
	}
	for i := range e.tape.waves {
		w := &e.tape.waves[i]
		is["late wave"] = is["late wave"] || i > 0 && e.tape.waves[i-1].of == w.of
		is["idle wave"] = is["idle wave"] || w.bytes == 0
	}
	return is
}

// tapeCase is a random run of a kind of which there is a tape, but for some.
func tapeCase(t testing.TB, rng *rand.Rand) (*schedule.Schedule, model.Env) {
	s, env := aheadCase(t, rng)
	isMarked := false
	switch rng.IntN(4) {
	case 0, 1:
		s = exchanges(t, rng, s.Spec.Ranks)
		isMarked = s.Spec.Type == dtype.Int8
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
		s, env.Sharing = simtest.Build(t, p), model.Sharing(rng.IntN(3)/2)
	}
	if env.Switching = model.CutThrough; env.Sharing == model.FIFO {
		env.Switching = model.Switching(rng.IntN(2))
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
				env.Switching = model.CutThrough
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

// inOrder is a log with the steps of one lane after those of another, and the messages of one step
// after those of another.
func inOrder(log *model.Log) *model.Log {
	steps := make([]int32, len(log.Steps)) // in order
	for i := range steps {
		steps[i] = int32(i)
	}
	slices.SortStableFunc(steps, func(a, b int32) int {
		return cmp.Compare(log.Steps[a].Lane, log.Steps[b].Lane)
	})
	step := places(steps)
	messages := make([]int32, len(log.Messages))
	for i := range messages {
		messages[i] = int32(i)
	}
	slices.SortStableFunc(messages, func(a, b int32) int {
		return cmp.Compare(step(log.Messages[a].Step), step(log.Messages[b].Step))
	})
	message := places(messages)
	o := *log
	o.Steps, o.Messages, o.Spans, o.Details = nil, nil, nil, nil
	for _, i := range steps {
		s := log.Steps[i]
		if s.Held = message(s.Held); s.Awaited == model.Arrival {
			s.By = message(s.By)
		} else {
			s.By = step(s.By)
		}
		o.Steps = append(o.Steps, s)
		if log.Details != nil {
			o.Details = append(o.Details, log.Details[i])
		}
	}
	for _, i := range messages {
		m := log.Messages[i]
		from := m.Spans
		m.Step, m.To, m.By = step(m.Step), step(m.To), message(m.By)
		m.Spans = int64(len(o.Spans))
		r := &log.Network.Routes[m.Route]
		m.Route = r.Src<<16 | r.Dst
		o.Messages = append(o.Messages, m)
		o.Spans = append(o.Spans, log.Spans[from:][:r.To-r.From]...)
	}
	o.Lanes = slices.Clone(log.Lanes)
	for i := range o.Lanes {
		o.Lanes[i].Last = step(o.Lanes[i].Last)
	}
	o.Network, o.Counters = nil, nil // the former numbers its routes as it comes to them
	o.Brackets = slices.Clone(log.Brackets)
	slices.SortFunc(o.Brackets, func(a, b model.BracketRecord) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Begin, b.Begin),
			cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	for i := range log.Counters {
		o.Counters = append(o.Counters, model.Counter{Samples: log.Counters[i].Samples})
	}
	return &o
}

// places says where in a list a number is; −1 is none.
func places(list []int32) func(int32) int32 {
	at := make([]int32, len(list))
	for i, x := range list {
		at[x] = int32(i)
	}
	return func(x int32) int32 {
		if x < 0 {
			return -1
		}
		return at[x]
	}
}
