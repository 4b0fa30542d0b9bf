package reference

import (
	"math"

	"collsim/dtype"
	"collsim/kernel"
)

// kernelDoubts returns how far the result of a kernel may be off, given that its operands may be.
//
// Every result f(x) is a sum of products, each of elements of different operands. Let |d| ≤ δ, and
// F be f on magnitudes. Term by term, |f(x+d) − f(x)| ≤ F(|x|+δ) − F(|x|). Both are computed with
// at most n roundings of float32 (or float64) from an element to the result and one to its type. So
// each is within B·F(|x|+δ) of the exact value, B = (1+u)^n·(1+u') − 1. What underflows on the way
// loses no more than the least number each time. Saturation moves no two results further apart. A
// result of an integer type is off by one more; operations on integers have no derived bound. A
// unit in the last place is one of F(|x|+δ). Layers have bounds of their own (kernel.Bounds);
// stand-ins have none.
func kernelDoubts(o *kernel.Op, operands [][]byte, doubts []*doubt) (*doubt, error) {
	d := newDoubt(o.Output().Shape.Elements())
	if o.IsLayer() {
		d.most = kernel.Bounds(*o, operands, mostOf(doubts))
		return d, nil
	} else if !o.A.IsFloat() || o.Kind == kernel.Opaque {
		spread(d.most, math.Inf(1))
		return d, nil
	}
	low, high := make([][]float64, len(operands)), make([][]float64, len(operands))
	scale := 1.0 // for underflows
	for i, t := range o.Operands() {
		low[i] = make([]float64, t.Shape.Elements())
		typeOf(t.Type).widened(low[i], operands[i])
		for k, x := range low[i] {
			low[i][k] = math.Abs(x)
		}
		high[i] = low[i]
		if doubts[i] != nil {
			high[i] = make([]float64, len(low[i]))
			for k, x := range low[i] {
				high[i][k] = x + doubts[i].most[k]
			}
		}
		if i >= 2 && t.Name != "bias" {
			scale *= largestOf(high[i], 1)
		}
	}
	below, err := sizeOf(o, low)
	if err != nil {
		return nil, err
	}
	above, err := sizeOf(o, high)
	if err != nil {
		return nil, err
	}
	wide := dtype.Float32
	if o.A == dtype.Float64 || o.B == dtype.Float64 {
		wide = dtype.Float64
	}
	n := roundingsOf(o)
	share, rest := grown(unitRoundoff(wide), n), float64(float64(2*n)*wide.Smallest())
	rest = float64(rest * scale)
	if o.Out.IsFloat() {
		u := unitRoundoff(o.Out)
		share += u + float64(share*u)
		rest += o.Out.Smallest()
	} else {
		rest++
	}
	share += grown(0x1p-53, 2*n+16) // of below and above themselves
	for i, x := range above {
		d.largest[i] = x
		d.most[i] = x - below[i] + float64(2*float64(share*x)) + rest
		if math.IsNaN(d.most[i]) || x > wide.Largest() {
			d.most[i] = math.Inf(1)
		}
	}
	return d, nil
}

// mostOf lists how far operands may be off; nil of those that are not.
func mostOf(doubts []*doubt) [][]float64 {
	list := make([][]float64, len(doubts))
	for i, d := range doubts {
		if d != nil {
			list[i] = d.most
		}
	}
	return list
}

// roundingsOf bounds the roundings between an element and the result, except the one to its type.
func roundingsOf(o *kernel.Op) int {
	switch o.Kind {
	case kernel.Cast, kernel.Move, kernel.Expand:
		return 0
	case kernel.Scale:
		return 2 // of the number, and of the product
	case kernel.Add:
		return 1
	case kernel.Sum, kernel.Mean:
		return int(o.In.Lengths()[o.Axis]) + 1
	}
	return int(o.K()) + 6 // a product, its sums, scales and a bias
}

// largestOf returns the largest of some numbers and most.
func largestOf(list []float64, most float64) float64 {
	for _, x := range list {
		most = max(most, x)
	}
	return most
}

// sizeOf returns the result of a kernel on magnitudes, in float64.
func sizeOf(o *kernel.Op, sizes [][]float64) ([]float64, error) {
	same := *o
	same.A, same.Out = dtype.Float64, dtype.Float64
	operands := [][]byte{put(sizes[0])}
	switch o.Kind {
	case kernel.Cast:
		return sizes[0], nil
	case kernel.Scale:
		same.Factor = math.Abs(o.Factor)
	case kernel.Matmul, kernel.ScaledMatmul:
		same = kernel.Op{Kind: kernel.Matmul, In: o.In, N: o.N, A: dtype.Float64, B: dtype.Float64,
			Out: dtype.Float64, TransposeA: o.TransposeA, TransposeB: o.TransposeB}
		operands = append(operands, put(sizes[1]))
	case kernel.Add:
		same.B = dtype.Float64
		operands = append(operands, put(sizes[1]))
	}
	result, err := kernel.Apply(same, operands)
	if err != nil {
		return nil, err
	}
	total := getAll[float64](result)
	if o.IsMatmul() {
		scaleSizes(o, total, sizes)
	}
	return total, nil
}

// scaleSizes applies the scales and bias of a scaled matmul to the magnitudes of its sums.
func scaleSizes(o *kernel.Op, total []float64, sizes [][]float64) {
	for k, t := range o.Operands() {
		if k < 2 {
			continue
		}
		for at := range total {
			row, column := int64(at)/o.N, int64(at)%o.N
			var x float64
			switch {
			case len(sizes[k]) == 1 && t.Name != "bias":
				x = sizes[k][0]
			case t.Name == "scale_a":
				x = sizes[k][row]
			default:
				x = sizes[k][column]
			}
			if t.Name == "bias" {
				total[at] += x
			} else {
				total[at] = float64(total[at] * x)
			}
		}
	}
}
