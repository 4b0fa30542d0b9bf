package msccl

import (
	"fmt"
	"slices"

	"collsim/schedule"
	"collsim/unit"
)

// even refuses cuts into blocks of different sizes, since chunks have one size, and names a count
// that would do. Tiles may end with a shorter one, and tables may have any ends: a chunk is then a
// common divisor.
func (x *writer) even() error {
	spec, multiple := &x.s.Spec, int64(1)
	for b := range x.s.Cuts {
		longest := x.s.Memory
		if buffer := schedule.Buffer(b); buffer != schedule.Scratch {
			longest = 0
			for r := range spec.Ranks {
				longest = max(longest, x.s.Len(buffer, r))
			}
		}
		parts := int64(x.s.Slices)
		for _, l := range x.s.Cuts[b] {
			switch l.Split {
			case schedule.Even, schedule.Ceil:
				parts *= l.N
			case schedule.Aligned:
				parts *= l.N * l.Align
			}
		}
		if longest == 0 || longest%parts == 0 {
			continue
		}
		if buffer := schedule.Buffer(b); buffer == schedule.Scratch || spec.Count == 0 ||
			longest%spec.Count != 0 {
			return fmt.Errorf("%d elements of %v are cut into %d unequal parts: a file has chunks of "+
				"one size", longest, buffer, parts)
		}
		need := parts / unit.GCD(parts, longest/spec.Count)
		multiple = multiple / unit.GCD(multiple, need) * need
	}
	if multiple > 1 {
		return fmt.Errorf("count %d is cut into unequal parts, and a file has chunks of one size: "+
			"%d would do", spec.Count, (spec.Count+multiple-1)/multiple*multiple)
	}
	return nil
}

// cut decides where messages are cut, on which sender, receiver and all ranks that forward the
// value must agree. It also decides the size of a chunk, which divides every cut.
func (x *writer) cut() error {
	x.grain = unit.GCD(x.whole, x.s.Memory)
	if c := x.s.Spec.Count; c > 0 {
		x.grain = unit.GCD(x.grain, c)
	}
	for r := range x.s.Spec.Ranks {
		x.grain = unit.GCD(unit.GCD(x.grain, x.s.Len(schedule.Input, r)), x.s.Len(schedule.Output, r))
	}
	err := x.each(func(a *act) error {
		for _, areas := range [][]area{a.from, a.to} {
			for _, area := range areas {
				at := int64(0)
				for _, s := range area.spans {
					x.grain = unit.GCD(unit.GCD(x.grain, s.Off), s.Len)
					at += s.Len
					x.note(a, at)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for g := range x.groups {
		cuts := x.groups[g].cuts
		slices.Sort(cuts)
		x.groups[g].cuts = slices.Compact(cuts)
	}
	return x.each(func(a *act) error {
		if a.class >= 0 {
			a.cuts = x.groups[x.root(a.class)].cuts
		}
		slices.Sort(a.cuts)
		a.cuts = slices.Compact(a.cuts)
		n := len(a.cuts)
		if a.size >= 0 && n > 0 && a.cuts[n-1] != a.size || n > 0 && a.cuts[0] == 0 {
			return fmt.Errorf("%s: a message of %d elements for %d", a.step.Name(), a.cuts[n-1], a.size)
		}
		if n == 0 && len(a.step.From) > 0 {
			return fmt.Errorf("%s of nothing", a.step.Name())
		}
		return nil
	})
}

// note adds a position at which a step's value is cut.
func (x *writer) note(a *act, at int64) {
	cuts := &a.cuts
	if a.class >= 0 {
		cuts = &x.groups[x.root(a.class)].cuts
	}
	if n := len(*cuts); n == 0 || (*cuts)[n-1] != at {
		*cuts = append(*cuts, at)
	}
}

// each calls f with every act.
func (x *writer) each(f func(a *act) error) error {
	for rank := range x.lanes {
		for i := range x.lanes[rank] {
			acts := x.lanes[rank][i].acts
			for j := range acts {
				if err := f(&acts[j]); err != nil {
					return fmt.Errorf("rank %d lane %d: %w", rank, i, err)
				}
			}
		}
	}
	return nil
}

// piece is a part of a step's value: elements from … to.
type piece struct{ from, to int64 }

// pieces returns the parts of a step's value that are moved one by one. Each is contiguous
// everywhere, and below the runtimes' largest cnt.
func (x *writer) pieces(a *act) []piece {
	var parts []piece
	from, most := int64(0), (maxCount-1)*x.grain
	for _, end := range a.cuts {
		for ; from < end; from = parts[len(parts)-1].to {
			parts = append(parts, piece{from, min(end, from+most)})
		}
	}
	return parts
}

// place returns the position of a piece of a value in the file's chunks.
func (x *writer) place(a area, p piece) operand {
	at := p.from
	for _, s := range a.spans {
		if at < s.Len {
			return operand{buffer(a.buffer), int32((s.Off + at) / x.grain)}
		}
		at -= s.Len
	}
	panic("msccl: a piece outside its region")
}
