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
	// Slots is what connections hold that do not declare their own; 0 is any number.
	Slots int
}

// Verdict is how the numbers of a schedule compare with the definition.
type Verdict string

// The verdicts, as in JSON.
const (
	NumbersExact    Verdict = "exact"    // all elements are equal
	NumbersBounded  Verdict = "bounded"  // all are within the bound that is proven for any order
	NumbersMismatch Verdict = "mismatch" // some are not
	NumbersOff      Verdict = "off"      // there is nothing to compare with
)

// Report is the outcome of a check.
type Report struct {
	Numbers Verdict
	Checked int64 // the Count that was checked; for kinds with splits the largest buffer's elements
	Wrong   int64 // output elements that are out of bounds, over all ranks
	// MaxULP is the largest distance to the definition in units of its last place, or in ones for
	// integers, of all elements for which that is a number.
	MaxULP float64
	// RanksAgree says that all ranks hold the same bits, where the kind gives all the same output.
	RanksAgree bool
	First      *Mismatch // the wrong element of the lowest rank and index, nil if none
	Why        string    // of NumbersOff: why nothing was compared
}

// Mismatch is an output element that is wrong. Its values are text, with all their digits: a
// float64 does not hold every int64, and JSON no NaN.
type Mismatch struct {
	Rank      int
	Element   int64
	Got, Want string
}

// String is such as "rank 3 element 17 is 4; 5 is wanted".
func (m *Mismatch) String() string {
	return fmt.Sprintf("rank %d element %d is %v; %v is wanted", m.Rank, m.Element, m.Got, m.Want)
}

// after reports whether the mismatch is none, or comes after an element.
func (m *Mismatch) after(rank int, element int64) bool {
	return m == nil || rank < m.Rank || rank == m.Rank && element < m.Element
}

// Check computes a schedule and its collective's definition on the same inputs and compares all
// outputs. A schedule that cannot be carried out is a *schedule.Violation or *schedule.StallError;
// a type that cannot be computed with, or too little memory, is another error. A schedule of the
// kind custom, which has no definition, is not carried out. The report is a function of the
// schedule and the options alone.
//
// Where a switch adds floats (multimem), the report never says more than NumbersBounded: order and
// width of its additions are not published, and what was compared is one of the orders. Integers,
// minima and maxima do not depend on that.
func Check(s *schedule.Schedule, o CheckOptions) (Report, error) {
	if err := s.Spec.Validate(); err != nil {
		return Report{}, err
	}
	if s.Spec.Kind == collective.Custom {
		return Report{Numbers: NumbersOff, Why: undefined}, nil
	}
	if err := refuse(&s.Spec); err != nil {
		return Report{}, err
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	v, err := affordable(s, &o)
	if err != nil {
		return Report{}, err
	}
	if v.s.Spec.Kind == collective.Barrier { // no elements
		return Report{Numbers: NumbersExact, RanksAgree: true}, nil
	}
	var r Report
	work := v.divide(runtime.GOMAXPROCS(0), o.Memory)
	switch s.Spec.Type {
	case dtype.Float32:
		r, err = check[float32](v, &o, work)
	case dtype.Float64:
		r, err = check[float64](v, &o, work)
	case dtype.Int32:
		r, err = check[int32](v, &o, work)
	default:
		r, err = check[int64](v, &o, work)
	}
	if r.Checked = v.s.Spec.Count; v.s.Spec.Kind.Splits() {
		r.Checked = int64(v.s.Spec.Bytes()) / int64(v.s.Spec.Type.Width())
	}
	return r, err
}

// check computes and compares all windows, on all processors. Windows are independent, and how
// findings are put together does not depend on their order.
func check[T Number](v *survey, o *CheckOptions, w work) (Report, error) {
	windows := v.windows(w.window)
	workers := int(min(int64(w.workers), windows))
	g := newGenerator[T](&v.s.Spec, o.Data, o.Seed)
	results := make([]*comparison[T], workers)
	errs, panics := make([]error, workers), make([]any, workers)
	var next atomic.Int64
	var done sync.WaitGroup
	for i := range workers {
		done.Add(1)
		go func() {
			defer done.Done()
			defer func() { panics[i] = recover() }()
			m := newMachine(v, g.fill, w.window)
			c := newComparison(m, newDefinition(&v.s.Spec, g.fill, g.simple()))
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
	r := together(results)
	op := v.s.Spec.Op
	if v.code.merges && isFloat[T]() && op != collective.Min && op != collective.Max &&
		r.Numbers == NumbersExact {
		r.Numbers = NumbersBounded
	}
	return r, nil
}

// together puts the findings of all workers together.
func together[T Number](results []*comparison[T]) Report {
	total, inexact := Report{Numbers: NumbersExact, RanksAgree: true}, false
	for _, c := range results {
		inexact = inexact || c.inexact
		total.Wrong += c.report.Wrong
		total.MaxULP = max(total.MaxULP, c.report.MaxULP)
		total.RanksAgree = total.RanksAgree && c.report.RanksAgree
		if m := c.report.First; m != nil && total.First.after(m.Rank, m.Element) {
			total.First = m
		}
	}
	switch {
	case total.Wrong > 0:
		total.Numbers = NumbersMismatch
	case inexact:
		total.Numbers = NumbersBounded
	}
	return total
}
