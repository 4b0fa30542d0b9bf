package simtest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"collsim/device"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// tick is the unit of all times of TiedEnv: four bytes at GBs.
const tick = 4 * unit.Nanosecond

// TiedEnv returns a random network and device on which a few ranks and links are slow or late. As
// many things as possible happen at the same time.
func TiedEnv(t testing.TB, rng *rand.Rand, ranks int) model.Env {
	t.Helper()
	times := []unit.Time{0, 0, tick, tick, 2 * tick, 3 * tick}
	rates := []unit.Rate{GBs, GBs, 2 * GBs, GBs / 2, 4 * GBs}
	rate := func() unit.Rate { return rates[rng.IntN(len(rates))] }
	latency := times[2:]
	if rng.IntN(3) == 0 {
		latency = times[:2+rng.IntN(5)]
	}
	g := symmetricGraph(t, rng, ranks, rate(), latency[rng.IntN(len(latency))])
	env := model.Env{Graph: g, Device: device.Ideal(), Slots: []int{0, 1, 2, 3, 4, 8}[rng.IntN(6)]}
	d := &env.Device
	for _, at := range []*unit.Time{&d.Overhead, &d.Launch, &d.SlotLatency} {
		*at = times[rng.IntN(len(times))]
	}
	for _, at := range []*unit.Rate{&d.LaneRate, &d.ReduceRate, &d.CopyRate} {
		if rng.IntN(2) == 0 {
			*at = rate()
		}
	}
	if rng.IntN(5) > 1 {
		env.Sharing, env.Switching = model.FIFO, model.Switching(rng.IntN(3)/2)
		if rng.IntN(5) == 0 {
			env.Segment = unit.Bytes(4 * (1 + rng.IntN(2)))
		}
	}
	for range 1 + rng.IntN(4) {
		from, n := rng.IntN(ranks), 1+rng.IntN(3)
		switch rng.IntN(4) {
		case 0:
			if env.Start == nil {
				env.Start = make([]unit.Time, ranks)
			}
			for i := range n {
				env.Start[(from+i)%ranks] = tick * unit.Time(rng.IntN(8))
			}
		case 1:
			l := &g.Links()[rng.IntN(len(g.Links()))]
			if l.Bandwidth = rate(); rng.IntN(6) == 0 {
				l.Bandwidth = unit.Unlimited
			}
			if rng.IntN(2) == 0 {
				l.Latency = latency[rng.IntN(len(latency))]
			}
		default:
			if env.Slowdown == nil {
				env.Slowdown = slices.Repeat([]unit.Share{1_000_000}, ranks)
			}
			slow := unit.Share(1_000_000 * (2 + rng.IntN(3)))
			for i := range n {
				env.Slowdown[(from+i)%ranks] = slow
			}
		}
	}
	return env
}

// Tied returns a random schedule in which all ranks repeat the same steps, on up to three lanes,
// with peers at the same distance. It has messages to one peer and to two, additions, copies and
// signals. It also has messages of unknown size that are passed on. A step may be missing.
func Tied(t testing.TB, rng *rand.Rand) *schedule.Schedule {
	t.Helper()
	ranks := []int{2, 3, 4, 5, 6, 8, 9, 12, 16, 24, 33}[rng.IntN(11)]
	w := symmetric{rng: rng, group: schedule.Group{int32(ranks)}, most: 1 + rng.IntN(2)}
	for d := 2; d < ranks; d++ {
		if ranks%d == 0 && rng.IntN(3) == 0 {
			w.group = schedule.Group{int32(ranks / d), int32(d)}
		}
	}
	w.steps = make([][]func(*schedule.Lane), 1+rng.IntN(3))
	w.posts = make([]int, len(w.steps))
	for range 1 + rng.IntN(4) {
		var list []func()
		for range 1 + rng.IntN(3) {
			list = append(list, w.repeat())
		}
		for range 1 + rng.IntN(2)*rng.IntN(8) {
			for _, write := range list {
				write()
			}
		}
	}
	if lane := rng.IntN(len(w.steps)); rng.IntN(12) == 0 && len(w.steps[lane]) > 0 {
		w.steps[lane][rng.IntN(len(w.steps[lane]))] = func(*schedule.Lane) {}
	}
	spec := AllReduce(ranks, int64(ranks*(1+rng.IntN(3))))
	spec.Type = dtype.Float32
	return Build(t, schedule.Plan{Spec: spec, Group: w.group, Chunks: ranks, Lanes: len(w.steps),
		Slices: 1 + rng.IntN(2), Channels: 1 + rng.IntN(4)/3, Slots: rng.IntN(2) * rng.IntN(4),
		Lane: func(l *schedule.Lane) {
			for _, step := range w.steps[l.Index] {
				step(l)
			}
		}})
}

// repeat returns a function that writes one random exchange, or local work, at each call.
func (w *symmetric) repeat() func() {
	rng, ranks := w.rng, w.group.Order()
	from, to, most := rng.IntN(len(w.steps)), rng.IntN(len(w.steps)), 1+rng.IntN(w.most)
	if rng.IntN(3) == 0 {
		from, to = 0, 0
	}
	peer, other, kind := 1+rng.IntN(ranks-1), 1+rng.IntN(ranks-1), rng.IntN(7)
	back, behind := w.inverse(int32(peer)), w.inverse(int32(other))
	add := func(lane, facing int, step func(*schedule.Lane)) {
		w.steps[lane] = append(w.steps[lane], func(l *schedule.Lane) { l.Facing(facing); step(l) })
	}
	written := 0
	return func() {
		n := min(most+written%2, ranks)
		written++
		send := func(l *schedule.Lane) { l.Send(peer, l.In(0).Blocks(n)) }
		recv := func(l *schedule.Lane) { l.Recv(back, l.Out(0).Blocks(n)) }
		switch kind {
		case 0: // to two peers in one step
			if peer == other {
				return
			}
			add(from, to, func(l *schedule.Lane) {
				l.Combine(nil, []int{peer, other}, l.Local(l.In(0).Blocks(n)))
			})
			add(to, from, func(l *schedule.Lane) { l.Recv(behind, l.Out(0).Blocks(n)) })
		case 1: // another lane may wait for it
			w.local(from, to, n)
			return
		case 2:
			add(from, to, func(l *schedule.Lane) { l.Signal(peer) })
			add(to, from, func(l *schedule.Lane) { l.Wait(back) })
			return
		case 3: // passed on without naming its size
			add(from, to, send)
			add(to, from, func(l *schedule.Lane) { l.Combine(nil, []int{peer}, l.From(back)) })
			add(from, to, recv)
			return
		case 4: // two of unknown size, combined
			if peer == other {
				return
			}
			add(from, to, send)
			add(from, to, func(l *schedule.Lane) { l.Send(other, l.In(0)) })
			add(to, from, func(l *schedule.Lane) {
				l.Combine(nil, []int{peer}, l.From(back), l.From(behind))
			})
			add(from, to, recv)
			return
		default:
			add(from, to, send)
		}
		if kind == 5 {
			recv = func(l *schedule.Lane) { l.Reduce(back, l.Out(0).Blocks(n)) }
		}
		add(to, from, recv)
	}
}

// local appends local work to a lane, sometimes with an event that another lane waits for.
func (w *symmetric) local(lane, other, blocks int) {
	w.steps[lane] = append(w.steps[lane], func(l *schedule.Lane) {
		l.Copy(l.Out(0).Blocks(blocks), l.In(0).Blocks(blocks))
	})
	if lane == other || w.most == 1 {
		return
	}
	w.posts[lane]++
	posts := w.posts[lane]
	w.steps[lane] = append(w.steps[lane], func(l *schedule.Lane) {
		l.Copy(l.Out(0), l.In(0))
		l.Post()
	})
	w.steps[other] = append(w.steps[other], func(l *schedule.Lane) {
		l.After(lane, posts)
		l.Copy(l.Out(0), l.In(0))
	})
}
