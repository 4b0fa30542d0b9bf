package program

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/kernel"
)

// Kernels that list their operands: layers, and opaque kernels that write.

// kernelNames lists the names of all kernels.
func kernelNames() (names []string) {
	for _, k := range kernel.Kinds() {
		names = append(names, k.String())
	}
	return names
}

// layerOf returns the kind of a layer by its name.
func layerOf(name string) (kernel.Kind, bool) {
	kinds := kernel.Kinds()
	at := slices.IndexFunc(kinds, func(k kernel.Kind) bool { return k.String() == name })
	if at < 0 {
		return 0, false
	}
	op := kernel.Op{Kind: kinds[at]}
	return op.Kind, op.IsLayer()
}

// stated finds the result that an opaque kernel states: its shape, or that of the tensor as it is
// declared, and its type, that of the tensor or of the first operand. Other kernels state none.
func (l *lookup) stated(r *resolved) error {
	isOpaque := strings.Fields(r.Kernel)[0] == kernel.Opaque.String()
	switch {
	case !isOpaque && r.Shape != nil:
		return fmt.Errorf("its shape follows from what it reads; an opaque kernel states one")
	case !isOpaque && r.Backward != "":
		return fmt.Errorf("its backward pass follows from it; an opaque kernel states one")
	case !isOpaque:
		return nil
	case r.Out == "" && r.Shape != nil:
		return fmt.Errorf("it has a shape and writes nothing: out names what it writes")
	case r.Out == "":
		return nil
	case len(r.in) == 0:
		return fmt.Errorf("it writes %s and reads nothing: what is made of nothing is given, and "+
			"declared", r.Out)
	}
	t, declared := l.tensor(r.Out)
	r.out = Tensor{Type: r.Type, Shape: r.Shape}
	if r.out.Shape == nil {
		r.out.Shape = t.Shape
	}
	if r.out.Type == 0 && declared {
		r.out.Type = t.Type
	} else if r.out.Type == 0 {
		r.out.Type = r.in[0].Type
	}
	if r.out.Shape == nil {
		r.out.Shape, r.reader = l.asRead(r)
	}
	if r.out.Shape == nil {
		as := strings.ReplaceAll(r.in[0].Shape.String(), "x", ", ")
		return fmt.Errorf("it writes %s, whose shape nobody states: shape = [%s], that of %s, or "+
			"another is expected", r.Out, as, r.in[0].Name)
	}
	return nil
}

// asRead returns the shape of a result that nobody states, and the name of the matmul that it
// follows from: the rows of the first operand, and as many columns as that multiplies with the rows
// of a given matrix. It is nil if no matmul does.
func (l *lookup) asRead(r *resolved) (shape collective.Shape, by string) {
	for i := r.number + 1; i < len(l.Ops); i++ {
		o := &l.Ops[i]
		if o.Kernel != "matmul" || len(o.In) != 2 || o.In[0] != r.Out || len(r.in[0].Shape) == 0 {
			continue
		}
		if with, known := l.tensor(o.In[1]); known && len(with.Shape) == 2 {
			shape = slices.Clone(r.in[0].Shape)
			shape[len(shape)-1] = with.Shape[0]
			return shape, o.Name
		}
	}
	return nil, ""
}

// opaque returns an opaque kernel on operands. On ranks that have some rows of the first operand,
// it writes as many rows at a part of the cost, if its result has as many rows as that.
func (r *resolved) opaque(words []string, operands []kernel.Tensor) (kernel.Op, error) {
	if r.Out == "" {
		op, err := kernel.Parse(r.Kernel)
		if err == nil && op.Time == 0 && op.Attributes == (kernel.Op{}).Attributes {
			err = fmt.Errorf("an opaque kernel takes a time: more than 0 s is expected")
		}
		return op, err
	}
	whole := r.in[0].Shape
	shape := slices.Clone(r.out.Shape)
	rows := operands[0].Shape
	isPart := len(rows) > 0 && rows[0] != whole[0]
	isGradient := strings.Contains(r.Kernel, "gradient=") // by an operand, whose shape it has
	if isPart && !isGradient && (len(shape) == 0 || shape[0] != whole[0]) {
		return kernel.Op{}, fmt.Errorf("%s has other lengths on its ranks; what is made of it has as "+
			"many rows, %d at most, not the shape %v", r.in[0].Name, whole[0], shape)
	}
	if isPart && !isGradient {
		shape[0] = rows[0]
	}
	op, err := kernel.NewOpaque(words, operands, kernel.Tensor{Name: r.Out, Shape: shape,
		Type: r.out.Type})
	if err == nil && isPart {
		op = op.Part(0, rows[0], whole[0])
	}
	return op, err
}

// isStandIn reports whether an op writes what nobody knows.
func (r *resolved) isStandIn() bool {
	return r.call == nil && r.kernel.Kind == kernel.Opaque && r.kernel.HasResult()
}
