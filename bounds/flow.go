package bounds

import "math"

// maxFlow computes maximum flows through the network to a sink (Dinic 1970). It fills all shortest
// paths with room at once, then the next longer ones. Capacities are integers. It is made for many
// small flows over the same links: only what was used is reset.
type maxFlow struct {
	view
	room  []int64 // by link: capacity
	drain []int64 // by node: capacity from it to the sink

	sent    []int64 // by link: flow
	used    []int32 // links with flow, now or earlier in this run
	drained []int64 // by node: flow from it to the sink

	level []int32 // by node: distance from the start over links with room; −1: unreachable
	next  []int32 // by node: index of the next of its links to try
	queue []int32
	last  int32 // level of the nodes next to the sink
	work  int64
}

// newFlow returns an empty flow along the links or, backward, against them.
func (n *network) newFlow(backward bool) maxFlow {
	nodes, links := len(n.rank), len(n.rate)
	return maxFlow{view: n.view(backward), room: make([]int64, links), sent: make([]int64, links),
		drain: make([]int64, nodes), drained: make([]int64, nodes),
		level: make([]int32, nodes), next: make([]int32, nodes)}
}

// run sends as much as possible from some nodes to the sink, at most limit, and returns how much.
// If that is less than the limit, reached gives the near side of the least cut.
func (f *maxFlow) run(from []int32, limit int64) int64 {
	for _, l := range f.used {
		f.sent[l] = 0
	}
	f.used = f.used[:0]
	clear(f.drained)
	total := int64(0)
	for total < limit && f.layers(from) {
		clear(f.next)
		for _, v := range from {
			total += f.push(v, limit-total)
		}
	}
	return total
}

// reached reports whether a node is on the near side of the cut that ended run.
func (f *maxFlow) reached(v int32) bool { return f.level[v] >= 0 }

// layers computes levels up to the first node with room to the sink. It reports whether there is
// one.
func (f *maxFlow) layers(from []int32) bool {
	for v := range f.level {
		f.level[v] = -1
	}
	f.queue = f.queue[:0]
	for _, v := range from {
		f.level[v] = 0
		f.queue = append(f.queue, v)
	}
	f.work += int64(len(f.level))
	for i := 0; i < len(f.queue); i++ {
		v := f.queue[i]
		if f.drain[v] > f.drained[v] {
			f.last = f.level[v]
			return true
		}
		for _, l := range f.ahead.of(v) {
			if f.room[l] > f.sent[l] {
				f.label(f.head[l], f.level[v]+1)
			}
		}
		for _, l := range f.behind.of(v) {
			if f.sent[l] > 0 {
				f.label(f.tail[l], f.level[v]+1)
			}
		}
		f.work += int64(len(f.ahead.of(v)) + len(f.behind.of(v)))
	}
	return false
}

// label gives an unlabelled node its level and appends it to the queue.
func (f *maxFlow) label(v, level int32) {
	if f.level[v] < 0 {
		f.level[v] = level
		f.queue = append(f.queue, v)
	}
}

// push sends up to limit from v to the sink over links that lead one level on, and returns how
// much. Links without room in this phase are not tried again.
func (f *maxFlow) push(v int32, limit int64) int64 {
	if f.level[v] == f.last {
		n := min(limit, f.drain[v]-f.drained[v])
		f.drained[v] += n
		return n
	}
	ahead, behind := f.ahead.of(v), f.behind.of(v)
	pushed := int64(0)
	for f.next[v] < int32(len(ahead)+len(behind)) {
		f.work++
		i := int(f.next[v])
		if i < len(ahead) {
			l := ahead[i]
			if room := f.room[l] - f.sent[l]; room > 0 && f.level[f.head[l]] == f.level[v]+1 {
				n := f.push(f.head[l], min(limit-pushed, room))
				f.send(l, n)
				pushed += n
			}
		} else {
			l := behind[i-len(ahead)]
			if f.sent[l] > 0 && f.level[f.tail[l]] == f.level[v]+1 {
				n := f.push(f.tail[l], min(limit-pushed, f.sent[l]))
				f.sent[l] -= n
				pushed += n
			}
		}
		if pushed == limit {
			break // this link may have room left
		}
		f.next[v]++
	}
	return pushed
}

// send adds flow to a link.
func (f *maxFlow) send(l int32, n int64) {
	if f.sent[l] == 0 && n > 0 {
		f.used = append(f.used, l)
	}
	f.sent[l] += n
}

// endless exceeds any flow; a sum of a few does not overflow.
const endless = math.MaxInt64 / 4
