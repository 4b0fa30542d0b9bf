package reference

import (
	"fmt"

	"collsim/dtype"
	"collsim/schedule"
)

// RunBytes is RunWith on elements of the schedule's type as bytes, little-endian.
func RunBytes(s *schedule.Schedule, inputs [][]byte, o RunOptions) ([][]byte, error) {
	for rank, in := range inputs {
		if width := max(s.Spec.Type.Width(), 1); len(in)%width != 0 {
			return nil, fmt.Errorf("reference: rank %d has %d bytes: elements of %v have %d", rank,
				len(in), s.Spec.Type, width)
		}
	}
	return typeOf(s.Spec.Type).run(s, inputs, o)
}

// typed is what is done in one type where only its name is known.
type typed interface {
	check(v *survey, o *CheckOptions, w work) (Report, error)
	run(s *schedule.Schedule, inputs [][]byte, o RunOptions) ([][]byte, error)
}

// typeOf is what is done in a type; a barrier, which has none, takes any.
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
	}
	panic("reference: a valid collective of no type")
}

// as is what is done in T.
type as[T dtype.Number] struct{}

func (as[T]) check(v *survey, o *CheckOptions, w work) (Report, error) { return check[T](v, o, w) }

func (as[T]) run(s *schedule.Schedule, inputs [][]byte, o RunOptions) ([][]byte, error) {
	values := make([][]T, len(inputs))
	for rank, in := range inputs {
		values[rank] = make([]T, len(in)/dtype.Of[T]().Width())
		dtype.Get(values[rank], in)
	}
	results, err := RunWith(s, values, o)
	if err != nil {
		return nil, err
	}
	outputs := make([][]byte, len(results))
	for rank, out := range results {
		outputs[rank] = make([]byte, len(out)*dtype.Of[T]().Width())
		dtype.Put(outputs[rank], out)
	}
	return outputs, nil
}
