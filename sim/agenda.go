package sim

// agenda is a binary heap of flows by when they end. Every flow knows its place in it, so that it
// can be moved when its rate changes.
type agenda []int32

// add puts a flow in.
func (a *agenda) add(m int32, rests []rest) {
	*a = append(*a, m)
	a.up(len(*a)-1, rests)
}

// remove takes out the flow at a place; what its own place was is of no use any more.
func (a *agenda) remove(i int32, rests []rest) {
	h := *a
	last := len(h) - 1
	moved := h[last]
	*a = h[:last]
	if int(i) < last {
		h[i] = moved
		rests[moved].place = i
		a.moved(moved, rests)
	}
}

// moved restores the order after a change of a flow's end.
func (a agenda) moved(m int32, rests []rest) {
	i := int(rests[m].place)
	if i > 0 && rests[m].ends < rests[a[(i-1)/2]].ends {
		a.up(i, rests)
	} else {
		a.down(i, rests)
	}
}

func (a agenda) up(i int, rests []rest) {
	m := a[i]
	for i > 0 {
		parent := (i - 1) / 2
		if rests[m].ends >= rests[a[parent]].ends {
			break
		}
		a[i] = a[parent]
		rests[a[i]].place = int32(i)
		i = parent
	}
	a[i] = m
	rests[m].place = int32(i)
}

func (a agenda) down(i int, rests []rest) {
	m := a[i]
	for {
		child := 2*i + 1
		if child >= len(a) {
			break
		}
		if child+1 < len(a) && rests[a[child+1]].ends < rests[a[child]].ends {
			child++
		}
		if rests[a[child]].ends >= rests[m].ends {
			break
		}
		a[i] = a[child]
		rests[a[i]].place = int32(i)
		i = child
	}
	a[i] = m
	rests[m].place = int32(i)
}
