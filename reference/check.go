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

// CheckOptions configure a check; the zero value is the usual choice.
type CheckOptions struct {
	Seed uint64
	Data Data
	// Memory bounds all buffers of the check, in bytes; 0 means 1 GiB. The need is counted as if
	// everything were held at once: outputs, scratch, inputs where they are stored, and messages in
	// flight. Mostly far less is held.
	Memory int64
	// Rebuild makes the schedule of the same collective with another Count. A check that needs more
	// than Memory uses a smaller one. That is the largest with the same remainder modulo the number
	// of chunks, as far as its need is proportional.
	Rebuild func(count int64) (*schedule.Schedule, error)
	// Most, if not 0, is the largest Count to check. Above it, a sample is checked, with the same
	// remainder modulo the number of chunks. It needs Rebuild, and no splits.
	Most int64
	// Sample, if not 0, is the number of output elements to check, on any ranks; only what these
	// depend on is computed. It needs a schedule that Samples accepts.
	Sample int
	// Smaller makes the same program with all sizes divided by 2, 4, 8, …; it returns nil if it
	// cannot. The check of a program, or of a composed schedule, that needs more than Memory or
	// FLOPs uses the first that does not. Without Smaller it is not made, and Report.Why says so.
	Smaller func(by int64) (*schedule.Schedule, error)
	// FLOPs bounds the operations of all kernels in a program's check, the schedule's and the
	// definition's, as kernel.Op.FLOPs counts them. 0 means 100·10⁹, about ten seconds on a
	// processor core or two.
	FLOPs int64
	// Slots is the number of slots of connections that do not declare their own; 0 is unlimited.
	Slots      int
	Accumulate Accumulate
	// Given are elements of given tensors of a program, in place of those that Data makes.
	Given Values
	// Wanted lists tensors of a program whose elements the report has at the end.
	Wanted []string
	// Theirs are tensors of a program as another implementation has computed them. Report.Judged has
	// them held against the program, op by op.
	Theirs Values
	// Progress is called after each window of elements with how many are done, of how many, by one
	// goroutine at a time; nil is not called.
	Progress func(done, total int64)
}

// A Verdict is how the numbers of a schedule compare with the definition.
type Verdict string

// The verdicts, as in JSON.
const (
	NumbersExact    Verdict = "exact"    // all elements are equal
	NumbersBounded  Verdict = "bounded"  // all are within the proven bound of rounding errors
	NumbersMismatch Verdict = "mismatch" // some are not
	// NumbersUnbounded occurs in programs: all elements are equal or within the bound, except some
	// without a derived bound. These are products of sums that rounding may have changed, integers
	// made of such, and values that may be too large on the way. MaxULP states their distance.
	NumbersUnbounded Verdict = "unbounded"
	// NumbersStandIn occurs in programs with opaque kernels that write: what they write is a
	// stand-in, a function of all that they read. It shows that the right elements are where they
	// should be, but not their values. Report.Why has the verdict on everything else.
	NumbersStandIn Verdict = "stand-in"
	NumbersOff     Verdict = "off" // there is nothing to compare with
)

// A Report is the outcome of a check.
type Report struct {
	Numbers Verdict
	// Checked is the Count that was checked; for kinds with splits the largest buffer's elements,
	// for programs the largest result's.
	Checked int64
	Sampled int   // output elements checked, for CheckOptions.Sample; else 0
	Wrong   int64 // output elements out of bounds, over all ranks
	// MaxULP is the largest distance to the definition in units in the last place, or in ones for
	// integers, over all finite elements. The unit is that of the definition or, in a sum, of its
	// largest finite addend if that is larger. For where addends cancel, the result may be 0, and
	// its own units are meaningless. MeanULP is the mean over all elements of all ranks, to 2^−20;
	// an element counts at most 2^32.
	MaxULP, MeanULP float64
	// MaxRelative is the largest distance relative to the definition, where that is neither 0 nor
	// infinite.
	MaxRelative float64
	// Depth is the largest number of roundings between an input and a result: additions, or with
	// Accumulate InFloat32 steps that add; in products all of them. Bound follows from it. For any
	// data, the sum of an element is within Bound·Σ|x| of the exact one (in products, |Πx|), except
	// for scales. Both are 0 where nothing rounds. See the package's comment.
	Depth int
	Bound float64
	// RanksAgree says that all ranks hold the same bits, where the kind gives them the same output.
	RanksAgree bool
	First      *Mismatch // the wrong element of the lowest rank and index, nil if none
	Why        string    // of NumbersOff: why nothing was compared; of NumbersStandIn, for what
	// Digest identifies all results of a program that has a meaning, equal for all that compute the
	// same: a SHA-256 in hexadecimal (digest.go).
	Digest string
	Values Values   // of CheckOptions.Wanted
	Judged []Judged // CheckOptions.Theirs, in the order of the ops that write them last
}

// A Mismatch is an output element that is wrong. Its values are text, with all their digits: a
// float64 does not hold every int64, and JSON no NaN.
type Mismatch struct {
	Tensor    string // of a program; empty of an output
	Rank      int
	Element   int64
	Got, Want string
}

// String formats the mismatch, such as "rank 3 element 17 is 4; 5 is wanted".
func (m *Mismatch) String() string {
	if m.Tensor != "" {
		return fmt.Sprintf("rank %d %s element %d is %v; %v is wanted", m.Rank, m.Tensor, m.Element,
			m.Got, m.Want)
	}
	return fmt.Sprintf("rank %d element %d is %v; %v is wanted", m.Rank, m.Element, m.Got, m.Want)
}

// after reports whether the mismatch is nil, or comes after an element.
func (m *Mismatch) after(rank int, element int64) bool {
	return m == nil || rank < m.Rank || rank == m.Rank && element < m.Element
}

// Check computes a schedule and its collective's definition on the same inputs and compares all
// outputs. A schedule that cannot be executed is a *schedule.Violation or *schedule.StallError. A
// factor that the type does not have, or too little memory, is another error. A schedule of the
// kind custom that does not define what it computes is not executed. The report depends on the
// schedule and the options only.
//
// A program, or a schedule that Compose has made, is compared with its definitions, tensor by
// tensor: see RunTensors and DefineTensors. The error of a rounded sum is propagated through
// everything computed from it. A schedule with a meaning (schedule.Meaning) is compared with that,
// op by op. Every result of an op that is in memory is compared with the op's result on the
// operands that the schedule itself has. A check that is too large is not made, which is not an
// error.
//
// The definition rounds the exact result. So it is infinite, or the 8-bit formats' largest number,
// only if that is too large. If partial sums are too large though the result is not, the schedule
// gives another value, which the bound does not cover. That is a finding about the schedule on
// these data, reported as a mismatch. Exact data are never too large.
//
// Where a switch adds floats (multimem), the report is NumbersBounded at best. Order and width of a
// switch's additions are not published, and only one order was compared. Integers, minima and
// maxima do not depend on that.
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
	if s.Spec.Type.IsComplex() {
		return checkComponents(s, o)
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

// countOf returns the number of elements as in the NCCL call; where blocks differ, of the largest
// buffer.
func countOf(spec *collective.Spec) int64 {
	if spec.Kind.Splits() {
		return int64(spec.Bytes()) / int64(spec.Type.Width())
	}
	return spec.Count
}

// check computes and compares all windows, on all processors. Windows are independent, and the
// result does not depend on their order.
func check[T dtype.Number](v *survey, o *CheckOptions, w work) (Report, error) {
	windows := v.windows(w.window)
	workers := int(min(int64(w.workers), windows))
	all, rounding := newGenerator[T](&v.s.Spec, o.Data, o.Seed), v.rounding()
	results := make([]*comparison[T], workers)
	errs, panics := make([]error, workers), make([]any, workers)
	var next atomic.Int64
	windowEnds := o.counted(windows)
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
				windowEnds()
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

// counted returns a function that reports one more of so many to Progress.
func (o *CheckOptions) counted(total int64) func() {
	var lock sync.Mutex
	done := int64(0)
	return func() {
		if o.Progress == nil {
			return
		}
		lock.Lock()
		defer lock.Unlock()
		done++
		o.Progress(done, total)
	}
}

// doubt weakens the verdict of a report where a switch adds, since its order is unknown.
func (v *survey) doubt(r Report) Report {
	if v.code.merges && rounds(&v.s.Spec) && r.Numbers == NumbersExact {
		r.Numbers = NumbersBounded
	}
	return r
}

// together combines the findings of all workers.
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
