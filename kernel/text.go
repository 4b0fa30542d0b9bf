package kernel

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/nearest"
)

// String returns the operation's text form, which Parse reads: see the package comment.
func (o Op) String() string {
	switch o.Kind {
	case Matmul, ScaledMatmul:
		text := fmt.Sprintf("%v %s %v*%v->%v", o.Kind, o.sizes(), o.A, o.B, o.Out)
		if o.Scaling != 0 {
			text += " " + o.Scaling.String()
		}
		if o.Bias != 0 {
			text += " bias=" + o.Bias.String()
		}
		if o.ResultScale {
			text += " result-scale"
		}
		if o.TransposeA || o.TransposeB {
			text += " transpose=" + o.transposed()
		}
		return text
	case Add:
		return fmt.Sprintf("add %v %v+%v->%v", o.In, o.A, o.B, o.Out)
	case Cast:
		return fmt.Sprintf("cast %v %v->%v", o.In, o.A, o.Out)
	case Expand:
		return fmt.Sprintf("expand %v axis=%d times=%d %v->%v", o.In, o.Axis, o.N, o.A, o.Out)
	case Scale:
		return fmt.Sprintf("scale %v by=%s %v->%v", o.In,
			strconv.FormatFloat(o.Factor, 'g', -1, 64), o.A, o.Out)
	case Sum, Mean, Move:
		return fmt.Sprintf("%v %v axis=%d %v->%v", o.Kind, o.In, o.Axis, o.A, o.Out)
	}
	if o.isListed() {
		return o.listText()
	}
	return o.Kind.String()
}

// transposed names the transposed operands.
func (o Op) transposed() (names string) {
	if o.TransposeA {
		names = "a"
	}
	if o.TransposeB {
		names += "b"
	}
	return names
}

// sizes returns such as "m=2x4096 k=512 n=64".
func (o Op) sizes() string {
	rows := o.In.Lengths()
	return fmt.Sprintf("m=%v k=%d n=%d", rows[:max(len(rows), 1)-1], o.K(), o.N)
}

// Parse reads the text form of String. The operation is valid; any other text is an *Error.
func Parse(text string) (Op, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		words = []string{""}
	}
	o := Op{}
	for _, k := range Kinds() {
		if strings.ReplaceAll(words[0], "-", "_") == k.String() {
			o.Kind = k
		}
	}
	r := reader{op: &o, words: words[1:]}
	switch o.Kind {
	case 0:
		return Op{}, unknownKind(words[0])
	case Opaque:
		r.list()
		r.cost()
	case Matmul, ScaledMatmul:
		r.matmul()
	default:
		if o.IsLayer() {
			r.list()
			r.attributes()
		} else {
			r.elementwise()
		}
	}
	if r.err != nil {
		return Op{}, r.err
	}
	if len(r.words) > 0 {
		return Op{}, o.fail("the end", strconv.Quote(r.words[0]), "nothing more is expected")
	}
	if o.Reads != "" {
		if err := r.complete(); err != nil {
			return Op{}, err
		}
	}
	if err := o.Validate(); err != nil {
		return Op{}, err
	}
	return o, nil
}

func unknownKind(word string) error {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.String())
	}
	want := "one of " + kindList() + " is expected"
	if near := nearest.To(word, names, 1); len(near) > 0 {
		want += "; " + near[0] + "?"
	}
	return &Error{"an operation", "kind", fmt.Sprintf("%.40q", word), want}
}

// kindList lists all operations.
func kindList() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}

// reader consumes words one after the other, until one is not as expected.
type reader struct {
	op    *Op
	words []string
	err   error
}

func (r *reader) fail(what, value, want string) {
	if r.err == nil {
		r.err = r.op.fail(what, fmt.Sprintf("%.60q", value), want)
	}
}

// next consumes a word.
func (r *reader) next(what, want string) string {
	if len(r.words) == 0 {
		r.fail(what, "", want)
	}
	if r.err != nil {
		return ""
	}
	word := r.words[0]
	r.words = r.words[1:]
	return word
}

// value consumes a word such as "k=512", and returns the part behind its name.
func (r *reader) value(name, example string) string {
	want := name + "=" + example + " is expected here"
	word := r.next(name, want)
	text, ok := strings.CutPrefix(word, name+"=")
	if !ok {
		r.fail(name, word, want)
	}
	return text
}

// number consumes a word such as "k=512".
func (r *reader) number(name, example string) int64 {
	text := r.value(name, example)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.fail(name, text, "a whole number is expected")
	}
	return n
}

// shape parses lengths; more axes must still fit.
func (r *reader) shape(what, text string, more int) collective.Shape {
	s, err := collective.ParseShape(text)
	switch {
	case r.err != nil:
	case err != nil:
		r.fail(what, text, "lengths such as 4x5x6 are expected")
	case len(s)+more > MaxAxes:
		r.fail(what, text, fmt.Sprintf("at most %d axes are expected", MaxAxes-more))
	default:
		return s
	}
	return nil
}

func (r *reader) matmul() {
	o := r.op
	rows := r.shape("m", r.value("m", "2x4096"), 1)
	o.In = ShapeOf(append(rows, r.number("k", "512"))...)
	o.N = r.number("n", "64")
	r.types("*", &o.A, &o.B)
	if o.Kind == Matmul && r.err == nil && len(r.words) > 0 {
		r.transpose()
	}
	for r.err == nil && o.Kind == ScaledMatmul && len(r.words) > 0 {
		word := strings.ReplaceAll(r.next("scaling", ""), "_", "-")
		switch {
		case word == TensorWise.String() && o.Scaling == 0:
			o.Scaling = TensorWise
		case word == RowWise.String() && o.Scaling == 0:
			o.Scaling = RowWise
		case word == "result-scale" && !o.ResultScale:
			o.ResultScale = true
		case strings.HasPrefix(word, "bias=") && o.Bias == 0:
			o.Bias = r.dtype("bias", strings.TrimPrefix(word, "bias="))
		default:
			r.fail("the end", word, "tensor-wise or row-wise, bias=bfloat16 and result-scale are "+
				"expected, each at most once")
		}
	}
}

// transpose parses such as "transpose=b".
func (r *reader) transpose() {
	switch word := r.next("transpose", ""); word {
	case "transpose=a":
		r.op.TransposeA = true
	case "transpose=b":
		r.op.TransposeB = true
	case "transpose=ab":
		r.op.TransposeA, r.op.TransposeB = true, true
	default:
		r.fail("the end", word, "nothing more, or transpose=a, b or ab, is expected")
	}
}

func (r *reader) elementwise() {
	o := r.op
	s := r.shape("shape", r.next("shape", "lengths such as 4x5x6 are expected"), 0)
	o.In = ShapeOf(s...)
	if o.hasAxis() {
		axis := r.number("axis", "1")
		if o.Axis = int(axis); int64(o.Axis) != axis {
			r.fail("axis", fmt.Sprint(axis), "a small number is expected")
		}
	}
	switch o.Kind {
	case Expand:
		o.N = r.number("times", "4")
	case Scale:
		text := r.value("by", "0.125")
		var err error
		if o.Factor, err = strconv.ParseFloat(text, 64); err != nil {
			r.fail("by", text, "a number is expected")
		}
	}
	if o.Kind == Add {
		r.types("+", &o.A, &o.B)
	} else {
		r.types("", &o.A)
	}
}

// types parses such as "float32*float32->float32".
func (r *reader) types(sign string, operands ...*dtype.Type) {
	example := "float32" + strings.Repeat(sign+"float32", len(operands)-1) + "->float32"
	word := r.next("types", example+" is expected here")
	from, to, ok := strings.Cut(word, "->")
	names := []string{from}
	if sign != "" {
		names = strings.Split(from, sign)
	}
	if !ok || len(names) != len(operands) {
		r.fail("types", word, "such as "+example+" is expected")
		return
	}
	for i, name := range names {
		*operands[i] = r.dtype("types", name)
	}
	r.op.Out = r.dtype("types", to)
}

func (r *reader) dtype(what, name string) dtype.Type {
	t, err := dtype.Parse(name)
	if err != nil {
		r.fail(what, name, "a data type is expected, as float32 or bfloat16")
	}
	return t
}
