package algostest

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/reference"

	"github.com/stretchr/testify/require"
)

// Oracle holds an algorithm that is no schedule, such as a library's all-reduce or one's own in
// plain Go, to the definition of a collective. f gets a copy of each rank's input and returns each
// rank's output, as long as spec.In and spec.Out say; T is the spec's type. It is asked three
// times: on numbers that every order of operations computes exactly, where each element must be
// equal, and on uniformly and normally distributed ones, where each must lie within the rounding
// that is proven for any order. A failure says in words what differs first. Where the spec wants
// input and output is not looked at.
func Oracle[T dtype.Number](t require.TestingT, spec collective.Spec,
	f func(inputs [][]T) [][]T) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	for _, data := range []reference.Data{reference.Exact, reference.Uniform, reference.Normal} {
		if complaint := differs(spec, data, f); complaint != "" {
			t.Errorf("%s", complaint)
			t.FailNow()
			return
		}
	}
}

// differs says how f differs from the definition on some data; "" if it does not.
func differs[T dtype.Number](spec collective.Spec, data reference.Data,
	f func(inputs [][]T) [][]T) string {
	inputs, err := reference.Inputs[T](spec, data, 1)
	if err != nil {
		return err.Error()
	}
	given := make([][]T, len(inputs)) // which f may write to
	for rank, in := range inputs {
		given[rank] = append(make([]T, 0, len(in)), in...)
	}
	report, err := reference.Compare(spec, inputs, f(given))
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", inWords(spec), err)
	case report.First != nil:
		return fmt.Sprintf("%s, %v data: %v; %d of %d elements are wrong", inWords(spec), data,
			report.First, report.Wrong, elements(spec))
	case data == reference.Exact && report.Numbers != reference.NumbersExact:
		return fmt.Sprintf("%s: the definition is exact on this data, the result is not; the largest "+
			"distance is %v units in the last place", inWords(spec), report.MaxULP)
	}
	return ""
}

// elements is the number of output elements of all ranks.
func elements(spec collective.Spec) (n int64) {
	for rank := range spec.Ranks {
		n += spec.Out(rank)
	}
	return n
}

// inWords is such as "reduce sum of float32 on 4 ranks, count 10, root 2".
func inWords(s collective.Spec) string {
	text := s.Kind.String()
	if s.Kind.Reduces() {
		text += " " + s.Op.String()
	}
	if s.Op == collective.PremulSum {
		text += fmt.Sprintf("(factor=%v)", s.Factor)
	}
	text += fmt.Sprintf(" of %v on %d ranks", s.Type, s.Ranks)
	switch {
	case s.Kind.Splits():
		text += fmt.Sprintf(", splits %v", s.Splits)
	case s.Kind != collective.Barrier:
		text += fmt.Sprintf(", count %d", s.Count)
	}
	if s.Kind.Rooted() {
		text += fmt.Sprintf(", root %d", s.Root)
	}
	return text
}
