package proof

import (
	"cmp"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// A schedule with a group has rank g do what rank 0 does, translated by g: to every peer, and to
// every block that is numbered by ranks. If collective, buffers and cuts are the same from every
// rank too, then so is all that happens: let all ranks carry out a sub-step at once, as they can
// in turn, and what rank g holds at T(e) is what rank 0 holds at e, with the inputs of translated
// ranks in it. So rank 0 is walked, and stands for all.
//
// What it receives from rank p is what rank p has sent it: what it has itself sent to the rank that
// is as far from it, as seen from rank p. That is easily said if a value names the ranks whose
// inputs are in it by how far they are from the number of the block that the element is in: a
// translation takes an element to another block, and leaves the value alone. Where inputs have no
// blocks that are numbered by ranks, every element is taken to be in as many copies, one in each of
// as many blocks as there are ranks, and a value is of some copy: that of block b is of the inputs
// of the ranks that far from b.
//
// Nothing is believed that is not checked: whether the collective is the same from every rank is
// asked of its kind and of the cuts, and two rings of half the ranks that are told to be one lack
// inputs here as elsewhere (decision 20).

// folding is the group of a schedule, and the blocks that its values are seen from.
type folding struct {
	group  schedule.Group
	ranks  int32
	strips []schedule.Strip // of the inputs
	copies bool             // their blocks are copies of the whole
	// mirrored is whether a rank's blocks are those of its digits in the opposite order.
	mirrored   bool
	widths     []schedule.Width // of messages, by handle
	misaligned bool             // operands of other ranks do not stand as those of rank 0 do
	length     int64            // of an input
	sums       map[*value]sum   // how values were made that are here, or of copies that are added
	last       [2]*value        // one that is here, and as it has come from a rank
	seenOne    [2]value         // operands that are combined
	all        []seg            // what resolve and apart have made last
}

// sum is left plus right, which was translated so that its block was left's; without a right it is
// left, translated.
type sum struct {
	left, right *value
	by          int32
}

// Folds says why the proof of a schedule has to walk all ranks; empty if rank 0 stands for all.
func Folds(s *schedule.Schedule, o Options) string {
	_, why := foldingOf(s, o)
	return why
}

// foldingOf is how a schedule's proof is folded, or why it is not.
func foldingOf(s *schedule.Schedule, o Options) (*folding, string) {
	spec := &s.Spec
	switch {
	case s.Group == nil || spec.Ranks < 2:
		return nil, "the schedule declares no group"
	case s.Beside() != nil || s.Parts() != nil || len(s.Tensors) > 0:
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

func isBarrier(spec *collective.Spec) bool { return spec.Kind == collective.Barrier }

// reachesOut reports whether a step does more than messages in a bounded number, and local work.
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

// seenAlike reports whether translations of ranks, and of the blocks of input and output that are
// numbered by ranks, take what one rank is to get to what another is to get.
func seenAlike(spec *collective.Spec, g schedule.Group, in, out []schedule.Strip) bool {
	blocks := []schedule.Strip{{Off: 0, Size: spec.Count}} // one for every rank, one after the other
	switch spec.Kind {
	case collective.AllReduce: // every element is to be where it was
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

// block is the block that an element of the inputs is in, and the elements that it has there from
// this one on.
func (f *folding) block(off int64) (s *schedule.Strip, block int32, left int64) {
	i := 0
	for i+1 < len(f.strips) && f.strips[i+1].Off <= off {
		i++
	}
	s = &f.strips[i]
	block = int32((off - s.Off) / s.Size)
	return s, block, s.Off + int64(block+1)*s.Size - off
}

// arrive appends what has come from a rank, as it is seen from here.
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
			n = min(g.n, n+int64(f.together(block, from)-1)*s.Size)
			far := int64(f.group.Add(block, from) - block)
			into = appendSeg(into, seg{n, g.v, g.off + far*s.Size})
			g.n, g.off = g.n-n, g.off+n
		}
	}
	return into
}

// moves is the translation of blocks by a rank, and the rank of a block: rank 0 of block 0.
func (f *folding) moves(rank int32) int32 {
	if f.mirrored {
		return f.group.Mirror(rank)
	}
	return rank
}

// stand notes how the operands and messages of a step stand on other ranks.
func (f *folding) noteWidths(s *schedule.Schedule, at *schedule.Visit) {
	if n := len(f.group); n < 2 || f.group[n-1] != 2 { // no run is translated as a whole
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

// together is how many blocks, from one on, a translation moves equally far.
func (f *folding) together(block, by int32) int32 {
	weight := int32(1)
	for i := len(f.group) - 1; i >= 0; i-- {
		d := f.group[i]
		if far := by % d; far > 0 {
			digit, end := block/weight%d, d
			if digit < d-far {
				end = d - far
			}
			return (block/weight+end-digit)*weight - block
		}
		by, weight = by/d, weight*d
	}
	return f.ranks - block
}

// apart cuts segments of copies where these end.
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

// aligned is y with its value seen from x's block, and both at their elements: of copies alone
// anything is changed.
func (f *folding) aligned(x, y seg) (seg, seg, int32) {
	a, b := int32(x.off/f.length), int32(y.off/f.length)
	by := f.group.Sub(b, a)
	y.v = f.moved(y.v, by)
	x.off, y.off = x.off%f.length, y.off%f.length
	return x, y, by
}

// translated is an input translated, of the same iteration.
func (f *folding) translated(input, by int32) int32 {
	return input/f.ranks*f.ranks + f.group.Add(input%f.ranks, by)
}

// moved is a value with its ranks translated.
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
			call := r.from / f.ranks * f.ranks // of the iteration, the first
			first := r.from - call
			n := min(r.to-r.from, f.together(first, by))
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

// seen is the beginning of a cell as rank 0 sees it: its value with the ranks' own numbers, its
// offset in the inputs, and how many of its n elements are so.
func (f *folding) seen(c cell, n int64) (cell, int64) {
	if c.v == nil || c.v == spoilt {
		return c, n
	}
	if !f.copies && len(c.v.runs) == 1 && c.v.runs[0].to-c.v.runs[0].from == f.ranks &&
		c.v.runs[0].from%f.ranks == 0 { // all ranks, from wherever one looks
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

// flows is what all ranks send where rank 0 has sent so much.
func (f *folding) flows(own []Traffic) []Traffic {
	all := make([]Traffic, 0, len(own)*int(f.ranks))
	for rank := range f.ranks {
		for _, t := range own {
			all = append(all, Traffic{int(rank), int(f.group.Add(int32(t.To), rank)), t.Bytes})
		}
	}
	return all
}
