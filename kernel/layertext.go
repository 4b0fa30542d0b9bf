package kernel

import (
	"fmt"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
)

// The text of an operation that lists its operands: their shapes and types, those of the result,
// and what else it has.
//
//	attention 64x96:bfloat16->64x32:bfloat16 heads=4 causal

// listOf returns the text of operands: "128x64:bfloat16+64:float32".
func listOf(in []Tensor) string {
	var texts []string
	for _, t := range in {
		texts = append(texts, fmt.Sprintf("%v:%v", t.Shape, t.Type))
	}
	return strings.Join(texts, "+")
}

// parseList parses the text of operands.
func parseList(text string) (list []Tensor, err error) {
	for _, one := range strings.Split(text, "+") {
		t, err := parseTensor(one)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// parseTensor parses a shape and a type.
func parseTensor(text string) (t Tensor, err error) {
	shape, name, _ := strings.Cut(text, ":")
	if t.Shape, err = collective.ParseShape(shape); err != nil {
		return t, err
	}
	if len(t.Shape) > MaxAxes {
		return t, fmt.Errorf("%s: at most %d axes are expected", shape, MaxAxes)
	}
	t.Type, err = dtype.Parse(name)
	return t, err
}

// listText returns the text of an operation that lists its operands, or of an opaque one.
func (o *Op) listText() string {
	text := o.Kind.String()
	if o.Reads != "" {
		text += fmt.Sprintf(" %s->%v:%v", o.Reads, o.In, o.Out)
	}
	if o.Kind == Opaque {
		text += " " + o.costText()
	} else if words := o.attributeText(); words != "" {
		text += " " + words
	}
	if o.Gradient > 0 {
		text += fmt.Sprintf(" gradient=%d", o.Gradient-1)
	}
	return text
}

// attributeText returns the attributes that are not what they are without being said.
func (o *Op) attributeText() string {
	var words []string
	for i, a := range o.layer().attributes {
		switch x := o.Attributes[i]; {
		case a.flag && x == 1:
			words = append(words, a.name)
		case x != a.otherwise && !o.doesFollow(i, &a):
			words = append(words, a.name+"="+strconv.FormatFloat(x, 'g', -1, 64))
		}
	}
	return strings.Join(words, " ")
}

// doesFollow reports whether an attribute is what follows from others and the shapes.
func (o *Op) doesFollow(i int, a *attribute) bool {
	if !a.follows {
		return false
	}
	without := o.bare()
	without.Attributes[i] = 0
	again, err := without.follow(o.listed())
	return err == nil && again.Attributes[i] == o.Attributes[i]
}

// list consumes the operands and the result, such as "4x8:float32->4x8:float32"; an opaque
// operation may have none.
func (r *reader) list() {
	o := r.op
	if o.Kind == Opaque && (len(r.words) == 0 || !strings.Contains(r.words[0], "->")) {
		return
	}
	const want = "operands and a result, such as 128x64:bfloat16+64:float32->128x64:bfloat16, are " +
		"expected here"
	word := r.next("the operands", want)
	from, to, _ := strings.Cut(word, "->")
	in, err := parseList(from)
	out, wrong := parseTensor(to)
	if err != nil || wrong != nil {
		r.fail("the operands", word, want)
		return
	}
	o.Reads, o.In, o.Out = listOf(in), ShapeOf(out.Shape...), out.Type
}

// complete sets what follows from the operands, and refuses another result.
func (r *reader) complete() error {
	o := r.op
	is, err := o.bare().follow(o.listed())
	if err != nil {
		return err
	}
	if is.In != o.In || is.Out != o.Out {
		return o.fail("the result", fmt.Sprintf("%v:%v", o.In, o.Out), fmt.Sprintf(
			"%v:%v is expected of %s", is.In, is.Out, o.Reads))
	}
	*o = is
	return nil
}

// attributes consumes all attributes of a layer; what is not there is as without it.
func (r *reader) attributes() {
	row := r.op.layer()
	for i, a := range row.attributes {
		r.op.Attributes[i] = a.otherwise
	}
	seen := map[string]bool{}
	for len(r.words) > 0 && r.err == nil {
		word := r.next("an attribute", "")
		name, value, named := strings.Cut(word, "=")
		at := row.place(name)
		switch {
		case seen[name]:
			r.fail(name, word, "it is expected once")
		case name == "gradient":
			r.gradient(value)
		case at < 0:
			r.fail("an attribute", word, row.known())
		case row.attributes[at].flag && named:
			r.fail(name, word, "the word alone is expected")
		case row.attributes[at].flag:
			r.op.Attributes[at] = 1
		default:
			r.attribute(at, &row.attributes[at], value)
		}
		seen[name] = true
	}
	if a := row.attributes; r.err == nil && len(a) > 0 && a[0].name == "heads" && !seen["heads"] {
		r.fail("heads", "", "heads=8, or another number, is expected")
	}
}

// attribute parses the value of an attribute.
func (r *reader) attribute(at int, a *attribute, text string) {
	x, err := strconv.ParseFloat(text, 64)
	least := *a
	if a.whole && a.follows { // 0 is for what follows
		least.least = max(a.least, 1)
	}
	switch {
	case err != nil && a.whole:
		r.fail(a.name, text, "a whole number is expected")
	case err != nil:
		r.fail(a.name, text, "a number is expected")
	default:
		if err := least.check(r.op, x); err != nil && r.err == nil {
			r.err = err
		}
	}
	r.op.Attributes[at] = x
}

// place returns the place of an attribute; −1 if there is none of the name.
func (l *layer) place(name string) int {
	for i, a := range l.attributes {
		if a.name == name {
			return i
		}
	}
	return -1
}

// known describes the attributes of a layer.
func (l *layer) known() string {
	var words []string
	for _, a := range l.attributes {
		if a.flag {
			words = append(words, a.name)
		} else {
			words = append(words, a.name+"=…")
		}
	}
	return strings.Join(append(words, "gradient=… of an operand"), ", ") + " are expected, each at " +
		"most once"
}
