package simtest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/topology"
	"collsim/unit"
)

// writer writes a random schedule: whatever the vocabulary has, between random lanes.
type writer struct {
	rng          *rand.Rand
	ranks, lanes int
	steps        [][][]func(*schedule.Lane) // by rank and lane
	posts        [][]int                    // so far, by rank and lane
}

// Schedule is a random one, without sense but for the waits. What is written is in an order in
// which it could be carried out with one slot, unless it is then jumbled: it may then stall.
func Schedule(t testing.TB, rng *rand.Rand, jumbled bool) *schedule.Schedule {
	t.Helper()
	w := writer{rng: rng, ranks: 2 + rng.IntN(4), lanes: 1 + rng.IntN(3)}
	for range w.ranks {
		w.steps = append(w.steps, make([][]func(*schedule.Lane), w.lanes))
		w.posts = append(w.posts, make([]int, w.lanes))
	}
	for range 4 + rng.IntN(30) {
		w.write()
	}
	for range 2 * w.ranks {
		if lane := w.steps[rng.IntN(w.ranks)][rng.IntN(w.lanes)]; jumbled && len(lane) > 1 {
			i := rng.IntN(len(lane) - 1)
			lane[i], lane[i+1] = lane[i+1], lane[i]
		}
	}
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Int8,
		Ranks: w.ranks, Count: 10_000}
	return Build(t, schedule.Plan{Spec: spec, Chunks: 100, Lanes: w.lanes, Slices: 1 + rng.IntN(3),
		Slots: rng.IntN(4), Lane: func(l *schedule.Lane) {
			for _, step := range w.steps[l.Rank][l.Index] {
				step(l)
			}
		}})
}

// add appends a step to a lane, one that posts or awaits something now and then.
func (w *writer) add(rank, lane int, step func(*schedule.Lane)) {
	post, other, value := w.rng.IntN(3) == 0, w.rng.IntN(w.lanes), 0
	if other != lane && w.posts[rank][other] > 0 && w.rng.IntN(3) == 0 {
		value = 1 + w.rng.IntN(w.posts[rank][other])
	}
	if post {
		w.posts[rank][lane]++
	}
	w.steps[rank][lane] = append(w.steps[rank][lane], func(l *schedule.Lane) {
		if value > 0 {
			l.After(other, value)
		}
		step(l)
		if post {
			l.Post()
		}
	})
}

// write appends one exchange to the lanes that take part.
func (w *writer) write() {
	src, dst := w.rng.IntN(w.ranks), w.rng.IntN(w.ranks-1)
	if dst >= src {
		dst++
	}
	from, to := w.rng.IntN(w.lanes), w.rng.IntN(w.lanes)
	at, n := w.rng.IntN(100), 1+w.rng.IntN(20)
	receive := func(rank int) {
		w.add(rank, to, func(l *schedule.Lane) {
			l.Facing(from)
			l.Recv(src, l.Out(at).Blocks(n))
		})
	}
	switch w.rng.IntN(8) {
	case 0:
		w.add(src, from, func(l *schedule.Lane) { l.Facing(to); l.Signal(dst) })
		w.add(dst, to, func(l *schedule.Lane) { l.Facing(from); l.Wait(src) })
	case 1:
		w.add(src, from, func(l *schedule.Lane) {
			l.Facing(to)
			l.Put(dst, l.Out(at).Blocks(n), l.In(at).Blocks(n))
		})
		w.add(dst, to, func(l *schedule.Lane) { l.Facing(from); l.WaitPut(src) })
	case 2:
		w.add(src, from, func(l *schedule.Lane) {
			l.Combine([]schedule.Region{l.Out(at).Blocks(n)}, nil, l.Get(dst, l.In(at).Blocks(n)),
				l.Local(l.In(at).Blocks(n)))
		})
	case 3:
		w.add(src, from, func(l *schedule.Lane) { l.Copy(l.Out(at).Blocks(n), l.In(at).Blocks(n)) })
		w.add(dst, to, func(l *schedule.Lane) { l.Flush() })
	case 4:
		peers := []int{}
		for rank := range w.ranks {
			if rank != src {
				peers = append(peers, rank)
			}
		}
		w.add(src, from, func(l *schedule.Lane) {
			l.Facing(to)
			l.Combine(nil, peers, l.Local(l.In(at).Blocks(n)))
		})
		for _, rank := range peers {
			receive(rank)
		}
	default:
		w.add(src, from, func(l *schedule.Lane) { l.Facing(to); l.Send(dst, l.In(at).Blocks(n)) })
		receive(dst)
	}
}

// Env is a random network and device, with every kind of coincidence: latencies of 0 and alike, few
// bandwidths, all of which divide 10¹² and can be divided by 40.
func Env(t testing.TB, rng *rand.Rand, ranks int) model.Env {
	t.Helper()
	rates := []unit.Rate{GBs, 2 * GBs, GBs / 2, unit.Unlimited}
	times := []unit.Time{0, 0, 100 * unit.Nanosecond, 100 * unit.Nanosecond, 250 * unit.Nanosecond}
	presets := topology.Presets()
	g, err := topology.New(presets[rng.IntN(len(presets))], ranks, rates[rng.IntN(4)],
		times[rng.IntN(5)])
	require.NoError(t, err)
	for i := range g.Links() {
		if rng.IntN(3) == 0 {
			g.Links()[i].Bandwidth, g.Links()[i].Latency = rates[rng.IntN(4)], times[rng.IntN(5)]
		}
	}
	env := model.Env{Graph: g, Device: device.Ideal(), Slots: rng.IntN(5)}
	if rng.IntN(2) == 0 {
		d := &env.Device
		d.Overhead, d.ReduceRate, d.CopyRate = times[rng.IntN(5)], rates[rng.IntN(4)], rates[rng.IntN(4)]
		d.SlotLatency = times[rng.IntN(5)]
	}
	if rng.IntN(2) == 0 {
		env.Device.LaneRate = rates[rng.IntN(4)]
	}
	if rng.IntN(3) == 0 {
		env.Device.Offload, env.Device.Queue = true, 1+rng.IntN(3)
	}
	if !env.Device.Offload && rng.IntN(2) == 0 {
		env.Device.SendBuffer = []unit.Bytes{50, 100, 250, 1000, unit.MiB}[rng.IntN(5)]
	}
	if rng.IntN(3) == 0 {
		env.Device.EagerLimit = []unit.Bytes{1, 100, 500, 1000}[rng.IntN(4)]
		env.Device.ReceivesAhead = rng.IntN(3)
	}
	for range ranks {
		env.Start = append(env.Start, times[rng.IntN(5)])
	}
	switch rng.IntN(4) {
	case 0:
		env.Sharing = model.FIFO
	case 1:
		env.Sharing, env.Switching = model.FIFO, model.StoreForward
	case 2:
		env.Sharing, env.Switching = model.FIFO, model.Switching(rng.IntN(2))
		env.Segment = unit.Bytes(50 * (1 + rng.IntN(6)))
	}
	if rng.IntN(3) == 0 {
		randomMessages(rng, &env.Device, times)
	}
	return env
}

// randomMessages makes what calls and messages cost, by ranges of their sizes.
func randomMessages(rng *rand.Rand, d *device.Device, times []unit.Time) {
	d.Launch = times[rng.IntN(5)]
	message := func() device.Message {
		return device.Message{Latency: times[rng.IntN(5)],
			Efficiency: []unit.Share{0, 500_000, 250_000}[rng.IntN(3)]}
	}
	d.Own = message()
	upTo := unit.Bytes(0)
	for range rng.IntN(3) {
		d.Ranges = append(d.Ranges, device.Range{UpTo: upTo, Message: message()})
		upTo += unit.Bytes(1 + rng.IntN(1000))
	}
}
