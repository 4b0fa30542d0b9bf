package proof

import (
	"cmp"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// Folding: one rank is walked for all ranks of a schedule that declares a group.
//
// In such a schedule rank g does what rank 0 does, translated by g: every peer, and every block
// that is numbered by ranks. Suppose collective, buffers and cuts are the same from every rank too.
// Then all that happens is. Let all ranks execute a sub-step at once, as they can in turn. What
// rank g holds at the translated element T(e) is what rank 0 holds at e, with the inputs of
// translated ranks in it. So rank 0 stands for all.
//
// Consider a message that rank 0 receives from rank p. It equals the one that rank 0 itself sends
// to the rank at the same distance, as seen from p. This translation is cheap if a value names the
// ranks of its inputs relative to the block that holds the element. Then a translation moves an
// element to another block and leaves the value alone. Where inputs have no blocks that are
// numbered by ranks, every element is taken to exist in one copy for each rank. Copy b names the
// inputs of ranks relative to rank b.
//
// Everything is checked. Whether the collective is the same from every rank follows from its kind
// and cuts. Two rings of half the ranks, declared to be one, lack inputs here as in an unfolded
// walk (decision 20).

// A folding holds the group of a schedule, and the blocks relative to which its values are named.
type folding struct {
	group  schedule.Group
	ranks  int32
	strips []schedule.Strip // of the inputs, numbered by ranks
	copies bool             // the inputs have no such blocks: each is in a copy for every rank
	// mirrored says that a rank's block is that of its digits in the opposite order.
	mirrored   bool
	widths     []schedule.Width // of messages, by handle
	misaligned bool             // on other ranks, operands do not line up as on rank 0
	length     int64            // elements of an input
	sums       map[*value]sum   // how absolute values, or sums of copies, were made
	// an absolute value, and its translation by the rank that it came from
	last    [2]*value
	seenOne [2]value // memory for two resolved operands
	all     []seg    // scratch memory of resolve and apart
}

// A sum records how a value was made: left plus right, where right was translated by by into left's
// block. Without a right it is left, translated by by.
type sum struct {
	left, right *value
	by          int32
}

// Folds returns why the proof of a schedule has to walk all ranks; empty if rank 0 stands for all.
func Folds(s *schedule.Schedule, o Options) string {
	_, why := foldingOf(s, o)
	if even, _, _ := evenedOf(s, o); even != nil {
		return ""
	}
	if _, f, _ := straightOf(s, o); f != nil {
		return ""
	}
	return why
}

// foldingOf returns the folding of a schedule's proof, or why there is none.
func foldingOf(s *schedule.Schedule, o Options) (*folding, string) {
	spec := &s.Spec
	switch {
	case s.Group == nil || spec.Ranks < 2:
		return nil, "the schedule declares no group"
	case s.Teams() != nil || schedule.Composed(s) || len(s.Tensors) > 0:
		return nil, "the schedule is composed of others"
	case o.Causal != nil && o.Causal.Kind != spec.Kind, spec.Empty() && !isBarrier(spec):
		return nil, "it moves no data"
	case !s.SameSizes():
		return nil, "blocks are not of one size"
	case s.AnyStep(reachesOut):
		return nil, "a step is more than messages and local work"
	}
	f := &folding{group: s.Group, ranks: int32(spec.Ranks), length: s.Len(schedule.Input, 0)}
	var strips [schedule.FirstTensor][]schedule.Strip
	for b := range strips {
		if s.ByRank(schedule.Buffer(b)) {
			ok := false
			if strips[b], ok = s.Strips(schedule.Buffer(b)); !ok {
				return nil, "blocks are not the same from every rank"
			}
		}
	}
	f.mirrored = s.Mirrored(schedule.Input)
	if !seenAlike(spec, s.Group, strips[schedule.Input], strips[schedule.Output]) ||
		f.mirrored != s.Mirrored(schedule.Output) || f.mirrored && spec.Kind != collective.AllReduce {
		return nil, "the collective is not the same from every rank"
	}
	if f.strips = strips[schedule.Input]; f.strips == nil {
		f.copies, f.strips = true, []schedule.Strip{{Off: 0, Size: f.length}}
	}
	if !f.copies || spec.Kind == collective.AllReduce {
		f.sums = map[*value]sum{}
	}
	return f, ""
}

// isBarrier reports whether a collective is a barrier.
func isBarrier(spec *collective.Spec) bool { return spec.Kind == collective.Barrier }

// reachesOut reports whether a step does more than bounded FIFO messages and local work.
func reachesOut(step *schedule.Step) bool {
	for i := range step.From {
		f := &step.From[i]
		if f.Kind == schedule.Get || f.Kind == schedule.Multimem || f.Put() ||
			f.Kind == schedule.Message && f.Peer.Class == schedule.Free {
			return true
		}
	}
	for i := range step.Send {
		if d := &step.Send[i]; d.Lands() || d.Silent || d.Peer.Class == schedule.Free {
			return true
		}
	}
	return step.Kernel != nil
}

// seenAlike reports whether the collective is invariant: translating ranks and the blocks of input
// and output takes what one rank must get to what another must get.
func seenAlike(spec *collective.Spec, g schedule.Group, in, out []schedule.Strip) bool {
	blocks := []schedule.Strip{{Off: 0, Size: spec.Count}} // a block for every rank, in order
	switch spec.Kind {
	case collective.AllReduce: // every element ends where it was
		return slices.Equal(in, out)
	case collective.AllGather:
		return in == nil && slices.Equal(out, blocks)
	case collective.ReduceScatter:
		return slices.Equal(in, blocks) && out == nil
	case collective.AllToAll:
		return slices.Equal(in, blocks) && slices.Equal(out, blocks)
	case collective.SendRecv: // from the rank before
		return in == nil && out == nil && len(g) == 1
	}
	return spec.Kind == collective.Barrier
}

// block returns the strip and block of an element of the inputs, and the number of elements from it
// to the block's end.
func (f *folding) block(off int64) (s *schedule.Strip, block int32, left int64) {
	i, begins := slices.BinarySearchFunc(f.strips, off, func(s schedule.Strip, off int64) int {
		return cmp.Compare(s.Off, off)
	})
	if !begins {
		i--
	}
	s = &f.strips[i]
	block = int32((off - s.Off) / s.Size)
	return s, block, s.Off + int64(block+1)*s.Size - off
}

// arrive appends segments that come from a rank, translated to how rank 0 sees them.
func (f *folding) arrive(into, segs []seg, rank int32) []seg {
	from := f.moves(rank)
	f.last = [2]*value{}
	for _, g := range segs {
		if isAbsolute(g.v) {
			g.v = f.fromRank(g.v, rank)
		}
		if g.v == nil || g.v == spoilt {
			into = appendSeg(into, g)
			continue
		}
		for g.n > 0 {
			s, block, n := f.block(g.off)
			n = min(g.n, n+int64(f.group.Together(block, from)-1)*s.Size)
			far := int64(f.group.Add(block, from) - block)
			into = appendSeg(into, seg{n, g.v, g.off + far*s.Size})
			g.n, g.off = g.n-n, g.off+n
		}
	}
	return into
}

// moves returns the translation that a rank causes on blocks; it also maps a block to its rank. The
// two agree since mirroring is its own inverse.
func (f *folding) moves(rank int32) int32 {
	if f.mirrored {
		return f.group.Mirror(rank)
	}
	return rank
}

// noteWidths records whether the operands and messages of a step line up on other ranks as on rank
// 0.
func (f *folding) noteWidths(s *schedule.Schedule, at *schedule.Visit) {
	// only an innermost digit of 2 (XOR) moves parts of a run differently
	if n := len(f.group); n < 2 || f.group[n-1] != 2 {
		return
	}
	w, ok := s.WidthOf(at.Step)
	for _, handle := range at.In {
		ok = ok && (handle < 0 || f.widths[handle] == w)
	}
	for _, handle := range at.Out {
		for int(handle) >= len(f.widths) {
			f.widths = append(f.widths, schedule.Width{})
		}
		if handle >= 0 {
			f.widths[handle] = w
		}
	}
	f.misaligned = f.misaligned || !ok
}

// apart cuts segments at the ends of copies.
func (f *folding) apart(segs []seg) []seg {
	if !slices.ContainsFunc(segs, func(g seg) bool {
		return g.v != nil && g.v != spoilt && g.off%f.length+g.n > f.length
	}) {
		return segs
	}
	all := f.all[:0]
	for _, g := range segs {
		for g.v != nil && g.v != spoilt && g.off%f.length+g.n > f.length {
			n := f.length - g.off%f.length
			all = append(all, seg{n, g.v, g.off})
			g.n, g.off = g.n-n, g.off+n
		}
		all = append(all, g)
	}
	f.all = all
	return append(segs[:0], all...)
}

// aligned translates y's value into x's block, and moves both offsets into the first copy. It
// returns the translation. REQUIRES: copies.
func (f *folding) aligned(x, y seg) (seg, seg, int32) {
	a, b := int32(x.off/f.length), int32(y.off/f.length)
	by := f.group.Sub(b, a)
	y.v = f.moved(y.v, by)
	x.off, y.off = x.off%f.length, y.off%f.length
	return x, y, by
}

// translated returns the number of an input with its rank translated, in the same iteration.
func (f *folding) translated(input, by int32) int32 {
	return input/f.ranks*f.ranks + f.group.Add(input%f.ranks, by)
}

// moved returns a value with the ranks of its inputs translated.
func (f *folding) moved(v *value, by int32) *value {
	if by == 0 {
		return v
	}
	moved := *v
	moved.runs = f.movedRuns(moved.small[:0], v.runs, by)
	return &moved
}

// movedRuns appends runs with their ranks translated, sorted and joined again.
func (f *folding) movedRuns(dst, runs []run, by int32) []run {
	from := len(dst)
	for _, r := range runs {
		for r.from < r.to {
			call := r.from / f.ranks * f.ranks // the first number of its iteration
			first := r.from - call
			n := min(r.to-r.from, f.group.Together(first, by))
			to := call + f.group.Add(first, by)
			dst = append(dst, run{to, to + n, r.times})
			r.from += n
		}
	}
	slices.SortFunc(dst[from:], func(a, b run) int { return cmp.Compare(a.from, b.from) })
	last := from
	for _, r := range dst[min(from+1, len(dst)):] {
		if k := &dst[last]; k.to == r.from && k.times == r.times {
			k.to = r.to
			continue
		}
		last++
		dst[last] = r
	}
	return dst[:min(last+1, len(dst))]
}

// seen returns the beginning of a cell in absolute terms: its value with the ranks' own numbers and
// its offset in the inputs. It also returns how many of the cell's n elements that describes.
func (f *folding) seen(c cell, n int64) (cell, int64) {
	if c.v == nil || c.v == spoilt {
		return c, n
	}
	if !f.copies && len(c.v.runs) == 1 && c.v.runs[0].to-c.v.runs[0].from == f.ranks &&
		c.v.runs[0].from%f.ranks == 0 { // all ranks: the same from every block
		return c, n
	}
	_, block, left := f.block(c.off)
	if !c.v.absolute {
		c.v = f.moved(c.v, f.moves(block))
	}
	if f.copies {
		c.off %= f.length
	}
	return c, min(n, left)
}

// flows returns the traffic of all ranks, given that of rank 0.
func (f *folding) flows(own []Traffic) []Traffic {
	all := make([]Traffic, 0, len(own)*int(f.ranks))
	for rank := range f.ranks {
		for _, t := range own {
			all = append(all, Traffic{int(rank), int(f.group.Add(int32(t.To), rank)), t.Bytes})
		}
	}
	return all
}
