package nccl

import "collsim/schedule"

// What becomes of sums: they go so many ranks on, stay, or are the result.
const (
	stays  = 0
	result = -1
)

// reduceScatter adds, at every distance, to this rank's part what comes, in the order in which it
// comes: from far away first, by single ranks last.
func (w *walker) reduceScatter() {
	for y := w.delta - 1; y > 0; y-- {
		class, before := family{y: y}, family{y: y - 1}
		if y%2 == 1 { // nothing comes there
			for _, m := range w.messages(class, 0) {
				w.sum(m, nil, schedule.Source{}, w.hop(class))
			}
		}
		if y == 1 {
			break // these come to the roots
		}
		for i, m := range w.messages(class, 0) {
			if y%2 == 0 {
				w.arrive(class, m, lower(m), stays)
				continue
			}
			w.arrive(class, m, w.messages(class, -1)[i], w.hop(before))
		}
	}
	for level := range w.levels() {
		roots := family{level: level}
		for _, m := range w.messages(roots, 0) {
			w.next(m, w.hop(roots))
		}
		for _, m := range w.messages(roots, 0) {
			w.arrive(roots, m, lower(m), stays)
		}
	}
	w.next([]int{0}, result)
}

// lower returns the distances to which the sums at some go: without their lowest bits.
func lower(distances []int) (list []int) {
	for _, d := range distances {
		list = append(list, d&(d-1))
	}
	return list
}

// arrive takes a message of a family in, as part of the sums at distances.
func (w *walker) arrive(f family, m, at []int, hop int) {
	var what schedule.Source
	if len(m) > 0 {
		what = w.From(w.Rank - w.hop(f))
	}
	w.sum(at, lower(m), what, hop)
}

// next takes in what comes from the next distance to roots, which is the last part of their sums.
// Of a message for roots of several levels, the rest waits.
func (w *walker) next(roots []int, hop int) {
	class := family{y: 1}
	var ends, at []int
	for _, d := range roots {
		if d+1 < w.Ranks {
			ends, at = append(ends, d+1), append(at, d)
		}
	}
	var what schedule.Source
	switch {
	case len(ends) == 0:
	case w.together == 1:
		what = w.From(w.Rank - 1)
	default:
		for last := ends[len(ends)-1]; !w.has[last]; w.come[class]++ {
			m := w.messages(class, 0)[w.come[class]]
			for _, d := range m {
				w.has[d] = true
			}
			if len(m) > 0 {
				w.Recv(w.Rank-1, w.sums(m))
			}
		}
		what = w.Local(w.sums(ends))
	}
	w.sum(roots, at, what, hop)
}

// sum adds what has come to the sums at some of distances, and says what becomes of all of these.
// Where nothing had come before, a sum begins with this rank's part.
func (w *walker) sum(distances, at []int, what schedule.Source, hop int) {
	if len(distances) == 0 {
		return
	}
	own := w.blocks
	if some := len(at) > 0 && len(at) < len(distances); some || w.begun(distances) {
		w.begin(distances)
		own = w.sums
	}
	to := w.Rank + hop
	switch {
	case len(at) == 0:
		w.Send(to, own(distances))
		return
	case hop == result:
		w.Combine([]schedule.Region{w.Out(0)}, nil, what, w.Local(own(at)))
		return
	case hop != stays && len(at) == len(distances):
		w.Combine(nil, []int{to}, what, w.Local(own(at)))
		return
	}
	w.Combine([]schedule.Region{w.sums(at)}, nil, what, w.Local(own(at)))
	for _, d := range at {
		w.has[d] = true
	}
	if hop != stays {
		w.Send(to, w.sums(distances))
	}
}

// sums returns the sums at distances. None is at an odd distance, whose data wait at their
// receiver.
func (w *walker) sums(distances []int) schedule.Region { return w.listed(w.Scratch, distances) }

// begun reports whether there is a sum at any of distances.
func (w *walker) begun(distances []int) bool {
	for _, d := range distances {
		if w.has[d] {
			return true
		}
	}
	return false
}

// begin has a sum at all distances.
func (w *walker) begin(distances []int) {
	var fresh []int
	for _, d := range distances {
		if !w.has[d] {
			w.has[d] = true
			fresh = append(fresh, d)
		}
	}
	if fresh != nil {
		w.Copy(w.sums(fresh), w.blocks(fresh))
	}
}
