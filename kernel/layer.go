package kernel

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/unit"
)

// A layer is a row of the table of kernels that list their operands: what one of a neural network's
// layers computes in one launch. Apply computes it in float64, in the order that its file gives,
// and rounds once. A GPU computes it in float32, in an order that is not published.
type layer struct {
	kind       Kind
	attributes []attribute
	operands   []string // by name, in order
	least      int      // the operands that must be there
	integers   []int    // those that are of an integer type
	// result returns the shape of the result, and completes attributes that follow from shapes. A
	// mismatch is an *Error.
	result func(o *Op, in []Tensor) (collective.Shape, error)
	flops  func(o *Op, in []Tensor) int64
	// reads returns the bytes that are read; nil stands for all operands, each once.
	reads func(o *Op, in []Tensor) int64
	// rows returns how many rows of the result depend on as many rows of some operands, and the
	// operands that each row depends on as a whole; nil: the result is one row.
	rows  func(o *Op, in []Tensor) (n int64, whole []int)
	apply func(c *computation) []float64
	// gradient returns that by an operand; nil: the kernel has none.
	gradient func(c *computation, by int, of []float64) []float64
	// bound returns the result, or a gradient, with how far another implementation's may be off.
	bound func(b *bounding) []approx
}

// A computation is the operation and its operands, as numbers.
type computation struct {
	op     *Op
	shapes []collective.Shape
	in     [][]float64
}

// layers returns the table: of each row the function that has it, in the order of Kinds.
func layers() [Adam - Opaque + 1]func() layer {
	return [...]func() layer{opaqueLayer, attentionLayer, rmsNormLayer, layerNormLayer, geluLayer,
		siluLayer, reluLayer, swigluLayer, softmaxLayer, crossEntropyLayer, embeddingLayer, routeLayer,
		shardLayer, padLayer, sgdLayer, adamMLayer, adamVLayer, adamLayer}
}

// layer returns the row of an operation that lists its operands.
func (o *Op) layer() layer { return layers()[o.Kind-Opaque]() }

// An attribute of a layer is a number, such as heads=32, or a flag, such as causal.
type attribute struct {
	name        string
	flag        bool // 1 or 0: it is there or not
	whole       bool
	least, most float64
	otherwise   float64 // its value where it is left out
	follows     bool    // from others and the shapes, where it is 0
}

const maxAttributes = 6

// maxWhole bounds whole attributes: float64 has all whole numbers up to here.
const maxWhole = 1 << 53

// count returns an attribute that is a whole number from 1.
func count(name string) attribute {
	return attribute{name: name, whole: true, least: 1, most: maxWhole}
}

// Attribute returns the value of an attribute of a layer by its name; 0 if it has none.
func (o *Op) Attribute(name string) float64 {
	for i, a := range o.layer().attributes {
		if a.name == name {
			return o.Attributes[i]
		}
	}
	return 0
}

// HasGradient reports whether an operation that lists its operands has a gradient by one of them.
func (o *Op) HasGradient(by int) bool {
	row := o.layer()
	return o.Gradient == 0 && (o.Kind == Opaque || row.gradient != nil) &&
		!slices.Contains(row.integers, by)
}

// NewLayer makes a layer from its attributes, as "heads=8" and "causal", and its operands; behind
// these stands the gradient of its result where a word is "gradient=N" for the N-th operand, from
// 0. out is the type of the result; 0 means that of the first operand of floats.
func NewLayer(kind Kind, words []string, operands []Tensor, out dtype.Type) (Op, error) {
	o := Op{Kind: kind, Out: out}
	r := reader{op: &o, words: words}
	if r.attributes(); r.err != nil {
		return Op{}, r.err
	}
	return o.on(operands)
}

// NewOpaque makes an opaque operation that reads operands and writes a result of a shape and type;
// words state its cost, as "150 us", or one or both of "flops=2e12" and "bytes=3e9".
func NewOpaque(words []string, operands []Tensor, out Tensor) (Op, error) {
	o := Op{Kind: Opaque, In: ShapeOf(out.Shape...), Out: out.Type}
	r := reader{op: &o, words: words}
	if r.cost(); r.err != nil {
		return Op{}, r.err
	}
	return o.on(operands)
}

// on sets the operands, and what follows from them.
func (o Op) on(operands []Tensor) (Op, error) {
	if len(operands) == 0 {
		return Op{}, o.fail("the number of operands", 0, "at least one is expected")
	}
	for _, t := range operands {
		if len(t.Shape) > MaxAxes {
			return Op{}, o.fail("the shape of "+t.called("an operand"), t.Shape,
				fmt.Sprintf("at most %d axes are expected", MaxAxes))
		}
	}
	o, err := o.follow(operands)
	if err != nil {
		return Op{}, err
	}
	return valid(o)
}

// follow sets what follows from the operands: the shape of the result, and types.
func (o Op) follow(operands []Tensor) (Op, error) {
	if err := o.checkOperands(operands); err != nil {
		return Op{}, err
	}
	o.Reads, o.A = listOf(operands), firstFloat(operands)
	forward := operands
	if o.Gradient > 0 {
		forward = operands[:len(operands)-1]
	}
	shape, err := o.layer().result(&o, forward)
	if err != nil {
		return Op{}, err
	}
	if o.Gradient == 0 {
		o.In, o.Out = ShapeOf(shape...), cmp.Or(o.Out, o.A)
		return o, nil
	}
	g, by := operands[len(operands)-1], operands[o.Gradient-1]
	if o.Kind != Opaque && g.Shape.Elements() != shape.Elements() {
		return Op{}, o.fail("the shape of "+g.called("gradient"), g.Shape,
			fmt.Sprintf("%v, as the result has, is expected", shape))
	}
	o.In, o.Out = ShapeOf(by.Shape...), cmp.Or(o.Out, by.Type)
	return o, nil
}

// firstFloat returns the type of the first operand of floats; if there is none, of the first.
func firstFloat(operands []Tensor) dtype.Type {
	for _, t := range operands {
		if t.Type.IsFloat() {
			return t.Type
		}
	}
	return operands[0].Type
}

// nameOf returns the name of an operand among n of the layer itself.
func (o *Op) nameOf(i, n int) string {
	row := o.layer()
	switch {
	case i == n:
		return "gradient"
	case o.Kind == Opaque:
		return fmt.Sprintf("a%d", i)
	case o.Kind == Attention && n == 1:
		return "qkv"
	}
	return row.operands[i]
}

// listed returns the operands that the operation lists.
func (o *Op) listed() []Tensor {
	list, err := parseList(o.Reads)
	if err != nil {
		return nil // Validate has refused it
	}
	n := len(list)
	if o.Gradient > 0 {
		n--
	}
	for i := range list {
		list[i].Name = o.nameOf(i, n)
	}
	return list
}

// forward returns the operands of the layer itself.
func (o *Op) forward() []Tensor {
	list := o.listed()
	if o.Gradient > 0 {
		list = list[:len(list)-1]
	}
	return list
}

// layerFLOPs returns the operations by which peaks are counted, at most maxFLOPs.
func (o *Op) layerFLOPs() int64 {
	if !o.HasResult() {
		return int64(o.Attributes[opaqueFLOPs])
	}
	return min(o.layer().flops(o, o.forward()), maxFLOPs)
}

// layerReads returns the bytes of operands that are read.
func (o *Op) layerReads() (n int64) {
	if row := o.layer(); row.reads != nil {
		return row.reads(o, o.listed())
	}
	for _, t := range o.listed() {
		n = unit.AddCapped(n, t.Bytes())
	}
	return n
}

// Rows returns how many rows of the result depend on as many rows of some operands, and the places
// of operands that each row depends on as a whole; for one row, on all of all operands. REQUIRES:
// Validate; an operation that lists its operands.
func (o *Op) Rows() (n int64, whole []int) {
	if row := o.layer(); row.rows != nil {
		return row.rows(o, o.listed())
	}
	return 1, nil
}

// Row returns what identifies the operation on one of its rows: it has no number of rows. It is not
// valid.
func (o Op) Row() Op {
	n, whole := o.Rows()
	if n <= 1 {
		return o
	}
	list := o.listed()
	for i := range list {
		if elements := list[i].Shape.Elements(); !slices.Contains(whole, i) {
			list[i].Shape = collective.Shape{elements / n}
		}
	}
	o.In, o.Reads = ShapeOf(o.In.Lengths().Elements()/n), listOf(list)
	return o
}

// applyLayer computes a layer, or its gradient, in float64.
func (o *Op) applyLayer(out []byte, operands [][]byte) {
	list := o.listed()
	c := computation{op: o, shapes: shapesOf(list)}
	for i, t := range list {
		c.in = append(c.in, widened(t, operands[i]))
	}
	row := o.layer()
	var result []float64
	if o.Gradient == 0 {
		result = row.apply(&c)
	} else {
		last := len(c.in) - 1
		g := c.in[last]
		c.in, c.shapes = c.in[:last], c.shapes[:last]
		result = row.gradient(&c, o.Gradient-1, g)
	}
	to := codecOf(o.Out)
	parts(len(result), func() func(at, n int) {
		return func(at, n int) { to.narrow64(out[at*o.Out.Width():], result[at:at+n]) }
	})
}

// widened returns the elements of a tensor in float64.
func widened(t Tensor, data []byte) []float64 {
	from, list := codecOf(t.Type), make([]float64, t.Shape.Elements())
	parts(len(list), func() func(at, n int) {
		whole := make([]uint64, part)
		return func(at, n int) {
			src := data[at*t.Type.Width():]
			if t.Type.IsFloat() {
				from.widen64(list[at:at+n], src)
				return
			}
			from.whole(whole[:n], src)
			for i, u := range whole[:n] {
				list[at+i] = float64(int64(u))
			}
		}
	})
	return list
}
