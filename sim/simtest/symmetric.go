package simtest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/device"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/sim/model"
	"collsim/topology"
	"collsim/unit"
)

// Symmetric returns a random schedule with a group: all ranks do the same relative to themselves.
// If jumbled, it may stall, or leave a message without a receiver. Sometimes its blocks have two
// sizes.
func Symmetric(t testing.TB, rng *rand.Rand, jumbled bool) *schedule.Schedule {
	t.Helper()
	ranks := 2 + rng.IntN(11)
	group := schedule.Group{int32(ranks)}
	for d := 2; d < ranks; d++ {
		if ranks%d == 0 && rng.IntN(3) == 0 {
			group = schedule.Group{int32(d), int32(ranks / d)}
		}
	}
	if ranks > 2 && ranks&(ranks-1) == 0 && rng.IntN(2) == 0 { // the exclusive or
		group = nil
		for d := 1; d < ranks; d *= 2 {
			group = append(group, 2)
		}
	}
	lanes := 1 + rng.IntN(3)
	chunks := ranks
	if rng.IntN(3) == 0 {
		chunks = 1 + rng.IntN(20)
	}
	w := symmetric{rng: rng, group: group, most: min(chunks, 3),
		steps: make([][]func(*schedule.Lane), lanes), posts: make([]int, lanes)}
	for range 1 + rng.IntN(4) {
		w.write(1+rng.IntN(5), 1+rng.IntN(3)*rng.IntN(15))
	}
	for range lanes {
		if steps := w.steps[rng.IntN(lanes)]; jumbled && len(steps) > 1 {
			switch i := rng.IntN(len(steps) - 1); rng.IntN(3) {
			case 0:
				steps[i] = func(*schedule.Lane) {}
			default:
				steps[i], steps[i+1] = steps[i+1], steps[i]
			}
		}
	}
	channels, slices := 1+rng.IntN(2), 1+rng.IntN(3)
	spec := AllReduce(ranks, int64(60*ranks*chunks))
	spec.Type = dtype.Int8
	if rng.IntN(8) == 0 {
		spec.Count += rng.Int64N(100)
	}
	return Build(t, schedule.Plan{Spec: spec, Group: group, Chunks: chunks, Lanes: lanes,
		Channels: channels, Slices: slices, Slots: []int{0, 0, 2, 4, 8}[rng.IntN(5)],
		Lane: Framed(rng, func(l *schedule.Lane) {
			for _, step := range w.steps[l.Index] {
				step(l)
			}
		})})
}

// symmetric writes the program of one rank, relative to that rank.
type symmetric struct {
	rng   *rand.Rand
	group schedule.Group
	steps [][]func(*schedule.Lane) // by lane
	posts []int                    // by lane: the events posted so far
	most  int                      // the most blocks of a message
}

// inverse returns the element of the group that undoes a translation.
func (w *symmetric) inverse(g int32) int {
	back, weight := int32(0), int32(1)
	for i := len(w.group) - 1; i >= 0; i-- {
		d := w.group[i]
		back += (d - g%d) % d * weight
		g, weight = g/d, weight*d
	}
	return int(back)
}

// exchange is a message from a lane of every rank to a lane of the peer at the group distance peer.
// turn changes the peer from one repetition to the next.
type exchange struct{ from, to, peer, kind, at, blocks, turn int }

// write appends a number of random exchanges, and repeats them. Each repetition has other blocks,
// and sometimes other peers.
func (w *symmetric) write(exchanges, times int) {
	var list []exchange
	for range exchanges {
		x := exchange{from: w.rng.IntN(len(w.steps)), to: w.rng.IntN(len(w.steps)),
			peer: 1 + w.rng.IntN(w.group.Order()-1), kind: w.rng.IntN(8), at: w.rng.IntN(20),
			blocks: 1 + w.rng.IntN(w.most)}
		if w.rng.IntN(6) == 0 {
			x.turn = 1
		}
		list = append(list, x)
	}
	for i := range times {
		for _, x := range list {
			y := x
			y.peer, y.at = 1+(x.peer-1+i*x.turn)%(w.group.Order()-1), x.at+i
			w.exchange(y)
		}
	}
}

// exchange appends a message and its receive.
func (w *symmetric) exchange(x exchange) {
	from, to, peer, at, blocks := x.from, x.to, x.peer, x.at, x.blocks
	back := w.inverse(int32(peer))
	post := x.kind != 6 && w.rng.IntN(20) == 0
	send := func(l *schedule.Lane) { l.Send(peer, l.Out(at).Blocks(blocks)) }
	receive := func(l *schedule.Lane) { l.Recv(back, l.Out(at).Blocks(blocks)) }
	switch x.kind {
	case 0:
		send, receive = func(l *schedule.Lane) { l.Signal(peer) }, func(l *schedule.Lane) { l.Wait(back) }
	case 1:
		send = func(l *schedule.Lane) { l.Put(peer, l.Out(at).Blocks(blocks), l.In(at).Blocks(blocks)) }
		receive = func(l *schedule.Lane) { l.WaitPut(back) }
	case 2:
		receive = func(l *schedule.Lane) { l.Reduce(back, l.Out(at).Blocks(blocks)) }
	case 7:
		receive = func(l *schedule.Lane) { l.ReduceRanked(back, l.Out(at).Blocks(blocks)) }
	case 3: // the receiver passes it on to the peer at the same distance
		receive = func(l *schedule.Lane) { l.ReduceSend(back, peer, l.Out(at).Blocks(blocks)) }
		last := func(l *schedule.Lane) { l.Facing(from); l.Recv(back, l.Out(at).Blocks(blocks)) }
		w.steps[from] = append(w.steps[from], func(l *schedule.Lane) { l.Facing(from); send(l) })
		w.steps[from] = append(w.steps[from], func(l *schedule.Lane) { l.Facing(from); receive(l) })
		w.steps[from] = append(w.steps[from], last)
		return
	case 4:
		w.steps[from] = append(w.steps[from], func(l *schedule.Lane) {
			l.Copy(l.Out(at).Blocks(blocks), l.In(at).Blocks(blocks))
		})
	case 6:
		if lane := w.rng.IntN(len(w.steps)); lane != to && w.posts[lane] > 0 {
			value, before := 1+w.rng.IntN(w.posts[lane]), receive
			receive = func(l *schedule.Lane) { l.After(lane, value); before(l) }
		}
	}
	w.steps[from] = append(w.steps[from], func(l *schedule.Lane) {
		l.Facing(to)
		if send(l); post {
			l.Post()
		}
	})
	if post {
		w.posts[from]++
	}
	w.steps[to] = append(w.steps[to], func(l *schedule.Lane) { l.Facing(from); receive(l) })
}

// SymmetricEnv returns a random network and device on which, mostly, some subgroup of a group of
// ranks is symmetric.
func SymmetricEnv(t testing.TB, rng *rand.Rand, ranks int) model.Env {
	t.Helper()
	rates := []unit.Rate{GBs, 2 * GBs, GBs / 2, unit.Unlimited}
	times := []unit.Time{0, 0, 100 * unit.Nanosecond, 100 * unit.Nanosecond, 333 * unit.Nanosecond}
	env := model.Env{Graph: symmetricGraph(t, rng, ranks, rates[rng.IntN(4)], times[rng.IntN(5)]),
		Device: device.Ideal(), Slots: []int{0, 3, 4, 8, 8}[rng.IntN(5)]}
	if rng.IntN(2) == 0 {
		d := &env.Device
		d.Overhead, d.ReduceRate, d.CopyRate = times[rng.IntN(5)], rates[rng.IntN(4)], rates[rng.IntN(4)]
		d.SlotLatency = times[rng.IntN(5)]
	}
	if rng.IntN(2) == 0 {
		env.Device.LaneRate = rates[rng.IntN(4)]
	}
	if rng.IntN(3) == 0 {
		randomMessages(rng, &env.Device, times)
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
	period := ranks
	for d := 1; d < ranks; d++ {
		if ranks%d == 0 && rng.IntN(2) == 0 {
			period = d
		}
	}
	if rng.IntN(3) == 0 { // ranks differ, with a period
		for rank := range ranks {
			if rank < period {
				env.Start = append(env.Start, times[rng.IntN(5)])
				env.Slowdown = append(env.Slowdown, unit.Share(1_000_000+500_000*rng.IntN(2)))
				continue
			}
			env.Start = append(env.Start, env.Start[rank-period])
			env.Slowdown = append(env.Slowdown, env.Slowdown[rank-period])
		}
	}
	if rng.IntN(6) == 0 {
		l := &env.Graph.Links()[rng.IntN(len(env.Graph.Links()))]
		l.Bandwidth, l.Latency = rates[rng.IntN(4)], times[rng.IntN(5)]
	}
	return env
}

// UnevenEnv returns a random network and device on which a few ranks and links are slow or late.
func UnevenEnv(t testing.TB, rng *rand.Rand, ranks int) model.Env {
	t.Helper()
	env := SymmetricEnv(t, rng, ranks)
	env.Segment, env.Start, env.Slowdown = 0, nil, nil
	if env.Device.Overhead == 0 && rng.IntN(3) > 0 {
		env.Device.Overhead = 777 * unit.Nanosecond
	}
	for range 1 + rng.IntN(3) {
		switch rank := rng.IntN(ranks); rng.IntN(4) {
		case 0:
			if env.Start == nil {
				env.Start = make([]unit.Time, ranks)
			}
			env.Start[rank] = unit.Time(rng.IntN(5_000_000))
		case 1:
			l := &env.Graph.Links()[rng.IntN(len(env.Graph.Links()))]
			if l.Latency += unit.Time(rng.IntN(2) * rng.IntN(2_000_000)); l.Bandwidth != unit.Unlimited {
				l.Bandwidth = l.Bandwidth.Times(unit.Share(100_000 * (1 + rng.IntN(12))))
			}
		default:
			if env.Slowdown == nil {
				env.Slowdown = slices.Repeat([]unit.Share{1_000_000}, ranks)
			}
			env.Slowdown[rank] = unit.Share(1_000_001 + rng.IntN(8_000_000))
		}
	}
	return env
}

// symmetricGraph returns a random network for the ranks, all of whose links are equal.
func symmetricGraph(t testing.TB, rng *rand.Rand, ranks int, bandwidth unit.Rate,
	latency unit.Time) *topology.Graph {
	t.Helper()
	p := topology.Params{Ranks: ranks, Bandwidth: bandwidth, Latency: latency}
	inner := 1
	for d := 2; d < ranks; d++ {
		if ranks%d == 0 && (inner == 1 || rng.IntN(2) == 0) {
			inner = d
		}
	}
	switch kind := rng.IntN(9); {
	case kind < 3:
		p.Preset = Presets()[kind]
	case kind == 3:
		p.Preset, p.Shape, p.Ranks = "torus", []int{ranks / inner, inner}, 0
	case kind == 4:
		p.Preset = "fat-tree"
	case kind == 5:
		p.Preset, p.K = "leaf-spine", inner
	case kind == 6:
		p.Preset, p.K = "tree", 2+rng.IntN(3)
	default:
		node := p
		node.Preset, node.Ranks = []string{"switch", "full-mesh", "ring"}[rng.IntN(3)], inner
		network := p
		network.Ranks, network.Preset = 0, "switch"
		if kind == 8 {
			network.Preset = "rails"
		}
		p = topology.Params{Nodes: ranks / inner, Node: &node, Network: &network}
		if p.Nodes == 1 {
			p.Network = nil
		}
	}
	if rng.IntN(8) == 0 {
		p.Routing = topology.ECMP
	}
	g, err := topology.Build(p)
	require.NoError(t, err)
	return g
}
