package reference

import (
	"errors"
	"fmt"

	"collsim/collective"
	"collsim/dtype"
)

// Define computes the result of a collective by its definition: from each rank's input, each rank's
// output, empty where it gets nothing. Floats are the exact result, rounded once: to infinity where
// it is too large, or in the 8-bit formats to the largest number. The operator's factor, if any, is
// rounded to T; the mean is the exact one whatever Spec.Avg. Inputs have the lengths of Spec.In.
// The kind custom has no definition.
func Define[T dtype.Number](spec collective.Spec, inputs [][]T) ([][]T, error) {
	if err := fits[T](&spec, inputs); err != nil {
		return nil, err
	}
	if spec.Kind == collective.Custom {
		return nil, errors.New(undefined)
	}
	d := newDefinition(&spec, reader(inputs), false)
	outputs := make([][]T, spec.Ranks)
	for rank := range outputs {
		out := make([]T, spec.Out(rank))
		outputs[rank] = out
		if rank > 0 && spec.Kind.Shared() {
			copy(out, outputs[0])
			continue
		}
		for off := int64(0); off < int64(len(out)); {
			o := d.origin(rank, off)
			n := min(o.n, int64(len(out))-off, block)
			d.produce(out[off:off+n], o)
			off += n
		}
	}
	return outputs, nil
}

// undefined explains why there is nothing to compare with.
const undefined = "custom has no definition to compare with"

// fits returns an error if a spec or given inputs are invalid.
func fits[T dtype.Number](spec *collective.Spec, inputs [][]T) error {
	if err := spec.Validate(); err != nil {
		return err
	}
	if err := Computable(*spec); err != nil {
		return err
	}
	return given(spec, inputs, spec.In)
}

// given returns an error if inputs have the wrong type, number, or lengths.
func given[T dtype.Number](spec *collective.Spec, inputs [][]T, length func(rank int) int64) error {
	if spec.Kind != collective.Barrier && spec.Type != dtype.Of[T]() {
		return fmt.Errorf("inputs are %v, but the collective is of %v", dtype.Of[T](),
			spec.Type)
	}
	if len(inputs) != spec.Ranks {
		return fmt.Errorf("inputs of %d ranks; there are %d", len(inputs), spec.Ranks)
	}
	for rank, in := range inputs {
		if want := length(rank); int64(len(in)) != want {
			return fmt.Errorf("rank %d has %d input elements; %d are expected", rank,
				len(in), want)
		}
	}
	return nil
}

// source fills dst with the elements off, off+1, … of a rank's input.
type source[T dtype.Number] func(dst []T, rank int, off int64)

// reader returns the source of given inputs.
func reader[T dtype.Number](inputs [][]T) source[T] {
	return func(dst []T, rank int, off int64) { copy(dst, inputs[rank][off:]) }
}

// block is the number of elements that are defined at a time: its buffers fit the first-level
// cache.
const block = 2048

// A definition computes the right outputs, element by element, from the meaning of the kind. It
// does not use collective.Spec.Want, so that each can be tested against the other.
type definition[T dtype.Number] struct {
	spec   *collective.Spec
	input  source[T]
	simple bool // float64 sums and products of the inputs are exact
	double bool // T is float64

	buffer [block]T
	wide   []float64
	upper  []T // largest value that the exact result may round to
	sums
}

// newDefinition returns the definition of a collective.
func newDefinition[T dtype.Number](spec *collective.Spec, input source[T],
	simple bool) *definition[T] {
	return &definition[T]{spec: spec, input: input, simple: simple,
		double: dtype.Of[T]() == dtype.Float64}
}

// allRanks as origin.from means the reduction over all ranks.
const allRanks = -1

// An origin is the source of n output elements: elements off, off+1, … of the input of a rank, or
// of the reduction over all.
type origin struct {
	from int
	off  int64
	n    int64
}

// origin returns the origin of element off of a rank's output, and of those after it.
func (d *definition[T]) origin(rank int, off int64) origin {
	s := d.spec
	switch s.Kind {
	case collective.AllReduce, collective.Reduce:
		return origin{allRanks, off, s.Count - off}
	case collective.ReduceScatter:
		return origin{allRanks, int64(rank)*s.Count + off, s.Count - off}
	case collective.ReduceScatterV:
		before := int64(0)
		for r := range rank {
			before += s.Splits[0][r]
		}
		return origin{allRanks, before + off, s.Splits[0][rank] - off}
	case collective.Broadcast:
		return origin{s.Root, off, s.Count - off}
	case collective.Scatter:
		return origin{s.Root, int64(rank)*s.Count + off, s.Count - off}
	case collective.AllGather, collective.Gather:
		return origin{int(off / s.Count), off % s.Count, s.Count - off%s.Count}
	case collective.AllToAll:
		within := off % s.Count
		return origin{int(off / s.Count), int64(rank)*s.Count + within, s.Count - within}
	case collective.SendRecv:
		left := rank - 1
		if left < 0 {
			left = s.Ranks - 1
		}
		return origin{left, off, s.Count - off}
	}
	return d.uneven(rank, off)
}

// uneven computes origin for the kinds that concatenate blocks of given sizes.
func (d *definition[T]) uneven(rank int, off int64) origin {
	for from := range d.spec.Ranks {
		size, before := int64(0), int64(0)
		switch d.spec.Kind {
		case collective.AllGatherV:
			size = d.spec.Splits[0][from]
		case collective.AllToAllV:
			row := d.spec.Splits[from]
			size = row[rank]
			if off < size {
				for _, n := range row[:rank] {
					before += n
				}
			}
		}
		if off < size {
			return origin{from, before + off, size - off}
		}
		off -= size
	}
	panic(fmt.Sprintf("reference: element %d is beyond the output of rank %d", off, rank))
}

// produce sets dst, of at most block elements, to an origin's values.
func (d *definition[T]) produce(dst []T, o origin) {
	switch {
	case o.from != allRanks:
		d.input(dst, o.from, o.off)
	case rounds(d.spec):
		d.reduceFloats(dst, o.off)
	default:
		d.reduce(dst, o.off)
	}
}

// reduce computes what the format itself computes without error: integers, which wrap, and
// minima and maxima.
func (d *definition[T]) reduce(dst []T, off int64) {
	spec := d.spec
	next := d.buffer[:len(dst)]
	for rank := range spec.Ranks {
		into := next
		if rank == 0 {
			into = dst
		}
		d.input(into, rank, off)
		if spec.ScalesBefore() { // integers, by premulsum
			Scale(spec, into)
		}
		if rank > 0 {
			combine(spec.Op, dst, next)
		}
	}
	if spec.Op == collective.Avg { // the wrapped sum, divided once, truncating
		dtype.Divide(dst, spec.Ranks)
	}
}
