package program

import (
	"slices"

	"collsim/schedule"
)

// Waits of parts follow from the memory that they access, whichever passes have made them. A part
// comes after those that write what it reads or writes, and after those that read what it writes.

// A batch is parts, from first to the next batch, that do one thing together, each on ranks of its
// own.
type batch struct {
	first int
	// reads has the operands of an opaque kernel, which its part does not state.
	reads []interval[schedule.Buffer]
}

// wait derives the waits of every part, besides those it was given.
func (w *scheduler) wait() {
	used := history[schedule.Buffer]{}
	touched := map[*schedule.Schedule][]interval[schedule.Buffer]{}
	for i, b := range w.batches {
		first, last := b.first, len(w.parts)
		if i+1 < len(w.batches) {
			last = w.batches[i+1].first
		}
		var numbers []int
		memory := b.reads
		for n := first; n < last; n++ {
			p := &w.parts[n]
			of, known := touched[p.Schedule]
			if !known {
				of = touches(p.Schedule)
				touched[p.Schedule] = of
			}
			for _, use := range placed(of, p.Memory) {
				if !slices.Contains(memory, use) {
					memory = append(memory, use)
				}
			}
			numbers = append(numbers, n)
		}
		after := slices.Clone(w.parts[first].After)
		for _, use := range memory {
			after = append(after, used.before(use)...)
		}
		slices.Sort(after)
		after = slices.Compact(after)
		for _, use := range memory {
			used.add(use, numbers, func(was []int) []int { return w.elsewhere(was, numbers) })
		}
		for n := first; n < last; n++ {
			w.parts[n].After = after
		}
	}
}

// touches lists the ranges that a schedule uses in the buffers of any rank.
func touches(s *schedule.Schedule) (list []interval[schedule.Buffer]) {
	for b := range schedule.Buffer(s.Buffers()) {
		writes, ranks := b != schedule.Input, s.Spec.Ranks
		if t := s.Tensor(b); t != nil {
			if t.Role == schedule.Defined {
				continue
			}
			writes, ranks = t.Role != schedule.Given, 1 // all ranks have the same of it
		} else if len(s.Tensors) > 0 {
			continue // all its data are in tensors
		}
		for rank := range ranks {
			n := s.Len(b, rank)
			if n == 0 {
				continue
			}
			home, off := s.Home(b, rank)
			same := slices.IndexFunc(list, func(u interval[schedule.Buffer]) bool {
				return u.memory == home && u.writes == writes
			})
			if same < 0 {
				list = append(list, interval[schedule.Buffer]{home, off, off + n, writes})
				continue
			}
			u := &list[same]
			u.from, u.to = min(u.from, off), max(u.to, off+n)
		}
	}
	return list
}

// intervals returns where tensors are stored that are read.
func (w *scheduler) intervals(names []string) (list []interval[schedule.Buffer]) {
	for _, name := range names {
		at, t := w.tensors[name], w.plan.tensors[w.at[name]]
		list = append(list, interval[schedule.Buffer]{memory: at.Tensor, from: at.Offset(0),
			to: at.Offset(0) + t.Shape.Elements()})
	}
	return list
}

// placed translates a schedule's used ranges to the places that a part has in the whole's memory.
func placed(touched []interval[schedule.Buffer], memory []schedule.Place) (
	list []interval[schedule.Buffer]) {
	for _, use := range touched {
		at := memory[use.memory]
		first, last := at.Offset(0), at.Offset(0)
		for _, off := range at.Offsets {
			first, last = min(first, off), max(last, off)
		}
		use.memory, use.from, use.to = at.Tensor, use.from+first, use.to+last
		list = append(list, use)
	}
	return list
}
