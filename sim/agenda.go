package sim

// agenda is a binary heap of flows by when they end. Every flow knows its place in it, so that it
// can be moved when its rate changes.
type agenda []int32

// add puts a flow in.
func (a *agenda) add(m int32, flows []flow) {
	*a = append(*a, m)
	a.up(len(*a)-1, flows)
}

// remove takes out the flow at a place; what its own place was is of no use any more.
func (a *agenda) remove(i int32, flows []flow) {
	h := *a
	last := len(h) - 1
	moved := h[last]
	*a = h[:last]
	if int(i) < last {
		h[i] = moved
		flows[moved].place = i
		a.moved(moved, flows)
	}
}

// moved restores the order after a change of a flow's end.
func (a agenda) moved(m int32, flows []flow) {
	i := int(flows[m].place)
	if i > 0 && flows[m].ends < flows[a[(i-1)/2]].ends {
		a.up(i, flows)
	} else {
		a.down(i, flows)
	}
}

func (a agenda) up(i int, flows []flow) {
	m := a[i]
	for i > 0 {
		parent := (i - 1) / 2
		if flows[m].ends >= flows[a[parent]].ends {
			break
		}
		a[i] = a[parent]
		flows[a[i]].place = int32(i)
		i = parent
	}
	a[i] = m
	flows[m].place = int32(i)
}

func (a agenda) down(i int, flows []flow) {
	m := a[i]
	for {
		child := 2*i + 1
		if child >= len(a) {
			break
		}
		if child+1 < len(a) && flows[a[child+1]].ends < flows[a[child]].ends {
			child++
		}
		if flows[a[child]].ends >= flows[m].ends {
			break
		}
		a[i] = a[child]
		flows[a[i]].place = int32(i)
		i = child
	}
	a[i] = m
	flows[m].place = int32(i)
}
