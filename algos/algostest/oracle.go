package algostest

import (
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/reference"

	"github.com/stretchr/testify/require"
)

// Oracle checks an algorithm that is no schedule, such as a library's all-reduce or one's own in
// plain Go, against the definition of a collective. f gets a copy of each rank's input and returns
// each rank's output, of the lengths spec.In and spec.Out; T is the spec's type. Oracle calls f
// three times. On numbers that every order of operations computes exactly, each element must be
// equal. On uniformly and normally distributed numbers, each must be within the rounding bound that
// holds for any order. A failure describes the first difference. The spec's place (InPlace) is
// ignored.
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

// differs describes how f differs from the definition on some data; "" if it does not.
func differs[T dtype.Number](spec collective.Spec, data reference.Data,
	f func(inputs [][]T) [][]T) string {
	inputs, err := reference.Inputs[T](spec, data, 1)
	if err != nil {
		return err.Error()
	}
	given := make([][]T, len(inputs)) // f may write to these
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

// elements returns the number of output elements of all ranks.
func elements(spec collective.Spec) (n int64) {
	for rank := range spec.Ranks {
		n += spec.Out(rank)
	}
	return n
}

// inWords formats a collective, such as "reduce sum of float32 on 4 ranks, count 10, root 2".
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
