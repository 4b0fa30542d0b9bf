package reference

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// CheckOptions say how to check; the zero value is the usual way.
type CheckOptions struct {
	Seed uint64
	Data Data
	// Memory bounds all buffers of the check, in bytes; 0 is 1 GiB. What a check needs is counted
	// as if it were held all at once: outputs, scratch, inputs where they are stored, and
	// messages in flight. Mostly far less is held.
	Memory int64
	// Rebuild makes the schedule of the same collective with another Count. A check that needs
	// more than Memory is made on a smaller one: the largest with the same remainder modulo the
	// number of chunks, as far as its need is proportional.
	Rebuild func(count int64) (*schedule.Schedule, error)
	// Most, if not 0, is the largest Count to check: of more, a sample is checked, with the same
	// remainder modulo the number of chunks. It takes Rebuild, and no splits.
	Most int64
	// Sample, if not 0, is how many output elements to check, of whichever ranks, and to compute no
	// more than these depend on. It takes a schedule that Samples has no objection to.
	Sample int
	// Smaller makes the same program with sizes that are one of by parts, 2, 4, 8, …; or returns nil
	// if it cannot. The check of a program, or of a composed schedule, that needs more than Memory or
	// FLOPs is made on the first that does not; without, it is not made, and Report.Why says so.
	Smaller func(by int64) (*schedule.Schedule, error)
	// FLOPs bounds the operations of all kernels of a program's check, the schedule's and the
	// definition's, as kernel.Op.FLOPs counts them; 0 is 100·10⁹, some ten seconds on a processor core
	// or two.
	FLOPs int64
	// Slots is what connections hold that do not declare their own; 0 is any number.
	Slots      int
	Accumulate Accumulate
}

// Verdict is how the numbers of a schedule compare with the definition.
type Verdict string

// The verdicts, as in JSON.
const (
	NumbersExact    Verdict = "exact"    // all elements are equal
	NumbersBounded  Verdict = "bounded"  // all are within the proven bound of rounding errors
	NumbersMismatch Verdict = "mismatch" // some are not
	// NumbersUnbounded is of programs: all are equal or within the bound but some of which nobody has
	// derived one: products of sums that rounding may have changed, integers that are made of such,
	// and what may be too large on the way. How far they are says MaxULP.
	NumbersUnbounded Verdict = "unbounded"
	NumbersOff       Verdict = "off" // there is nothing to compare with
)

// Report is the outcome of a check.
type Report struct {
	Numbers Verdict
	// Checked is the Count that was checked; for kinds with splits the largest buffer's elements, of
	// programs the largest result's.
	Checked int64
	Sampled int   // how many output elements were checked, of CheckOptions.Sample; else 0
	Wrong   int64 // output elements that are out of bounds, over all ranks
	// MaxULP is the largest distance to the definition in units in the last place, or in ones for
	// integers, of all elements for which that is a number. The unit is that of the definition or, of
	// a sum, of its largest finite addend if that is larger: where addends cancel, the result may be
	// 0, and no number of its own units says anything. MeanULP is the mean over all elements
	// of all ranks, to 2^−20; of an element, no more than 2^32 are counted.
	MaxULP, MeanULP float64
	// MaxRelative is the largest distance by what the definition is, where that is neither 0 nor
	// infinite.
	MaxRelative float64
	// Depth is how many roundings lie between an input and a result at most: additions, or with
	// Accumulate InFloat32 steps that add; of products all of them. Bound is what follows from it:
	// of any data, the sum of an element is within Bound·Σ|x| of the exact one (of products, |Πx|),
	// but for scales. Both are 0 where nothing rounds. See the package's comment.
	Depth int
	Bound float64
	// RanksAgree says that all ranks hold the same bits, where the kind gives all the same output.
	RanksAgree bool
	First      *Mismatch // the wrong element of the lowest rank and index, nil if none
	Why        string    // of NumbersOff: why nothing was compared
	// Digest is one of all results of a program that has a meaning, equal for all that compute the
	// same: a SHA-256 in hexadecimal (digest.go).
	Digest string
}

// Mismatch is an output element that is wrong. Its values are text, with all their digits: a
// float64 does not hold every int64, and JSON no NaN.
type Mismatch struct {
	Tensor    string // of a program; empty of an output
	Rank      int
	Element   int64
	Got, Want string
}

// String is such as "rank 3 element 17 is 4; 5 is wanted".
func (m *Mismatch) String() string {
	if m.Tensor != "" {
		return fmt.Sprintf("rank %d %s element %d is %v; %v is wanted", m.Rank, m.Tensor, m.Element,
			m.Got, m.Want)
	}
	return fmt.Sprintf("rank %d element %d is %v; %v is wanted", m.Rank, m.Element, m.Got, m.Want)
}

// after reports whether the mismatch is none, or comes after an element.
func (m *Mismatch) after(rank int, element int64) bool {
	return m == nil || rank < m.Rank || rank == m.Rank && element < m.Element
}

// Check computes a schedule and its collective's definition on the same inputs and compares all
// outputs. A schedule that cannot be carried out is a *schedule.Violation or *schedule.StallError;
// a factor that is not one of the type, or too little memory, is another error. A schedule of the
// kind custom that does not define what it computes is not carried out. The report is a function of
// the schedule and the options alone.
//
// A program, or a schedule that Compose has made, is held against its definitions, tensor by
// tensor: see RunTensors and DefineTensors. What may be off because a sum was rounded is followed
// through all that is made of it. One that has a meaning (schedule.Meaning) is held against that,
// op by op: every result of an op that is in memory, against what the op makes of the operands that
// the schedule itself has. A check that is too much is not made, and not an error.
//
// The definition rounds the exact result, so it is infinite, or the 8-bit formats' largest number,
// only if that is too large. A schedule whose partial sums are too large though the result is not
// gives something else, and the bound does not cover it: that is a finding about the schedule on
// these data, reported as a mismatch. Exact data never are too large.
//
// Where a switch adds floats (multimem), the report never says more than NumbersBounded: order and
// width of its additions are not published, and what was compared is one of the orders. Integers,
// minima and maxima do not depend on that.
func Check(s *schedule.Schedule, o CheckOptions) (Report, error) {
	if err := s.Spec.Validate(); err != nil {
		return Report{}, err
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	if programmed(s) {
		return checkProgram(s, &o)
	}
	if s.Spec.Kind == collective.Custom {
		return Report{Numbers: NumbersOff, Why: undefined}, nil
	}
	if err := Computable(s.Spec); err != nil {
		return Report{}, err
	}
	if o.Sample > 0 {
		return typeOf(s.Spec.Type).checkSample(s, &o)
	}
	v, err := affordable(s, &o)
	if err != nil {
		return Report{}, err
	}
	if v.s.Spec.Kind == collective.Barrier { // no elements
		return Report{Numbers: NumbersExact, RanksAgree: true}, nil
	}
	if v.kernels {
		return checkKernels(v.s, &o)
	}
	var r Report
	work := v.divide(runtime.GOMAXPROCS(0), o.Memory)
	r, err = typeOf(v.s.Spec.Type).check(v, &o, work)
	r.Checked = countOf(&v.s.Spec)
	return r, err
}

// countOf is the number of elements as in the NCCL call; where blocks differ, of the largest
// buffer.
func countOf(spec *collective.Spec) int64 {
	if spec.Kind.Splits() {
		return int64(spec.Bytes()) / int64(spec.Type.Width())
	}
	return spec.Count
}

// check computes and compares all windows, on all processors. Windows are independent, and how
// findings are put together does not depend on their order.
func check[T dtype.Number](v *survey, o *CheckOptions, w work) (Report, error) {
	windows := v.windows(w.window)
	workers := int(min(int64(w.workers), windows))
	all, rounding := newGenerator[T](&v.s.Spec, o.Data, o.Seed), v.rounding()
	results := make([]*comparison[T], workers)
	errs, panics := make([]error, workers), make([]any, workers)
	var next atomic.Int64
	var done sync.WaitGroup
	for i := range workers {
		done.Add(1)
		go func() {
			defer done.Done()
			defer func() { panics[i] = recover() }()
			g := all.another()
			m := newMachine(v, g.fill, w.window)
			c := newComparison(newDefinition(&v.s.Spec, g.fill, g.simple()), rounding)
			c.m = m
			results[i] = c
			for index := next.Add(1) - 1; index < windows; index = next.Add(1) - 1 {
				if errs[i] = m.compute(index); errs[i] != nil {
					return
				}
				c.outputs()
			}
		}()
	}
	done.Wait()
	for i := range results {
		if panics[i] != nil {
			panic(panics[i])
		}
		if errs[i] != nil {
			return Report{}, errs[i]
		}
	}
	return v.doubt(together(results)), nil
}

// doubt is a report of what is in doubt where a switch adds: nobody tells its order.
func (v *survey) doubt(r Report) Report {
	if v.code.merges && rounds(&v.s.Spec) && r.Numbers == NumbersExact {
		r.Numbers = NumbersBounded
	}
	return r
}

// together puts the findings of all workers together.
func together[T dtype.Number](results []*comparison[T]) Report {
	total, inexact := Report{Numbers: NumbersExact, RanksAgree: true}, false
	var mean mean
	for _, c := range results {
		mean.add(c.mean.hi, c.mean.lo, c.mean.elements)
		total.MaxRelative = max(total.MaxRelative, c.report.MaxRelative)
		total.Depth, total.Bound = c.report.Depth, c.report.Bound
		inexact = inexact || c.inexact
		total.Wrong += c.report.Wrong
		total.MaxULP = max(total.MaxULP, c.report.MaxULP)
		total.RanksAgree = total.RanksAgree && c.report.RanksAgree
		if m := c.report.First; m != nil && total.First.after(m.Rank, m.Element) {
			total.First = m
		}
	}
	total.MeanULP = mean.value()
	switch {
	case total.Wrong > 0:
		total.Numbers = NumbersMismatch
	case inexact:
		total.Numbers = NumbersBounded
	}
	return total
}
