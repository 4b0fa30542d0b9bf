package schedule

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
)

// A Tensor is a buffer of a program, with a type and a shape of its own, the same on every rank.
type Tensor struct {
	Name  string
	Type  dtype.Type
	Shape collective.Shape
	Cut   Cut
	Role  Role
	// Symmetric memory has the same size and offset on all ranks, so that others may access it
	// one-sided.
	Symmetric bool
}

// A Role is the use of a tensor in a program.
type Role uint8

// The roles.
const (
	Inner  Role = iota // contents before and after do not matter
	Given              // an input of the program
	Result             // an output of the program
	// Defined has no memory: it is only a name in Defs.
	Defined
	Updated // an input that is overwritten, and an output
)

var roleNames = [...]string{"inner", "given", "result", "defined", "updated"}

// IsGiven reports whether a tensor has contents before the program.
func (r Role) IsGiven() bool { return r == Given || r == Updated }

// IsResult reports whether the contents of a tensor after the program are an output.
func (r Role) IsResult() bool { return r == Result || r == Updated }

// String returns the role's name in the text form.
func (r Role) String() string { return roleNames[r] }

// A Def is one line of a program's definition: a tensor is a collective, or a kernel, of others.
// Every rank has all of them.
type Def struct {
	// Spec is a collective of one tensor among all ranks of the program; otherwise Kernel is an
	// operation.
	Spec   *collective.Spec
	Kernel *kernel.Op
	From   []Buffer
	To     Buffer
}

// MaxTensors bounds the tensors of a program: each takes some kilobytes while it is lowered, proven
// and simulated.
const MaxTensors = 1 << 22

// Buffers returns the number of buffers of every rank, tensors included.
func (s *Schedule) Buffers() int { return int(FirstTensor) + len(s.Tensors) }

// Tensor returns the tensor of a buffer, nil for input, output and scratch.
func (s *Schedule) Tensor(b Buffer) *Tensor {
	if b < FirstTensor || int(b) >= s.Buffers() {
		return nil
	}
	return &s.Tensors[b-FirstTensor]
}

// cut returns the cut of a buffer.
func (s *Schedule) cut(b Buffer) *Cut {
	if t := s.Tensor(b); t != nil {
		return &t.Cut
	}
	return &s.Cuts[b]
}

// BufferName returns a buffer's name in the text form.
func (s *Schedule) BufferName(b Buffer) string {
	if t := s.Tensor(b); t != nil {
		return t.Name
	}
	return b.String()
}

// bufferOf returns the buffer of a name.
func (s *Schedule) bufferOf(name string) (Buffer, bool) {
	if i := slices.Index(bufferNames[:], name); i >= 0 {
		return Buffer(i), true
	}
	i := slices.IndexFunc(s.Tensors, func(t Tensor) bool { return t.Name == name })
	return FirstTensor + Buffer(i), i >= 0
}

// TypeOf returns the type of a buffer's elements.
func (s *Schedule) TypeOf(b Buffer) dtype.Type {
	if t := s.Tensor(b); t != nil {
		return t.Type
	}
	return s.Spec.Type
}

// settleTensors returns an error if a tensor or definition is invalid.
func (s *Schedule) settleTensors() error {
	if len(s.Tensors) > MaxTensors {
		return fmt.Errorf("%d tensors; at most %d", len(s.Tensors), MaxTensors)
	}
	if len(s.Tensors) > 0 && s.Spec.Kind != collective.Custom {
		return fmt.Errorf("only a program, of kind %v, has tensors", collective.Custom)
	}
	known := make(map[string]bool, len(s.Tensors))
	for _, t := range s.Tensors {
		switch {
		case !IsName(t.Name) || known[t.Name]:
			return fmt.Errorf("tensor %q: a name of its own is expected, of letters, digits "+
				"and _", t.Name)
		case !t.Type.Valid():
			return fmt.Errorf("tensor %s has no type", t.Name)
		case t.Role > Updated:
			return fmt.Errorf("tensor %s has no role", t.Name)
		}
		if err := t.Shape.Validate(); err != nil {
			return fmt.Errorf("tensor %s: %w", t.Name, err)
		}
		if t.Shape.Elements() > collective.MaxElements/int64(s.Spec.Ranks) {
			return fmt.Errorf("tensor %s of %v is too large", t.Name, t.Shape)
		}
		known[t.Name] = true
	}
	for i := range s.Defs {
		if err := s.Defs[i].validate(s); err != nil {
			return fmt.Errorf("definition %d: %w", i, err)
		}
	}
	return nil
}

// IsName reports whether a text can name a tensor: a word of letters, digits and _ that begins with
// a letter or _, and that names no other buffer.
func IsName(text string) bool {
	for i, r := range text {
		switch {
		case r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
		case i > 0 && '0' <= r && r <= '9':
		default:
			return false
		}
	}
	return text != "" && len(text) <= 64 && !slices.Contains(bufferNames[:], text)
}

// validate checks a definition against the tensors that it names.
func (d *Def) validate(s *Schedule) error {
	for _, b := range append([]Buffer{d.To}, d.From...) {
		if s.Tensor(b) == nil {
			return fmt.Errorf("%v is no tensor", b)
		}
	}
	if s.Tensor(d.To).Role == Given {
		return fmt.Errorf("%s is given", s.BufferName(d.To))
	}
	switch {
	case (d.Spec == nil) == (d.Kernel == nil):
		return fmt.Errorf("a collective or a kernel is expected")
	case d.Spec != nil:
		return d.validateCollective(s)
	}
	if err := d.Kernel.Validate(); err != nil {
		return err
	}
	operands := d.Kernel.Operands()
	if len(operands) != len(d.From) {
		return fmt.Errorf("%v has %d operands, not %d", d.Kernel.Kind, len(operands), len(d.From))
	}
	for i, want := range append(operands, d.Kernel.Output()) {
		t := s.Tensor(d.To)
		if i < len(d.From) {
			t = s.Tensor(d.From[i])
		}
		if t.Type != want.Type || t.Shape.Elements() != want.Shape.Elements() {
			return fmt.Errorf("%s is %v %v; %v has %v %v for %s", t.Name, t.Type, t.Shape,
				d.Kernel.Kind, want.Type, want.Shape, want.Name)
		}
	}
	return nil
}

// validateCollective checks the collective of a definition against its tensors.
func (d *Def) validateCollective(s *Schedule) error {
	if err := d.Spec.Validate(); err != nil {
		return err
	}
	if len(d.From) != 1 || d.Spec.Ranks != s.Spec.Ranks || d.Spec.InPlace {
		return fmt.Errorf("%v is of one tensor, among all %d ranks, and not in place", d.Spec.Kind,
			s.Spec.Ranks)
	}
	from, to := s.Tensor(d.From[0]), s.Tensor(d.To)
	for rank := range s.Spec.Ranks {
		if d.Spec.In(rank) > from.Shape.Elements() || d.Spec.Out(rank) > to.Shape.Elements() ||
			from.Type != d.Spec.Type || to.Type != d.Spec.Type {
			return fmt.Errorf("%v of %d %vs into %d: %s is %v %v, %s is %v %v", d.Spec.Kind,
				d.Spec.In(rank), d.Spec.Type, d.Spec.Out(rank), from.Name, from.Type, from.Shape,
				to.Name, to.Type, to.Shape)
		}
	}
	return nil
}

// words formats the tensor, such as "tensor a given bfloat16 64x32 symmetric", and its cut below.
func (t *Tensor) words() string {
	text := fmt.Sprintf("tensor %s %v %v %v", t.Name, t.Role, t.Type, t.Shape)
	if t.Symmetric {
		text += " symmetric"
	}
	if len(t.Cut) > 0 {
		text += fmt.Sprintf("\ncut %s %s", t.Name, t.Cut)
	}
	return text + "\n"
}

// words formats the definition, such as "define gathered = all_gather count=32 of a" or "define out
// = (matmul m=64 k=32 n=16 float32*float32->float32) of gathered, b".
func (d *Def) words(s *Schedule) string {
	names := make([]string, len(d.From))
	for i, b := range d.From {
		names[i] = s.BufferName(b)
	}
	what := ""
	if d.Kernel != nil {
		what = fmt.Sprintf("(%v)", *d.Kernel)
	} else {
		what = d.Spec.Kind.String()
		if d.Spec.Op != 0 {
			what += " " + d.Spec.Op.String()
		}
		if d.Spec.Kind.Rooted() {
			what += fmt.Sprintf(" root=%d", d.Spec.Root)
		}
		if d.Spec.Avg == collective.AvgPost {
			what += " post"
		}
		what += fmt.Sprintf(" count=%d", d.Spec.Count)
	}
	return fmt.Sprintf("define %s = %s of %s\n", s.BufferName(d.To), what,
		strings.Join(names, ", "))
}
