package event

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/schedule"
	"collsim/sim/model"
)

// TestTape: what is worked out from a tape is the log that a probe writes, but for its order:
// times, causes, what held a step, who received a message, blocks, counters.
func TestTape(t *testing.T) {
	runs, met, causes := tier.Raced(150, 300, 30_000), map[string]int{}, map[model.Awaited]int{}
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
				require.Equal(t, e.tape.heads[k].at, p.at+int32(r.forms[p.form].times), "%d", i)
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
		require.Equal(t, inOrder(want, &e.rules), inOrder(log, &e.rules), "%d: %v on %s, %v", i, s,
			env.Graph.Preset, env.Sharing)
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
var kindsOnTape = []string{"all", "fluid", "ahead", "far", "prompt", "framed",
	"segments", "prompt segments", "GPU", "GPU, fluid", "GPU, FIFO", "memory, fluid", "memory, FIFO",
	"engine", "kernel", "kernel that holds", "late wave", "idle wave", "launched", "shared wave"}

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
	for i := range log.Messages {
		isCut := e.rules.Segments(log.Messages[i].Bytes, false) > 1
		is["segments"] = is["segments"] || isCut
		is["prompt segments"] = is["prompt segments"] || isCut && is["prompt"]
	}
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

// inOrder is a log with the steps of one lane after those of another, and the messages of one step
// after those of another.
func inOrder(log *model.Log, rules *model.Rules) *model.Log {
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
		n := int64(r.To - r.From)
		if m.Pacer < model.CopyPace {
			n += rules.Segments(m.Bytes, false) - 1
		}
		o.Spans = append(o.Spans, log.Spans[from:][:n]...)
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
