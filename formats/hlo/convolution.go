package hlo

import (
	"strconv"
	"strings"

	"collsim/unit"
)

// spatial is the window of a convolution along an axis (xla_data.proto, WindowDimension).
type spatial struct {
	in, kernel, out        int64 // lengths
	stride, low            int64
	dilateIn, dilateKernel int64
}

// valid returns how many pairs of a place in the result and one in the window read an element of
// the input: not padding, nor what dilation puts between elements.
func (s *spatial) valid() (n int64) {
	for k := range s.kernel {
		// out·stride + k·dilateKernel − low is a multiple of dilateIn, from 0 to (in − 1)·dilateIn
		at := k*s.dilateKernel - s.low
		for range s.out {
			if at >= 0 && at%s.dilateIn == 0 && at/s.dilateIn < s.in {
				n++
			}
			at += s.stride
		}
	}
	return n
}

// maxWindow bounds the places of a window times those of a result, along an axis.
const maxWindow = 1 << 26

// convolution returns the matmul of a convolution (implicit GEMM): of all places and batches a row,
// of all output features a column, over the input features times the places of the window. What
// reads padding is not counted, as in XLA's HloCostAnalysis. Its groups are a batch. One with few
// columns, as each channel for itself, is bound by memory and is none.
func (e *emitter) convolution(c *computation, i *instr) ([]Op, error) {
	if len(i.operands) < 2 {
		return nil, e.fail(i, "two operands are expected of a convolution")
	}
	in, kernel := &c.instrs[i.operands[0]].shape, &c.instrs[i.operands[1]].shape
	out := i.shape.arrays()
	if len(out) == 0 {
		return nil, e.fail(i, "a convolution without a result")
	}
	return e.convolve(i, [3]*shape{in, kernel, out[0]})
}

// convolve returns the matmul of a convolution with an input, a kernel and a result. A backward one
// reads the result, and writes one of the others.
func (e *emitter) convolve(i *instr, of [3]*shape) ([]Op, error) {
	groups := int64(1)
	for _, name := range []string{"feature_group_count", "batch_group_count"} {
		n, err := i.number(name, 1)
		if err != nil || n < 1 {
			return nil, e.fail(i, "%s: a number from 1 is expected", name)
		}
		groups *= n
	}
	text, _ := i.attr("dim_labels")
	labels := strings.FieldsFunc(text, func(r rune) bool { return r == '_' || r == '>' || r == '-' })
	window, err := windowOf(i)
	if err != nil || len(labels) != 3 {
		return nil, e.fail(i, "dim_labels=%.60s: as b01f_01io->b01f is expected, and a window as "+
			"{size=3x3 stride=1x1 pad=1_1x1_1}", text)
	}
	length := func(shape int, label byte) int64 {
		if at := strings.IndexByte(labels[shape], label); at >= 0 && at < len(of[shape].dims) {
			return of[shape].dims[at]
		}
		return -1
	}
	rows, k := length(2, 'b'), length(1, 'i')
	columns := length(1, 'o')
	valid, places := int64(1), int64(1)
	for axis := range window {
		label := byte('0' + axis)
		w := &window[axis]
		w.in, w.kernel, w.out = length(0, label), length(1, label), length(2, label)
		if w.kernel*w.out > maxWindow {
			return nil, e.fail(i, "a window of %d places on %d; their product may be %d at most", w.kernel,
				w.out, maxWindow)
		}
		valid, places = valid*w.valid(), places*w.out
	}
	if min(rows, k, columns, valid, places) < 0 || columns%groups != 0 {
		return nil, e.fail(i, "dim_labels=%.60s: labels of each axis of its shapes are expected, and a "+
			"multiple of %d output features", text, groups)
	}
	if columns/groups < fewColumns || k*valid*places == 0 {
		return nil, nil
	}
	e.note("convolutions are taken for matmuls of their implicit GEMM, which reads an input as " +
		"often as the window does")
	return e.matmul(i, [2]string{of[0].elem, of[1].elem}, sizes4{groups, rows * places,
		columns / groups, (unit.MultiplyCapped(k, valid)-1)/places + 1})
}

// fewColumns is the number of output features of a group below which a convolution is no matmul:
// half of the narrowest tile of tensor cores.
const fewColumns = 4

// windowOf parses the window of a convolution: {size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=2x2
// rhs_dilate=1x1}. Without one there are no axes.
func windowOf(i *instr) ([]spatial, error) {
	text, _ := i.attr("window")
	words := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}"))
	var list []spatial
	for pass := range 2 { // the size says how many axes there are
		for _, word := range words {
			name, value, _ := strings.Cut(word, "=")
			if (name == "size") != (pass == 0) {
				continue
			}
			for axis, number := range strings.Split(value, "x") {
				if pass == 0 {
					list = append(list, spatial{stride: 1, dilateIn: 1, dilateKernel: 1})
				}
				number, _, _ = strings.Cut(number, "_") // padding before, and behind
				n, err := strconv.ParseInt(number, 10, 32)
				if err != nil || axis >= len(list) || n < 1 && name != "pad" && name != "rhs_reversal" {
					return nil, strconv.ErrSyntax
				}
				list[axis].set(name, n)
			}
		}
	}
	return list, nil
}

// set sets what a word of a window says of an axis.
func (s *spatial) set(name string, n int64) {
	switch name {
	case "stride":
		s.stride = n
	case "pad":
		s.low = n
	case "lhs_dilate":
		s.dilateIn = n
	case "rhs_dilate":
		s.dilateKernel = n
	}
}

// number returns a whole number that an attribute has.
func (i *instr) number(name string, without int64) (int64, error) {
	text, given := i.attr(name)
	if !given {
		return without, nil
	}
	return strconv.ParseInt(text, 10, 32)
}
