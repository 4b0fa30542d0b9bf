package comm

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
)

// Tensor is a view of elements in C order, little-endian. Its creator owns the memory.
type Tensor struct {
	Type  dtype.Type
	Shape collective.Shape
	Data  []byte
}

// Of makes a tensor of a shape in new memory, with these values; without values it is zeros.
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

// Values returns the elements of a tensor. REQUIRES: they are of type T.
func Values[T dtype.Number](t Tensor) []T {
	if t.Type != dtype.Of[T]() {
		panic(fmt.Sprintf("comm: values of %v of a tensor of %v", dtype.Of[T](), t.Type))
	}
	values := make([]T, t.Shape.Elements())
	dtype.Get(values, t.Data)
	return values
}

// Rows returns a part of a tensor in the same memory: n indices of its first axis, from from on.
// Buffers in place are made so. REQUIRES: the tensor has them.
func (t Tensor) Rows(from, n int64) Tensor {
	row := t.Shape[1:].Elements() * int64(t.Type.Width())
	shape := slices.Clone(t.Shape)
	shape[0] = n
	return Tensor{t.Type, shape, t.Data[from*row : (from+n)*row]}
}
