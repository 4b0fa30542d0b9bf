package kernel

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/unit"
)

// Kind is the kind of an operation. The zero value is none.
type Kind uint8

// The operations, in the order of Kinds.
const (
	Matmul       Kind = iota + 1 // A [.., m, k] times a matrix B [k, n]
	ScaledMatmul                 // the same of 8-bit floats, with scales
	Add                          // two tensors of one shape
	Cast                         // to another type
	Sum                          // over an axis, which vanishes
	Mean                         // as Sum
	Move                         // an axis to the front, the others in their order
	Expand                       // a new axis, along which the tensor is repeated
	Scale                        // times a number
	Opaque                       // only its cost is known, and perhaps its result's shape
	Attention                    // of queries, keys and values; this and all below are layers
	RMSNorm                      // rows divided by their root mean square
	LayerNorm                    // rows less their mean, divided by their standard deviation
	GELU                         // x · Φ(x)
	SiLU                         // x · σ(x)
	ReLU                         // max(x, 0)
	SwiGLU                       // silu(gate) · up
	Softmax                      // of rows
	CrossEntropy                 // the mean loss of rows of logits
	Embedding                    // rows of a table
	Route                        // weights of the k largest of rows
	Shard                        // one of several equal parts along an axis
	Pad                          // rows of zeros behind those that there are
	SGD                          // a step of stochastic gradient descent
	AdamM                        // Adam's first moment
	AdamV                        // its second moment
	Adam                         // its step, by the new moments
)

var kindNames = [...]string{Matmul: "matmul", ScaledMatmul: "scaled_matmul", Add: "add",
	Cast: "cast", Sum: "sum", Mean: "mean", Move: "move", Expand: "expand", Scale: "scale",
	Opaque: "opaque", Attention: "attention", RMSNorm: "rms_norm", LayerNorm: "layer_norm",
	GELU: "gelu", SiLU: "silu", ReLU: "relu", SwiGLU: "swiglu", Softmax: "softmax",
	CrossEntropy: "cross_entropy", Embedding: "embedding", Route: "route", Shard: "shard",
	Pad: "pad", SGD: "sgd", AdamM: "adam_m", AdamV: "adam_v", Adam: "adam"}

// Kinds lists all operations.
func Kinds() (list []Kind) {
	for k := Matmul; k <= Adam; k++ {
		list = append(list, k)
	}
	return list
}

// String returns the name in texts: "scaled_matmul".
func (k Kind) String() string {
	if k < Matmul || k > Adam {
		return fmt.Sprintf("kernel.Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Scaling selects the scales of a scaled matmul.
type Scaling uint8

// The kinds of scaling.
const (
	TensorWise Scaling = iota + 1 // one scale for A, one for B
	RowWise                       // one for every row of A and every column of B
)

var scalingNames = [...]string{"", TensorWise: "tensor-wise", RowWise: "row-wise"}

// String returns "tensor-wise" or "row-wise"; without scaling it is empty.
func (s Scaling) String() string {
	if s > RowWise {
		return fmt.Sprintf("kernel.Scaling(%d)", uint8(s))
	}
	return scalingNames[s]
}

// MaxAxes is the most axes of a tensor.
const MaxAxes = 8

// Shape is a comparable collective.Shape.
type Shape struct {
	axes    uint8
	lengths [MaxAxes]int64
}

// ShapeOf makes a shape of lengths, outermost first. REQUIRES: at most MaxAxes of them.
func ShapeOf(lengths ...int64) Shape {
	s := Shape{axes: uint8(len(lengths))}
	if copy(s.lengths[:], lengths) < len(lengths) {
		panic("kernel: a shape of too many axes")
	}
	return s
}

// Lengths returns the shape as a new slice.
func (s Shape) Lengths() collective.Shape {
	return append(collective.Shape{}, s.lengths[:s.axes]...)
}

// Axes returns the number of axes.
func (s Shape) Axes() int { return int(s.axes) }

// String returns such as "4x5x6".
func (s Shape) String() string { return s.Lengths().String() }

// Op is an operation with its shapes and types. Two are equal if and only if they compute the same
// result in the same way.
type Op struct {
	Kind Kind
	// In is the shape of A: of a matmul's first operand, [.., m, k], or of the tensor that any
	// other operation reads. Of a layer, and of an opaque operation, it is the shape of the result.
	In Shape
	// N is the number of columns of a matmul's B, or the length of the axis that expand adds.
	N int64
	// Axis is the axis of a sum or mean, the one that is moved, or the one that expand adds.
	Axis int
	// TransposeA and TransposeB say that a matmul's operand is stored transposed: A as [k, m],
	// where In has two axes, B as [n, k]. The product is the same.
	TransposeA, TransposeB bool
	// Factor is the factor of scale.
	Factor float64
	// A and B are the types of the operands, B only if there are two; Out is that of the result.
	A, B, Out dtype.Type
	// Scaling, Bias (its type, or none) and ResultScale (whether there is one) belong to a scaled
	// matmul.
	Scaling     Scaling
	Bias        dtype.Type
	ResultScale bool
	// Time is the time of an opaque operation.
	Time unit.Time
	// Reads lists the operands of a layer, or of an opaque operation that has a result: the shape
	// and type of each, as in "128x64:bfloat16+64:float32".
	Reads string
	// Attributes are those of a layer, or the FLOPs and bytes of an opaque operation, in the order
	// of its row in the table.
	Attributes [maxAttributes]float64
	// Gradient is 0, or for the gradient by an operand of a layer 1 + its place. The operands are
	// then the layer's, and behind them the gradient of its result.
	Gradient int
}

// HasResult reports whether the operation writes a tensor: all but an opaque one that lists no
// operands do.
func (o *Op) HasResult() bool { return o.Kind != Opaque || o.Reads != "" }

// isListed reports whether the operation lists its operands.
func (o *Op) isListed() bool { return o.Kind >= Opaque }

// IsLayer reports whether the operation is one of the table of layers, which are computed in
// float64 and rounded once.
func (o *Op) IsLayer() bool { return o.Kind > Opaque }

// M returns the number of rows of a matmul's result, over all axes but the last.
func (o Op) M() int64 { return product(o.In.lengths[:max(o.In.axes, 1)-1]) }

// K returns the length of the axis along which a matmul adds.
func (o Op) K() int64 {
	if o.In.axes == 0 {
		return 1
	}
	return o.In.lengths[o.In.axes-1]
}

// IsMatmul reports whether the operation is a matmul, scaled or not.
func (o Op) IsMatmul() bool { return o.Kind == Matmul || o.Kind == ScaledMatmul }

// Tensor is an operand or a result.
type Tensor struct {
	Name  string
	Shape collective.Shape
	Type  dtype.Type
}

// Bytes returns the tensor's size.
func (t Tensor) Bytes() int64 { return t.Shape.Elements() * int64(t.Type.Width()) }

// Operands lists the operands in the order of Apply: a, b, scale_a, scale_b, bias, scale_result,
// without those that the operation lacks. REQUIRES: Validate.
func (o Op) Operands() []Tensor {
	if o.isListed() {
		return o.listed()
	}
	switch o.Kind {
	case Matmul, ScaledMatmul:
	case Add:
		return []Tensor{{"a", o.In.Lengths(), o.A}, {"b", o.In.Lengths(), o.B}}
	default:
		return []Tensor{{"a", o.In.Lengths(), o.A}}
	}
	list := []Tensor{{"a", o.In.Lengths(), o.A}, {"b", collective.Shape{o.K(), o.N}, o.B}}
	if o.TransposeA {
		list[0].Shape = collective.Shape{o.K(), o.M()}
	}
	if o.TransposeB {
		list[1].Shape = collective.Shape{o.N, o.K()}
	}
	switch o.Scaling {
	case TensorWise:
		list = append(list, Tensor{"scale_a", collective.Shape{}, dtype.Float32},
			Tensor{"scale_b", collective.Shape{}, dtype.Float32})
	case RowWise:
		rows := o.In.Lengths()
		rows[len(rows)-1] = 1
		list = append(list, Tensor{"scale_a", rows, dtype.Float32},
			Tensor{"scale_b", collective.Shape{1, o.N}, dtype.Float32})
	}
	if o.Bias != 0 {
		list = append(list, Tensor{"bias", collective.Shape{o.N}, o.Bias})
	}
	if o.ResultScale {
		list = append(list, Tensor{"scale_result", collective.Shape{}, dtype.Float32})
	}
	return list
}

// Output returns the result; for an opaque operation without one, no elements of no type. REQUIRES:
// Validate.
func (o Op) Output() Tensor {
	shape := o.In.Lengths()
	switch o.Kind {
	case Matmul, ScaledMatmul:
		shape[len(shape)-1] = o.N
	case Sum, Mean:
		shape = append(shape[:o.Axis], shape[o.Axis+1:]...)
	case Move:
		shape = slices.Insert(slices.Delete(shape, o.Axis, o.Axis+1), 0, o.length())
	case Expand:
		shape = slices.Insert(shape, o.Axis, o.N)
	case Opaque:
		if !o.HasResult() {
			shape = collective.Shape{0}
		}
	}
	return Tensor{"out", shape, o.Out}
}

// FLOPs returns the number of operations by which peaks are counted. A matmul has 2·m·n·k (scaling
// and bias do not count), others one for every sum, product and quotient. Moves and casts have
// none. REQUIRES: Validate.
func (o Op) FLOPs() int64 {
	if o.IsMatmul() {
		return 2 * o.M() * o.N * o.K()
	}
	if o.isListed() {
		return o.layerFLOPs()
	}
	return o.flopsOf(o.Output().Shape.Elements())
}

// flopsOf returns the operations for so many elements of the result.
func (o Op) flopsOf(elements int64) int64 {
	elements *= int64(o.A.Components())
	switch o.Kind {
	case Matmul, ScaledMatmul:
		return 2 * elements * o.K()
	case Add, Scale:
		return elements
	case Sum:
		return elements * max(o.length()-1, 0)
	case Mean:
		return elements * o.length()
	}
	return 0
}

// Read returns the bytes of all operands, each counted once; of a layer that reads a part of one,
// those of the part. REQUIRES: Validate.
func (o Op) Read() (n int64) {
	if o.isListed() {
		return o.layerReads()
	}
	for _, t := range o.Operands() {
		n += t.Bytes()
	}
	return n
}

// Written returns the bytes of the result. REQUIRES: Validate.
func (o Op) Written() int64 { return o.Output().Bytes() }

// Moved returns the bytes that the operation reads and writes. Of an opaque one they are those that
// it states; if it states FLOPs alone, those of its operands and its result. REQUIRES: Validate.
func (o Op) Moved() int64 {
	if o.Kind == Opaque && (o.Attributes[opaqueBytes] > 0 || o.Attributes[opaqueFLOPs] == 0) {
		return int64(o.Attributes[opaqueBytes])
	}
	return unit.AddCapped(o.Read(), o.Written())
}

// length returns the length of the axis.
func (o Op) length() int64 { return o.In.lengths[o.Axis] }

// outer returns the product of the lengths before the axis, and inner the product of those after
// it. For expand, the new axis is between them.
func (o Op) outer() int64 { return product(o.In.lengths[:o.Axis]) }
func (o Op) inner() int64 {
	if o.Kind == Expand {
		return product(o.In.lengths[o.Axis:o.In.axes])
	}
	return product(o.In.lengths[o.Axis+1 : o.In.axes])
}

func product(lengths []int64) int64 { return collective.Shape(lengths).Elements() }
