package reference

import (
	"fmt"
	"math/bits"

	"collsim/collective"
	"collsim/schedule"
	"collsim/unit"
)

// affordable surveys the schedule, or one that is rebuilt with a smaller count so that its check
// fits into o.Memory bytes. It fails if nothing fits, not even a check window by window.
func affordable(s *schedule.Schedule, o *CheckOptions) (*survey, error) {
	// Kernels are of the sizes that they are written for.
	if most := o.Most; most > 0 && s.Spec.Count > most && o.Rebuild != nil &&
		!s.Spec.Kind.Splits() && !computesKernels(s) {
		next, err := rebuilt(s, o, smaller(s, s.Spec.Count, most))
		if err != nil {
			return nil, err
		}
		s = next
	}
	for {
		limit := o.Memory / 4
		if o.Rebuild != nil && buffers(s, s.Spec.InPlace) > o.Memory { // will not do anyway
			limit = 0
		}
		v, err := look(s, lookOptions{limit, o.Slots, o.Accumulate})
		if err != nil {
			return nil, err
		}
		need, spec := v.need(), &s.Spec
		if need <= o.Memory || v.kernels {
			return v, nil
		}
		if o.Rebuild == nil || spec.Kind.Splits() || spec.Count <= schedule.Components(s) {
			if v.window(1, o.Memory) > 0 { // takes longer, but not more memory
				return v, nil
			}
			return nil, tooLittle(need, o.Memory)
		}
		next, err := rebuilt(s, o, smaller(s, need, o.Memory))
		if err != nil {
			return nil, err
		}
		s = next
	}
}

func tooLittle(need, memory int64) error {
	return fmt.Errorf("the check needs %d bytes, but memory is %d: allow more by [check] "+
		"memory, or use [check] numbers = false", need, memory)
}

// rebuilt builds the schedule again with another count, and verifies that only the count differs.
func rebuilt(s *schedule.Schedule, o *CheckOptions, count int64) (*schedule.Schedule, error) {
	spec := &s.Spec
	next, err := o.Rebuild(count)
	if err != nil {
		return nil, fmt.Errorf("rebuilding with count %d: %w", count, err)
	}
	if next.Spec.Count != count || next.Spec.Ranks != spec.Ranks || next.Spec.Kind != spec.Kind ||
		next.Spec.Type != spec.Type {
		return nil, fmt.Errorf("rebuilt with count %d, the schedule is of %v of %d %v on "+
			"%d ranks", count, next.Spec.Kind, next.Spec.Count, next.Spec.Type, next.Spec.Ranks)
	}
	return next, nil
}

// need estimates the bytes that a check takes if it holds all memories whole, messages in flight
// included. It saturates at the largest int64.
func (v *survey) need() int64 {
	return unit.AddCapped(buffers(v.s, v.stored), unit.MultiplyCapped(v.inFlight, v.width()))
}

// width returns the size of an element in bytes; 0 for a barrier, which has no data.
func (v *survey) width() int64 {
	if v.s.Spec.Kind == collective.Barrier {
		return 0
	}
	return int64(v.s.Spec.Type.Width())
}

// buffers sums up the bytes of all memories of all ranks. Inputs count only if they are stored. The
// sum saturates at the largest int64.
func buffers(s *schedule.Schedule, stored bool) int64 {
	v := survey{s: s, stored: stored}
	total := int64(0)
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		for rank := range s.Spec.Ranks {
			if v.holds(b) {
				total = unit.AddCapped(total, unit.MultiplyCapped(extent(s, b, rank), v.width()))
			}
		}
	}
	return total
}

// smaller returns the largest count, below the schedule's, that is expected to fit into memory if
// the present one takes need bytes. It keeps the remainder modulo the number of chunks where it
// can, so that chunks are as uneven as before.
func smaller(s *schedule.Schedule, need, memory int64) int64 {
	each := schedule.Components(s)
	count := s.Spec.Count / each
	most := max(1, min(scaled(count, max(memory, 0), need), count-1))
	m := chunks(s)
	if less := most - ((most-count)%m+m)%m; less > 0 {
		return less * each
	}
	return most * each
}

// chunks returns the number of pieces that Count is divided into, as far as remainders matter: the
// product of the numbers of channels, blocks, tiles and slices. Blocks do not count for kinds that
// have one block for each rank, because there Count is the size of a block.
func chunks(s *schedule.Schedule) int64 {
	kind, product := s.Spec.Kind, int64(s.Slices)
	perRank := kind.Gathers() || kind.Scatters() || kind == collective.AllToAll
	cut := s.Cuts[schedule.Output]
	if kind.Gathers() {
		cut = s.Cuts[schedule.Input]
	}
	for i := range cut {
		l := &cut[i]
		n := max(1, l.N)
		switch {
		case perRank && l.Axis == schedule.Block, l.Split == schedule.Table:
			n = 1
		case l.Split == schedule.Aligned:
			n *= l.Align
		}
		if product > collective.MaxElements/n {
			return collective.MaxElements
		}
		product *= n
	}
	return product
}

// small is the number of elements moved in all below which windows are not worth their overhead.
// grain is the least number of elements that a sub-step should move within a window, on average.
// resident bounds the bytes that all memories of a window should take. residentAnew replaces it
// where the moves are computed again for each window, since fewer windows are better then.
const (
	small    = 1 << 17
	grain    = 64
	resident = 32 << 20

	residentAnew = 256 << 20
)

// work says how a check is divided: into windows of this many places (0: memories are held whole),
// and among this many machines that run at the same time.
type work struct {
	window  int64
	workers int
}

// divide divides a check among as many machines as there is room for. If that is one of whole
// memories, moves are forgotten where there is no room for them beside.
func (v *survey) divide(workers int, memory int64) work {
	for ; workers > 0; workers-- {
		if window := v.window(workers, memory); window > 0 {
			return work{window, workers}
		}
	}
	if v.need() > memory-v.bytes {
		v.forget()
	}
	return work{0, 1}
}

// window returns how many elements of each part of the buffers are computed at a time. One such
// window for each worker fits into the memory, which is in bytes. A result of 0 or less means no
// windows: they do not fit, are impossible or are not worth their overhead.
func (v *survey) window(workers int, memory int64) int64 {
	longest := v.longestPart()
	if v.ragged || v.moved == 0 || longest == 0 || v.moved < small && v.need() <= memory {
		return 0
	}
	bytes, most := v.perPlace()*v.width(), int64(resident)
	if !v.kept {
		most = residentAnew
	}
	window := min(longest, max(most/bytes, scaled(longest, grain, v.moved/v.steps)))
	window = min(window, (longest+int64(workers)-1)/int64(workers))
	return min(window, (memory-v.bytes)/int64(workers)/bytes)
}

// perPlace bounds the number of elements that a machine holds for each place of a window.
func (v *survey) perPlace() int64 {
	n := v.inFlight/v.longestPart() + 1
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		for rank := range v.s.Spec.Ranks {
			if v.holds(b) && extent(v.s, b, rank) > 0 {
				n += int64(len(v.parts[b].starts))
			}
		}
	}
	return n
}

// scaled returns n·a/b, rounded down, but no more than n.
func scaled(n, a, b int64) int64 {
	if a >= b || a < 0 {
		return n
	}
	hi, lo := bits.Mul64(uint64(n), uint64(a))
	quotient, _ := bits.Div64(hi, lo, uint64(b))
	return int64(quotient)
}

// windows returns the number of windows of this many places that cover the longest part.
func (v *survey) windows(window int64) int64 {
	if window == 0 {
		return 1
	}
	return (v.longestPart() + window - 1) / window
}

func (v *survey) longestPart() int64 {
	most := int64(0)
	for b := schedule.Input; b <= schedule.Scratch; b++ {
		if v.holds(b) {
			most = max(most, v.parts[b].longest())
		}
	}
	return most
}
