package mscclpp

import (
	"fmt"

	"collsim/schedule"
)

// item is an operation to be written. Channels and semaphores have no numbers yet.
type item struct {
	name     string
	src, dst []spot
	messages []int   // whose channels are signalled or awaited
	sems     []int32 // numbers
}

// spot is elements of a rank's buffer.
type spot struct {
	rank    int
	buffer  schedule.Buffer
	off, n  int64
	message int // that is put there, −1 for none
}

var separator = item{name: "nop"}

// maxPerRes bounds the ranks that one operation puts to, besides the place that it stores to.
const maxPerRes = maxBuffers - 1

// compose lists the operations of an act. What waits, what moves and what signals are apart, since
// threads of a block see each other's work only after a nop.
//
//	wait │ re, res, copy, put │ signal │
func (x *exporter) compose(rank int, a *act) (list []item) {
	var in []int
	for _, f := range a.sources {
		if f.message >= 0 {
			in = append(in, f.message)
		}
	}
	list = append(inParts("wait", in), separator)
	if a.moves {
		list = append(list, x.move(rank, a)...)
	}
	list = append(list, separator)
	return append(append(list, inParts("signal", a.out)...), separator)
}

// inParts returns operations over the channels of messages, of so many channels as one holds.
func inParts(name string, messages []int) (list []item) {
	for len(messages) > 0 {
		n := min(maxPerOp, len(messages))
		list = append(list, item{name: name, messages: messages[:n]})
		messages = messages[n:]
	}
	return list
}

// move lists the operations that combine the sources of an act, and store and send the sum. A
// source that a destination overlaps at another place is copied first.
func (x *exporter) move(rank int, a *act) (list []item) {
	sources := make([]area, len(a.sources))
	for i, f := range a.sources {
		if sources[i] = f.local; f.message >= 0 {
			m := &x.messages[f.message]
			sources[i] = area{schedule.Scratch, []schedule.Span{{Off: m.at, Len: m.size}}}
			continue
		}
		for _, to := range a.to {
			if x.overlap(rank, f.local, to) && !x.same(rank, f.local, to) {
				list = append(list, x.copies(rank, f.local, x.fresh(rank, a.size, &sources[i]))...)
				list = append(list, separator)
				break
			}
		}
	}
	value, rest := sources[0], a.to
	if len(sources) > 1 {
		if value = x.sumPlace(rank, a, sources); len(a.to) > 0 {
			rest = a.to[1:]
		}
		sums, sent := x.sums(rank, a, sources, value)
		if list = append(list, sums...); sent {
			a = &act{size: a.size}
		}
		list = append(list, separator)
	}
	for _, to := range rest {
		if !x.same(rank, value, to) {
			list = append(list, x.copies(rank, value, to)...)
		}
	}
	return append(list, x.puts(rank, a, value)...)
}

// sumPlace returns where the sum of several sources is stored: in the first destination, in place
// of a message, or in scratch.
func (x *exporter) sumPlace(rank int, a *act, sources []area) (place area) {
	if len(a.to) > 0 {
		return a.to[0]
	}
	for i, f := range a.sources {
		if f.message >= 0 {
			return sources[i]
		}
	}
	x.fresh(rank, a.size, &place)
	return place
}

// fresh returns unused elements of scratch, and stores them.
func (x *exporter) fresh(rank int, size int64, into *area) area {
	*into = area{schedule.Scratch, []schedule.Span{{Off: x.scratch[rank], Len: size}}}
	x.scratch[rank] += size
	return *into
}

// sums lists the operations that add sources, as many at once as the executor reads. The last one
// also puts the sum to other ranks, if it can to all.
func (x *exporter) sums(rank int, a *act, sources []area, into area) (list []item, sent bool) {
	for i, s := range sources { // one that is overwritten is read first
		if x.same(rank, s, into) {
			sources[0], sources[i] = sources[i], sources[0]
		}
	}
	for len(sources) > 0 {
		n := min(maxBuffers, len(sources))
		group := sources[:n]
		sources = sources[n:]
		isLast := len(sources) == 0
		sent = isLast && len(a.out) > 0 && len(a.out) <= min(maxPerRes, maxPerOp)
		for _, p := range pieces(append(group[:n:n], into)) {
			o := item{name: "re", src: spots(rank, p[:n]), dst: spots(rank, p[n:])}
			if sent {
				o.name = "res"
				o.dst = append(o.dst, x.slots(a, p[n])...)
			}
			list = append(list, o)
		}
		if !isLast {
			list = append(list, separator)
			sources = append([]area{into}, sources...)
		}
	}
	return list, sent
}

// copies lists the operations that copy a value.
func (x *exporter) copies(rank int, from, to area) (list []item) {
	for _, p := range pieces([]area{from, to}) {
		list = append(list, item{name: "copy", src: spots(rank, p[:1]), dst: spots(rank, p[1:])})
	}
	return list
}

// puts lists the operations that put a value to where other ranks receive it.
func (x *exporter) puts(rank int, a *act, value area) (list []item) {
	if len(a.out) == 0 {
		return nil
	}
	for _, p := range pieces([]area{value}) {
		dst := x.slots(a, p[0])
		for len(dst) > 0 {
			n := min(maxPerOp, len(dst))
			o := item{name: "put", dst: dst[:n]}
			for range n {
				o.src = append(o.src, spots(rank, p[:1])...)
			}
			list, dst = append(list, o), dst[n:]
		}
	}
	return list
}

// slots returns the places of a piece of a value in the messages that an act sends.
func (x *exporter) slots(a *act, p piece) (list []spot) {
	for _, m := range a.out {
		to := &x.messages[m]
		list = append(list, spot{to.to, schedule.Scratch, to.at + p.within, p.n, m})
	}
	return list
}

// piece is adjoining elements of an area.
type piece struct {
	buffer         schedule.Buffer
	off, within, n int64 // within: elements of the area before it
}

// pieces divides areas of one size where any of them is not contiguous.
func pieces(areas []area) (list [][]piece) {
	at, used := make([]int, len(areas)), make([]int64, len(areas))
	for within := int64(0); at[0] < len(areas[0].spans); {
		n := int64(1) << 62
		for i, a := range areas {
			n = min(n, a.spans[at[i]].Len-used[i])
		}
		row := make([]piece, len(areas))
		for i, a := range areas {
			span := a.spans[at[i]]
			row[i] = piece{a.buffer, span.Off + used[i], within, n}
			if used[i] += n; used[i] == span.Len {
				at[i], used[i] = at[i]+1, 0
			}
		}
		list, within = append(list, row), within+n
	}
	return list
}

// spots returns the pieces as elements of a rank.
func spots(rank int, list []piece) (made []spot) {
	for _, p := range list {
		made = append(made, spot{rank, p.buffer, p.off, p.n, -1})
	}
	return made
}

// same reports whether two areas of a rank have the same elements in the same order.
func (x *exporter) same(rank int, a, b area) bool {
	for _, p := range pieces([]area{a, b}) {
		m, at := x.s.Home(p[0].buffer, rank)
		n, by := x.s.Home(p[1].buffer, rank)
		if m != n || at+p[0].off != by+p[1].off {
			return false
		}
	}
	return true
}

// overlap reports whether two areas of a rank share an element.
func (x *exporter) overlap(rank int, a, b area) bool {
	m, at := x.s.Home(a.buffer, rank)
	n, by := x.s.Home(b.buffer, rank)
	for _, p := range a.spans {
		for _, q := range b.spans {
			if m == n && at+p.Off < by+q.Off+q.Len && by+q.Off < at+p.Off+p.Len {
				return true
			}
		}
	}
	return false
}

// tooMany makes the error of what exceeds a limit of the executor.
func tooMany(rank, block, have int, what string, most int) error {
	return fmt.Errorf("thread block %d of gpu %d needs %d %s; the executor holds %d", block, rank,
		have, what, most)
}
