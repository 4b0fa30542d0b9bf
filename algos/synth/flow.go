package synth

// A flow finds maximum flows between two nodes of a directed graph (Dinic 1970). Arc 2i is the i-th
// that was added, arc 2i+1 leads back.
type flow struct {
	first []int32 // by node: its latest arc, −1 for none
	next  []int32 // by arc: the arc of the same node before it
	to    []int32
	room  []int64 // as capacity, less what the latest flow sends
	whole []int64 // capacity

	level, try []int32
	queue      []int32
}

// newFlow returns a graph without arcs.
func newFlow(nodes int) *flow {
	f := &flow{first: make([]int32, nodes), level: make([]int32, nodes), try: make([]int32, nodes)}
	for v := range f.first {
		f.first[v] = -1
	}
	return f
}

// add appends an arc.
func (f *flow) add(from, to int, capacity int64) {
	for _, end := range [2][2]int{{from, to}, {to, from}} {
		f.next = append(f.next, f.first[end[0]])
		f.first[end[0]] = int32(len(f.to))
		f.to = append(f.to, int32(end[1]))
		f.whole = append(f.whole, capacity)
		capacity = 0
	}
}

// run returns the maximum flow, or limit if that is less.
func (f *flow) run(from, to int, limit int64) (total int64) {
	f.room = append(f.room[:0], f.whole...)
	for total < limit && f.layers(from, to) {
		copy(f.try, f.first)
		total += f.push(from, to, limit-total)
	}
	return total
}

// layers finds the distances from the source, and reports whether the sink has one.
func (f *flow) layers(from, to int) bool {
	for v := range f.level {
		f.level[v] = -1
	}
	f.level[from], f.queue = 0, append(f.queue[:0], int32(from))
	for i := 0; i < len(f.queue) && f.level[to] < 0; i++ {
		v := f.queue[i]
		for a := f.first[v]; a >= 0; a = f.next[a] {
			if w := f.to[a]; f.room[a] > 0 && f.level[w] < 0 {
				f.level[w] = f.level[v] + 1
				f.queue = append(f.queue, w)
			}
		}
	}
	return f.level[to] >= 0
}

// push sends up to limit on, level by level.
func (f *flow) push(v, to int, limit int64) (total int64) {
	if v == to {
		return limit
	}
	for ; f.try[v] >= 0; f.try[v] = f.next[f.try[v]] {
		a := f.try[v]
		if w := f.to[a]; f.room[a] > 0 && f.level[w] == f.level[v]+1 {
			n := f.push(int(w), to, min(limit-total, f.room[a]))
			f.room[a] -= n
			f.room[a^1] += n
			if total += n; total == limit {
				return total // the arc may have room left
			}
		}
	}
	return total
}
