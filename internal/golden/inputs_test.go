package golden

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/reference"
	"collsim/schedule"
)

// draw is SplitMix64 at a place of its sequence: Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014; as record/inputs.h has it.
func draw(rank, index int) uint64 {
	const seed = 14
	z := 0x9e3779b97f4a7c15 * (1 + uint64(index) + uint64(rank)<<32 + seed<<40)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// element is the bits of an input: of a float ±1.m·2^e with e in −4…3, or −1…0 for products.
func element(t dtype.Type, op collective.Op, rank, index int) uint64 {
	h := draw(rank, index)
	if !t.IsFloat() {
		return h & 0xffffffff
	}
	m, e := t.Precision()-1, h>>52&7-4
	if op == collective.Prod {
		e = h>>52&1 - 1
	}
	width := 8 * t.Width()
	bias := uint64(1)<<(width-m-2) - 1
	return h>>63<<(width-1) | (bias+e)<<m | h&(1<<m-1)
}

// output carries a schedule out, and is what a recorder writes down: the result of one rank if all
// have the same, of the root, or of all ranks in their order.
func output(t *testing.T, s *schedule.Schedule) []byte {
	switch s.Spec.Type {
	case dtype.Float64:
		return outputOf[float64](t, s)
	case dtype.Float32:
		return outputOf[float32](t, s)
	case dtype.Float16:
		return outputOf[dtype.F16](t, s)
	case dtype.BFloat16:
		return outputOf[dtype.BF16](t, s)
	}
	require.Equal(t, dtype.Int32, s.Spec.Type)
	return outputOf[int32](t, s)
}

func outputOf[T dtype.Number](t *testing.T, s *schedule.Schedule) []byte {
	outputs, err := reference.Run(s, inputsOf[T](&s.Spec))
	require.NoError(t, err, s.Name)
	return together(t, s, outputs)
}

// outputInFloat32 is of a schedule of float32, whose inputs and outputs are of bfloat16.
func outputInFloat32(t *testing.T, s *schedule.Schedule) []byte {
	of := s.Spec
	of.Type = dtype.BFloat16
	inputs := make([][]float32, of.Ranks)
	for rank, in := range inputsOf[dtype.BF16](&of) {
		inputs[rank] = make([]float32, len(in))
		dtype.Widen(inputs[rank], in)
	}
	outputs, err := reference.Run(s, inputs)
	require.NoError(t, err, s.Name)
	rounded := make([][]dtype.BF16, of.Ranks)
	for rank, out := range outputs {
		rounded[rank] = make([]dtype.BF16, len(out))
		dtype.Narrow(rounded[rank], out)
	}
	return together(t, s, rounded)
}

// inputsOf are what the ranks bring.
func inputsOf[T dtype.Number](spec *collective.Spec) [][]T {
	width, n := spec.Type.Width(), int(vector(spec))
	inputs := make([][]T, spec.Ranks)
	for rank := range inputs {
		raw := make([]byte, n*width)
		for i := range n {
			bits := element(spec.Type, spec.Op, rank, i)
			for b := range width {
				raw[i*width+b] = byte(bits >> (8 * b))
			}
		}
		inputs[rank] = make([]T, n)
		dtype.Get(inputs[rank], raw)
	}
	return inputs
}

// together is what is written down of the outputs of a schedule.
func together[T dtype.Number](t *testing.T, s *schedule.Schedule, outputs [][]T) (all []byte) {
	for rank, out := range outputs {
		raw := make([]byte, len(out)*dtype.Of[T]().Width())
		dtype.Put(raw, out)
		switch {
		case s.Spec.Kind == collective.Reduce && rank != s.Spec.Root:
		case s.Spec.Kind == collective.AllReduce && rank > 0:
			require.Equal(t, all, raw, "%s: rank %d", s.Name, rank)
		default:
			all = append(all, raw...)
		}
	}
	return all
}
