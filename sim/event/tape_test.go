package event

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/sim/simtest"
	"collsim/unit"
)

// TestTape: what is worked out from a tape is the log that a probe writes, but for its order:
// times, causes, what held a step, who received a message, blocks, counters.
func TestTape(t *testing.T) {
	runs, taped, fluid, ahead, causes := tier.Raced(100, 250, 20_000), 0, 0, 0, map[model.Awaited]int{}
	far, prompt := 0, 0
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 19))
		s, env := aheadCase(t, rng)
		switch rng.IntN(4) {
		case 0, 1:
			s = exchanges(t, rng, s.Spec.Ranks)
			if rng.IntN(6) == 0 { // of which no tape tells
				s = simtest.Rewritten(t, s, func(_, _ int, step schedule.Step, add func(schedule.Step)) {
					for k := range step.Send {
						step.Send[k].Packet = true
					}
					add(step)
				})
			}
		case 2: // with links for itself, more often than not
			p := simtest.RingPlan(s.Spec.Ranks, 1+rng.Int64N(20_000))
			p.Slices, p.Slots = 1+rng.IntN(3), rng.IntN(6)
			s, env.Sharing = simtest.Build(t, p), model.Sharing(rng.IntN(3)/2)
		}
		env.Switching = model.Switching(rng.IntN(2))
		for l := range env.Graph.Links() {
			if link := &env.Graph.Links()[l]; i%2 == 0 && rng.IntN(6) == 0 {
				link.Bandwidth = max(link.Bandwidth/[]unit.Rate{2, 1000}[rng.IntN(2)], 1)
			}
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
		isTaped := e.startTape()
		rng.Shuffle(len(e.ready), func(i, j int) { e.ready[i], e.ready[j] = e.ready[j], e.ready[i] })
		if !isTaped || e.run() != nil {
			continue
		}
		taped++
		if env.Sharing == model.Fluid {
			fluid++
		}
		if e.isAhead {
			ahead++
		}
		far += min(len(e.tape.far), 1)
		tells := newEngine(s, &env)
		tells.logTo(want)
		require.NoError(t, tells.run())
		want.Read()
		require.Equal(t, tells.finished(), e.finished(), "%d", i)
		for l := range e.links {
			if e.links[l].isPrompt {
				prompt++
				break
			}
		}
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
	}
	t.Logf("%d of %d on a tape, %d of them fluid, %d ahead, %d with times that are far, %d with "+
		"links that nobody waits for, causes %v", taped, runs, fluid, ahead, far, prompt, causes)
	for _, c := range []model.Awaited{model.StepBefore, model.Arrival, model.FreeSlot,
		model.EventPost} {
		require.Greater(t, causes[c], runs/20, c)
	}
	for what, n := range map[string]int{"taped": taped / 3, "fluid": 2 * fluid, "ahead": ahead,
		"far": far, "prompt": prompt} {
		require.Greater(t, n, runs/20, what)
	}
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
	return simtest.Build(t, schedule.Plan{Spec: simtest.AllReduce(ranks, 10_000), Chunks: 100,
		Lanes: lanes, Slices: 1 + rng.IntN(3), Slots: rng.IntN(4), Lane: func(l *schedule.Lane) {
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
