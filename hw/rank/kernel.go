package rank

import (
	"fmt"

	"collsim/hw"
	"collsim/kernel"
	"collsim/schedule"
)

// Compute computes the kernel of a step and stores its result. It calls goesOn now and then, and
// ends with its error. A region of the wrong type or size is a *Misfit. REQUIRES: the kernel has a
// result.
func (m *Memory) Compute(where schedule.Spot, step *schedule.Step, goesOn func() error) error {
	op := *step.Kernel
	var operands [][]byte
	for i, want := range op.Operands() {
		home, spans, err := m.Suits(where, want, &step.From[i].Region)
		if err != nil {
			return err
		}
		elements := hw.Memory(Size(spans))
		m.Gather(elements, home, spans)
		operand := hw.Memory(int64(len(elements)))
		m.types[home].Store(operand, elements)
		operands = append(operands, operand)
	}
	home, spans, err := m.Suits(where, op.Output(), &step.To[0])
	if err != nil {
		return err
	}
	result, err := hw.Compute(op, operands, goesOn)
	if err != nil {
		return err
	}
	elements := hw.Memory(int64(len(result)))
	m.types[home].Load(elements, result)
	m.Scatter(home, spans, elements)
	return nil
}

// Suits returns where a kernel's region is stored. It returns a *Misfit if the region does not have
// the wanted type and size.
func (m *Memory) Suits(where schedule.Spot, want kernel.Tensor, g *schedule.Region) (
	home schedule.Buffer, spans []schedule.Span, err error) {
	home, spans = m.Places(nil, where, g)
	have := m.schedule.TypeOf(home)
	if n := Size(spans); n != want.Bytes() || n > 0 && have != want.Type {
		return 0, nil, &Misfit{fmt.Sprintf("%d bytes of %v for %s: %v %v is expected", n, have,
			want.Name, want.Type, want.Shape)}
	}
	return home, spans, nil
}

// A Misfit reports a region whose type or size is not what a kernel reads or writes.
type Misfit struct{ Text string }

// Error returns what was expected.
func (m *Misfit) Error() string { return m.Text }

// Computes reports whether a step has a kernel with a result. An opaque kernel only takes time.
func Computes(step *schedule.Step) bool {
	return step.Kernel != nil && step.Kernel.HasResult()
}
