package reference

import (
	"fmt"
	"math"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// RunBytes runs a schedule as RunWith does, on elements of the schedule's type as little-endian
// bytes.
func RunBytes(s *schedule.Schedule, inputs [][]byte, o RunOptions) ([][]byte, error) {
	for rank, in := range inputs {
		if width := max(s.Spec.Type.Width(), 1); len(in)%width != 0 {
			return nil, fmt.Errorf("rank %d has %d bytes: elements of %v have %d", rank,
				len(in), s.Spec.Type, width)
		}
	}
	return typeOf(s.Spec.Type).run(s, inputs, o)
}

// typed is the package's operations in one number format, for callers that learn the format at run
// time.
type typed interface {
	check(v *survey, o *CheckOptions, w work) (Report, error)
	checkSample(s *schedule.Schedule, o *CheckOptions) (Report, error)
	run(s *schedule.Schedule, inputs [][]byte, o RunOptions) ([][]byte, error)

	canonical(elements []byte) []byte
	text(element []byte) string
	isNaN(element []byte) bool
	value(t *term, leaves func(position int) []byte) []byte
	// outside compares outputs of all ranks with the definition, and calls wrong for elements that
	// no order of additions gives, with the right value.
	outside(spec *collective.Spec, in, out [][]byte,
		wrong func(position int, element int64, right []byte)) error
	twice(elements []byte) []byte // doubles each
	one() []byte

	// Operations on tensors of programs, and by steps that compute.
	unwritten() []byte
	combined(spec *collective.Spec, list []operand, wide bool) []byte
	define(spec *collective.Spec, in [][]byte) ([][]byte, error)
	doubts(spec *collective.Spec, in [][]byte, r rounding, moved []*doubt) []*doubt
	widened(dst []float64, elements []byte)
	generate(n int64, data Data, seed uint64, rank int) []byte
	numbers(values []float64) []byte
	checkKernels(s *schedule.Schedule, o *CheckOptions) (Report, error)
	hold(want, got []byte, d *doubt) tensorFinding
}

// typeOf returns the operations of a type; a barrier, which has none, gets any.
func typeOf(t dtype.Type) typed {
	switch t {
	case 0, dtype.Float32:
		return as[float32]{}
	case dtype.Float64:
		return as[float64]{}
	case dtype.Float16:
		return as[dtype.F16]{}
	case dtype.BFloat16:
		return as[dtype.BF16]{}
	case dtype.Float8E4M3:
		return as[dtype.E4M3]{}
	case dtype.Float8E5M2:
		return as[dtype.E5M2]{}
	case dtype.Int8:
		return as[int8]{}
	case dtype.Int16:
		return as[int16]{}
	case dtype.Int32:
		return as[int32]{}
	case dtype.Int64:
		return as[int64]{}
	case dtype.Uint8:
		return as[uint8]{}
	case dtype.Uint16:
		return as[uint16]{}
	case dtype.Uint32:
		return as[uint32]{}
	case dtype.Uint64:
		return as[uint64]{}
	case dtype.Bool:
		return as[dtype.B8]{}
	case dtype.Complex64:
		return complexes[float32]{}
	case dtype.Complex128:
		return complexes[float64]{}
	}
	panic("reference: a valid collective of no type")
}

// as implements typed for the format T.
type as[T dtype.Number] struct{}

func (as[T]) check(v *survey, o *CheckOptions, w work) (Report, error) { return check[T](v, o, w) }

func (as[T]) checkSample(s *schedule.Schedule, o *CheckOptions) (Report, error) {
	return checkSample[T](s, o)
}

func (as[T]) run(s *schedule.Schedule, inputs [][]byte, o RunOptions) ([][]byte, error) {
	values := make([][]T, len(inputs))
	for rank, in := range inputs {
		values[rank] = getAll[T](in)
	}
	results, err := RunWith(s, values, o)
	if err != nil {
		return nil, err
	}
	outputs := make([][]byte, len(results))
	for rank, out := range results {
		outputs[rank] = put(out)
	}
	return outputs, nil
}

func (as[T]) text(element []byte) string { return fmt.Sprint(get[T](element)) }

// isNaN goes by the value: on an integer that holds a float's bits, x != x would be false.
func (as[T]) isNaN(element []byte) bool { return math.IsNaN(dtype.Value(get[T](element))) }

func (as[T]) value(t *term, leaves func(position int) []byte) []byte {
	return valueAs[T](t, leaves)
}

func (as[T]) outside(spec *collective.Spec, in, out [][]byte,
	wrong func(position int, element int64, right []byte)) error {
	inputs, outputs := make([][]T, len(in)), make([][]T, len(out))
	for i := range in {
		inputs[i], outputs[i] = getAll[T](in[i]), getAll[T](out[i])
	}
	_, err := CompareEach(*spec, inputs, outputs, func(rank int, element int64, want T) {
		wrong(rank, element, put([]T{want}))
	})
	return err
}

func (as[T]) twice(elements []byte) []byte {
	x := getAll[T](elements)
	dtype.Sum(x, append([]T{}, x...))
	return put(x)
}

func (as[T]) one() []byte { return put([]T{dtype.From[T](1)}) }

// get returns an element.
func get[T dtype.Number](element []byte) T {
	var x [1]T
	dtype.Get(x[:], element)
	return x[0]
}

// getAll returns elements.
func getAll[T dtype.Number](elements []byte) []T {
	x := make([]T, len(elements)/dtype.Of[T]().Width())
	dtype.Get(x, elements)
	return x
}

// put returns elements as bytes.
func put[T dtype.Number](x []T) []byte {
	b := make([]byte, len(x)*dtype.Of[T]().Width())
	dtype.Put(b, x)
	return b
}
