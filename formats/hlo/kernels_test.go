package hlo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/formats/hlo"
)

// matmulOf reads a module of one matmul, nil if there is none.
func matmulOf(t *testing.T, instrs string) []hlo.Tensor {
	t.Helper()
	p, err := hlo.ReadProgram("m", strings.NewReader("HloModule m, is_scheduled=true\nENTRY e {\n"+
		instrs+"\n}"), hlo.Options{})
	require.NoError(t, err, instrs)
	if len(p.Ops) == 0 {
		return nil
	}
	require.Len(t, p.Ops, 1, instrs)
	return p.Ops[0].Tensors
}

// TestConvolutionAtRandom: the matmul of a convolution has as many products as a loop over all
// places of the result and of the window counts, rounded up to whole columns of K; its rows and
// columns are the elements of the result.
func TestConvolutionAtRandom(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 8))
		num := func(from, to int) int { return from + r.IntN(to-from+1) }
		batch, groups, inEach, outEach := num(1, 3), num(1, 2), num(1, 4), num(4, 6)
		var in, kernel, out, size, stride, pad, dilateIn, dilateKernel []string
		places, products := 1, 1
		for axis := 0; axis < 2; {
			n, k, s := num(1, 6), num(1, 3), num(1, 3)
			low, high, dIn, dKernel := num(-1, 2), num(0, 2), num(1, 2), num(1, 2)
			// What the window slides over: padding, elements, and zeros between them.
			var line []bool
			for i := range (n-1)*dIn + 1 {
				line = append(line, i%dIn == 0)
			}
			if low >= 0 {
				line = append(make([]bool, low), line...)
			} else {
				line = line[min(-low, len(line)):]
			}
			line = append(line, make([]bool, high)...)
			window := (k-1)*dKernel + 1
			if len(line) < window {
				continue
			}
			of, valid := (len(line)-window)/s+1, 0
			for o := range of {
				for i := range k {
					if line[o*s+i*dKernel] {
						valid++
					}
				}
			}
			places, products = places*of, products*valid
			axis++
			for list, value := range map[*[]string]any{&in: n, &kernel: k, &out: of, &size: k, &stride: s,
				&pad: fmt.Sprintf("%d_%d", low, high), &dilateIn: dIn, &dilateKernel: dKernel} {
				*list = append(*list, fmt.Sprint(value))
			}
		}
		list := func(parts ...any) string {
			return strings.NewReplacer("[", "", "]", "", " ", ",").Replace(fmt.Sprint(parts...))
		}
		text := fmt.Sprintf("a = f32[%s] parameter(0)\nk = f32[%s] parameter(1)\nc = f32[%s] "+
			"convolution(a, k), window={size=%s stride=%s pad=%s lhs_dilate=%s rhs_dilate=%s}, "+
			"dim_labels=b01f_01io->b01f, feature_group_count=%d",
			list([]any{batch, in, inEach * groups}), list([]any{kernel, inEach, outEach * groups}),
			list([]any{batch, out, outEach * groups}), strings.Join(size, "x"), strings.Join(stride, "x"),
			strings.Join(pad, "x"), strings.Join(dilateIn, "x"), strings.Join(dilateKernel, "x"), groups)
		got := matmulOf(t, text)
		if products == 0 || got == nil {
			require.Zero(t, products, text)
			continue
		}
		m, k, n := got[0].Shape[0], got[0].Shape[1], got[1].Shape[1]
		rows, columns := batch*places, outEach
		if groups > 1 { // the rows of a batch are those of the larger operand
			rows, columns = groups*max(rows, columns), min(rows, columns)
		}
		require.Equal(t, int64(rows), m, text)
		require.Equal(t, int64(columns), n, text)
		exact := batch * groups * outEach * inEach * products // multiplications
		require.GreaterOrEqual(t, m*n*k, int64(exact), text)
		require.Less(t, m*n*(k-1), int64(exact), text)
	}
}

// TestDotAtRandom: the matmul of a dot has one product for each element of the result and of the
// contracted axes, and no fewer elements of the larger operand than that has.
func TestDotAtRandom(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		var dims [2][]string  // of the operands
		var axes [4][]string  // contracted of either, batches of either
		var result [3][]int64 // batches, free axes of either
		elements, products := [2]int64{1, 1}, int64(1)
		for range 1 + r.IntN(5) {
			n, what := 1+r.Int64N(5), r.IntN(4)
			products *= n
			for side := range 2 {
				if what == 2+side {
					continue // an axis of the other one
				}
				if what < 2 { // contracted, or a batch
					axes[2*what+side] = append(axes[2*what+side], fmt.Sprint(len(dims[side])))
				}
				dims[side] = append(dims[side], fmt.Sprint(n))
				elements[side] *= n
			}
			if what > 0 {
				result[what-1] = append(result[what-1], n)
			}
		}
		batch := int64(1)
		for _, n := range result[0] {
			batch *= n
		}
		out := strings.NewReplacer("[", "", "]", "", " ", ",").Replace(fmt.Sprint(
			slices.Concat(result[0], result[1], result[2])))
		text := fmt.Sprintf("a = f32[%s] parameter(0)\nb = f32[%s] parameter(1)\nc = f32[%s] dot(a, b), "+
			"lhs_contracting_dims={%s}, rhs_contracting_dims={%s}, lhs_batch_dims={%s}, "+
			"rhs_batch_dims={%s}", strings.Join(dims[0], ","), strings.Join(dims[1], ","), out,
			strings.Join(axes[0], ","), strings.Join(axes[1], ","), strings.Join(axes[2], ","),
			strings.Join(axes[3], ","))
		got := matmulOf(t, text)
		m, k, n := got[0].Shape[0], got[0].Shape[1], got[1].Shape[1]
		require.Equal(t, products, m*k*n, text)
		require.Equal(t, k, got[1].Shape[0], text)
		if batch == 1 {
			require.Equal(t, elements[0], m*k, text)
			require.Equal(t, elements[1], k*n, text)
		} else {
			require.Equal(t, max(elements[0], elements[1]), m*k, text)
		}
	}
}
