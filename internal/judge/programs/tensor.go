package programs

import (
	"fmt"
	"slices"
)

// A tensor holds a rank's elements of a tensor, in row-major order.
type tensor struct {
	typ   numberType
	shape []int64
	list  []number
}

// elements returns the number of elements of a shape.
func elements(shape []int64) int64 {
	n := int64(1)
	for _, length := range shape {
		n *= length
	}
	return n
}

// zeros returns a tensor of zeros.
func zeros(typ numberType, shape []int64) *tensor {
	return &tensor{typ, slices.Clone(shape), make([]number, elements(shape))}
}

// with returns a shape with another length of an axis.
func with(shape []int64, axis int, length int64) []int64 {
	other := slices.Clone(shape)
	other[axis] = length
	return other
}

// around returns the number of elements before and after an axis.
func around(shape []int64, axis int) (outer, inner int64) {
	return elements(shape[:axis]), elements(shape[axis+1:])
}

// reshaped returns the same elements in another shape.
func (t *tensor) reshaped(shape []int64) (*tensor, error) {
	if elements(shape) != int64(len(t.list)) {
		return nil, fmt.Errorf("%d elements do not fill the shape %v", len(t.list), shape)
	}
	return &tensor{t.typ, shape, t.list}, nil
}

// cut returns a range of positions along an axis.
func (t *tensor) cut(axis int, from, length int64) *tensor {
	outer, inner := around(t.shape, axis)
	r := &tensor{typ: t.typ, shape: with(t.shape, axis, length)}
	for o := range outer {
		at := (o*t.shape[axis] + from) * inner
		r.list = append(r.list, t.list[at:at+length*inner]...)
	}
	return r
}

// axisOf refuses an axis that a shape does not have.
func axisOf(shape []int64, axis int) error {
	if axis < 0 || axis >= len(shape) {
		return fmt.Errorf("the shape %v has no axis %d", shape, axis)
	}
	return nil
}
