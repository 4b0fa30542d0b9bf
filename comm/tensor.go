package comm

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
)

// Tensor is elements in C order, little-endian, in somebody's memory.
type Tensor struct {
	Type  dtype.Type
	Shape collective.Shape
	Data  []byte
}

// Of is a tensor of a shape in memory of its own, with these values; without values it is zeros.
// REQUIRES: there are none, or as many as the shape has elements.
func Of[T dtype.Number](shape collective.Shape, values ...T) Tensor {
	n := shape.Elements()
	if len(values) > 0 && int64(len(values)) != n {
		panic(fmt.Sprintf("comm: %d values for a tensor of shape %v", len(values), shape))
	}
	t := Tensor{dtype.Of[T](), shape, make([]byte, n*int64(dtype.Of[T]().Width()))}
	dtype.Put(t.Data, values)
	return t
}

// Values are the elements of a tensor. REQUIRES: they are of type T.
func Values[T dtype.Number](t Tensor) []T {
	if t.Type != dtype.Of[T]() {
		panic(fmt.Sprintf("comm: values of %v of a tensor of %v", dtype.Of[T](), t.Type))
	}
	values := make([]T, t.Shape.Elements())
	dtype.Get(values, t.Data)
	return values
}

// Rows is a part of a tensor in the same memory: n lengths of its first axis, from one on. It is
// how a buffer in place is named. REQUIRES: the tensor has them.
func (t Tensor) Rows(from, n int64) Tensor {
	row := t.Shape[1:].Elements() * int64(t.Type.Width())
	shape := slices.Clone(t.Shape)
	shape[0] = n
	return Tensor{t.Type, shape, t.Data[from*row : (from+n)*row]}
}
