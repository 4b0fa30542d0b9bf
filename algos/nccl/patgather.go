package nccl

import (
	"slices"

	"collsim/schedule"
)

// allGather sends what is furthest from its end first: the roots, then the classes, each before
// what hangs below it. What is passed on is stored at the same time.
func (w *walker) allGather() {
	for level := w.levels() - 1; level >= 0; level-- {
		w.pass(family{level: level})
	}
	for bit := w.delta / 2; bit > 0; bit /= 2 {
		w.descend(bit)
	}
}

// descend sends a class and all below it, and keeps what goes no further.
func (w *walker) descend(y int) {
	f := family{y: y}
	w.pass(f)
	if y%2 == 0 {
		for bit := w.hop(f) / 2; bit > 0; bit /= 2 {
			w.descend(y + bit)
		}
		return
	}
	for _, m := range w.messages(f, 0) {
		if len(m) > 0 {
			w.Recv(w.Rank+w.hop(f), w.results(m))
		}
	}
}

// pass sends a family's messages, with what it takes to have them.
func (w *walker) pass(f family) {
	hop := w.hop(f)
	to := w.Rank - hop
	all := w.messages(f, -hop)
	for i, m := range w.messages(f, 0) {
		var sent []int
		for _, d := range m {
			sent = append(sent, d-hop)
		}
		if len(sent) > 0 && len(sent) == len(all[i]) && w.relay(sent, to) {
			continue
		}
		if f.y%2 == 1 {
			w.need(all[i]) // nobody else asks for it
		} else {
			w.need(sent)
		}
		if len(sent) > 0 {
			w.Send(to, w.results(sent))
		}
	}
}

// relay sends blocks as they come, if they are a message that has not come yet.
func (w *walker) relay(blocks []int, to int) bool {
	at := w.results(blocks)
	if blocks[0] == 0 && len(blocks) == 1 && !w.has[0] {
		w.has[0] = true
		if w.spec.InPlace {
			w.Send(to, at)
		} else {
			w.Combine([]schedule.Region{at}, []int{to}, w.Local(w.In(0)))
		}
		return true
	}
	f, m := w.coming(blocks[0])
	if w.has[blocks[0]] || !slices.Equal(m, blocks) {
		return false
	}
	w.CopySend(w.Rank+w.hop(f), to, at)
	w.take(f, m)
	return true
}

// need receives blocks that have not come.
func (w *walker) need(blocks []int) {
	for _, d := range blocks {
		for !w.has[d] {
			if d == 0 {
				w.Keep(w.results([]int{0}))
				w.has[0] = true
				continue
			}
			f, m := w.coming(d)
			w.Recv(w.Rank+w.hop(f), w.results(m))
			w.take(f, m)
		}
	}
}

// coming returns the next message of a block's family.
func (w *walker) coming(d int) (f family, m []int) {
	if d == 0 {
		return f, nil
	}
	if f.y = d % w.delta; f.y == 0 {
		for f.level = 0; d>>f.level/w.delta%2 == 0; f.level++ {
		}
	}
	for m = nil; len(m) == 0; w.come[f]++ {
		all := w.messages(f, 0)
		if w.come[f] == len(all) {
			return f, nil
		}
		m = all[w.come[f]]
	}
	w.come[f]--
	return f, m
}

// take notes what has come.
func (w *walker) take(f family, m []int) {
	w.come[f]++
	for _, d := range m {
		w.has[d] = true
	}
}

// results returns the blocks of the output at distances.
func (w *walker) results(distances []int) schedule.Region {
	return w.listed(func(d int) schedule.Region { return w.Out(w.Rank + d) }, distances)
}
