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
	"collsim/unit"
)

// TestLog: what is worked out from a compact log is the log that a probe writes, but for its order:
// times, causes, what held a step, who received a message, blocks, counters. Once of messages that
// have no times but their links', and once of all others.
func TestLog(t *testing.T) {
	testLog(t, 21, kindsLogged, logCase)
}

func TestLogByWay(t *testing.T) {
	testLog(t, 29, kindsByWay, wayCase)
}

// testLog compares the logs of random runs, which have to meet so many kinds of things.
func testLog(t *testing.T, seed uint64, kinds []string,
	draw func(testing.TB, *rand.Rand) (*schedule.Schedule, model.Env)) {
	runs, met, causes := tier.Raced(140, 140, 3_000), map[string]int{}, map[model.Awaited]int{}
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), seed))
		s, env := draw(t, rng)
		if env.Validate(s) != nil {
			continue
		}
		isForPicture := rng.IntN(3) > 0
		want, log := model.NewLog(&env, isForPicture), model.NewLog(&env, isForPicture)
		e := newEngine(s, &env)
		if rng.IntN(4) > 0 || env.Sharing == model.Fluid {
			e.findUncontended()
		}
		if rng.IntN(2) == 0 {
			e.conns.mostAhead = rng.IntN(8)
		}
		e.startLog(log)
		shuffle(rng, e.lanes.ready)
		if e.run() != nil {
			continue
		}
		tells := newEngine(s, &env)
		tells.logTo(want)
		require.NoError(t, tells.run())
		want.Read()
		require.Equal(t, tells.finished(), e.finished(), "%d", i)
		name := fmt.Sprintf("%d: %v on %s, %v", i, s, env.Graph.Preset, env.Sharing)
		entries, isEven := entriesOf(&e.log), len(e.log.evenly) > 0 ||
			slices.ContainsFunc(e.log.heads, isCounted)
		readsTheSame(t, e, log, want, name)
		for kind, n := range entries {
			met[kind] += min(n, 1)
		}
		for k := range log.Steps {
			causes[log.Steps[k].Awaited]++
		}
		for what, is := range metInLog(e, &env, log, isEven) {
			if is {
				met[what]++
			}
		}
	}
	t.Logf("of %d logged runs: %v, causes %v", runs, met, causes)
	for _, what := range kinds {
		require.Greater(t, met[what], runs/60, what)
	}
	for c := range model.CopyEngine + 1 {
		if isByWay := met["posted"] > 0; (c <= model.PostLeft) == isByWay || c < model.PostLeft {
			require.Greater(t, causes[c], runs/100, c)
		}
	}
}

// readsTheSame requires that the log of a run is the one that is wanted.
func readsTheSame(t *testing.T, e *engine, log, want *model.Log, name string) {
	r := newReader(e, log)
	log.Later(func() model.Records { return r })
	log.Open()
	steps, messages := []model.StepRecord{}, []model.MessageRecord{}
	for k := range want.Steps {
		steps = append(steps, log.Step(int32(k)))
	}
	for k := range want.Messages {
		messages = append(messages, log.Message(int32(k)))
	}
	log.Read()
	require.Equal(t, log.Steps, steps, name) // one by one they are the same
	for k, m := range log.Messages {
		m.To = -1
		require.Equal(t, m, messages[k], name)
	}
	require.Equal(t, inOrder(want, &e.rules), inOrder(log, &e.rules), name)
}

// kindsLogged lists the kinds of waiting and of entries that TestLog has to meet.
var kindsLogged = []string{"all", "several messages", "first link", "second link", "third link",
	"further link", "fluid", "ahead", "far", "evenly", "prompt", "framed",
	"segments", "prompt segments", "GPU", "GPU, fluid", "GPU, FIFO", "memory, fluid", "memory, FIFO",
	"engine", "kernel", "kernel that holds", "late wave", "idle wave", "launched", "shared wave"}

// kindsByWay is what TestLogByWay has to meet.
var kindsByWay = []string{"all", "fluid",
	"posted", "posted, fluid", "buffered", "buffered, fluid", "full buffer", "full buffer, fluid",
	"asked for", "asked for, fluid", "answered late", "posted ahead", "after an event", "get", "put",
	"multimem, FIFO", "multimem, fluid", "load", "behind puts", "in a stream", "flush", "unsized",
	"GPU, by way", "segments, by way", "request, first link", "request, further link",
	"answer, first link", "answer, further link"}

// entriesOf counts the entries of a compact log.
func entriesOf(t *writer) map[string]int {
	names := map[entryKind]string{aMessage: "several messages", aRequest: "request, first link",
		aRequest + 1: "request, further link", anAnswer: "answer, first link",
		anAnswer + 1: "answer, further link", aPacket: "first link", aPacket + 1: "second link",
		aPacket + 2: "third link", aPacket + 3: "further link"}
	n := map[string]int{}
	for _, page := range append(slices.Clone(t.pages), t.page) {
		for _, x := range page {
			kind, _ := x.belongs()
			n[names[kind]]++
		}
	}
	return n
}

// metInLog is what a logged run, whose log has been read, has to do with.
func metInLog(e *engine, env *model.Env, log *model.Log, isEven bool) map[string]bool {
	is := map[string]bool{"all": true, "fluid": e.isFluid, "ahead": e.links.isAhead(),
		"far": len(e.log.bases) > 0, "evenly": isEven}
	for l := range e.links.len() {
		is["prompt"] = is["prompt"] || e.links.at(l).isPrompt
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
	metByWay(is, e, log)
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
	for i := range e.log.waves {
		w := &e.log.waves[i]
		is["late wave"] = is["late wave"] || i > 0 && e.log.waves[i-1].of == w.of
		is["idle wave"] = is["idle wave"] || w.bytes == 0
	}
	return is
}

// metByWay adds what messages have to do with that have room for themselves.
func metByWay(is map[string]bool, e *engine, log *model.Log) {
	if !e.log.byWay {
		return
	}
	d := &e.rules.Device
	add := func(what string) {
		if is[what] = true; e.isFluid {
			is[what+", fluid"] = true
		}
	}
	is["GPU, by way"], is["segments, by way"] = e.gpu != nil, is["segments"]
	is["unsized"] = e.rules.Schedule.AnyStep(func(s *schedule.Step) bool {
		return len(s.To) == 0 && len(s.From) > 0 && !slices.ContainsFunc(s.From,
			func(f schedule.Source) bool { return f.Kind != schedule.Message })
	})
	for i := range log.Steps {
		s := &log.Steps[i]
		if s.IsHandover && d.Offload {
			add("posted")
		} else if s.IsHandover {
			add("buffered")
		} else if s.Held >= 0 && log.Messages[s.Held].To < 0 && d.SendBuffer > 0 && !d.Offload &&
			log.Messages[s.Held].Peers > 0 && log.Network.Routes[log.Messages[s.Held].Route].Tree < 0 {
			add("full buffer")
		}
		is["flush"] = is["flush"] || s.Awaited == model.PostLeft && !d.Offload
	}
	for i := range log.Messages {
		m := &log.Messages[i]
		if m.Kind == model.AskedFor {
			add("asked for")
		}
		if m.Kind == model.AnsweredLate {
			is["answered late"] = true
			if to := &log.Messages[i+1]; m.Step >= 0 && log.Steps[m.Step].Lane != log.Steps[to.To].Lane {
				is["after an event"] = true
			}
			is["posted ahead"] = is["posted ahead"] || d.ReceivesAhead > 0
		}
		isTree := log.Network.Routes[m.Route].Tree >= 0
		if isTree {
			add("multimem")
			is["multimem, FIFO"] = is["multimem, FIFO"] || !e.isFluid
			is["load"] = is["load"] || m.Peers == 0
		}
		is["get"] = is["get"] || !isTree && m.Peers == 0 && m.Pacer < model.CopyPace
		is["put"] = is["put"] || !isTree && m.Peers > 0 && m.To < 0 && m.Kind == model.Ordinary
		if m.ByLeft {
			by := &log.Messages[m.By]
			is["in a stream"] = is["in a stream"] || by.Route == m.Route
			is["behind puts"] = is["behind puts"] || by.Route != m.Route
		}
	}
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
	messages, to := make([]int32, len(log.Messages)), make([]int32, len(log.Messages))
	for i := range messages {
		messages[i], to[i] = int32(i), step(log.Messages[i].To)
	}
	for i := len(to) - 1; i >= 0; i-- { // who receives the data that were asked for
		if m := &log.Messages[i]; m.By >= 0 && !m.ByLeft {
			to[m.By] = max(to[m.By], to[i])
		}
	}
	message := func(i int32) int32 { return -1 }
	for range 2 { // so that it is known what those are that others followed
		slices.SortStableFunc(messages, func(i, k int32) int {
			a, b := &log.Messages[i], &log.Messages[k]
			return cmp.Or(cmp.Compare(step(a.Step), step(b.Step)), cmp.Compare(a.Since, b.Since),
				cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Bytes, b.Bytes),
				cmp.Compare(routeOf(log, a), routeOf(log, b)), cmp.Compare(to[i], to[k]),
				cmp.Compare(a.Arrived, b.Arrived), cmp.Compare(a.Peers, b.Peers),
				cmp.Compare(a.Pacer, b.Pacer), slices.Compare(spansOf(log, rules, a), spansOf(log, rules, b)),
				cmp.Compare(message(a.By), message(b.By)))
		})
		message = places(messages)
	}
	o := *log
	o.Steps, o.Messages, o.Spans, o.Details = nil, nil, nil, nil
	for _, i := range steps {
		s := log.Steps[i]
		if s.Held = message(s.Held); s.Awaited == model.Arrival || s.Awaited == model.PostLeft {
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
		spans := spansOf(log, rules, &m)
		m.Step, m.To, m.By = step(m.Step), step(m.To), message(m.By)
		m.Spans = int64(len(o.Spans))
		m.Route = routeOf(log, &m)
		o.Messages = append(o.Messages, m)
		o.Spans = append(o.Spans, spans...)
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

// routeOf names a message's route by its ends.
func routeOf(log *model.Log, m *model.MessageRecord) int32 {
	r := &log.Network.Routes[m.Route]
	return min(r.Tree, 0)<<30 + r.Src<<16 | r.Dst
}

// spansOf are a message's spans.
func spansOf(log *model.Log, rules *model.Rules, m *model.MessageRecord) []unit.Time {
	r := &log.Network.Routes[m.Route]
	n := int64(r.To - r.From)
	if m.Pacer < model.CopyPace && rules.Sharing == model.FIFO {
		n += rules.Segments(m.Bytes, r.Tree >= 0) - 1
	}
	return log.Spans[m.Spans:][:n]
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
