package kernel

// InComponents returns an operation on complex numbers as the same one on their components: on
// floats with one axis more, innermost, of the real and the imaginary part. What an operation does
// to complex numbers is defined by it: all that take them work on each component alone. An
// operation on other types is returned as it is.
func InComponents(o Op) Op {
	if !o.A.IsComplex() {
		return o
	}
	o.In = ShapeOf(append(o.In.Lengths(), int64(o.A.Components()))...)
	o.A, o.B, o.Out = o.A.Component(), o.B.Component(), o.Out.Component()
	return o
}
