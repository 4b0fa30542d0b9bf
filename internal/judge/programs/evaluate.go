package programs

import (
	"fmt"
	"maps"
	"slices"
)

// Inputs holds the bytes of tensors by name and rank: little-endian elements in row-major order.
type Inputs map[string][][]byte

// Given lists the given tensors of the program, in the order of the file: those that no op writes
// before one reads them. With a gradient, NAME_grad is given, too, for each result NAME, in the
// same shape.
func (p *Program) Given() (names []string) {
	for _, name := range p.names {
		if p.isGiven(name) {
			names = append(names, name)
		}
	}
	return names
}

// isGiven reports whether a declared tensor has a value before the first op.
func (p *Program) isGiven(name string) bool {
	if p.tensors[name] == nil {
		return false
	}
	for i := range p.ops {
		switch o := &p.ops[i]; {
		case slices.Contains(o.in, name):
			return true
		case o.out == name:
			return false
		}
	}
	return true
}

// A machine holds the values of all tensors during an evaluation.
type machine struct {
	*Program
	account
	inputs Inputs
	values map[string][]*tensor // by name and rank; nil if unwritten
	shapes map[string][]int64   // of tensors, on the rank with the most elements
	types  map[string]numberType
}

// Evaluate evaluates the program.
func (p *Program) Evaluate(inputs Inputs) (*Results, error) {
	m := &machine{Program: p, inputs: inputs, values: map[string][]*tensor{},
		shapes: map[string][]int64{}, types: map[string]numberType{}}
	for _, name := range p.Given() {
		of := p.tensors[name]
		values, err := m.given(name, of.typ, of.shape)
		if err != nil {
			return nil, err
		}
		m.values[name], m.shapes[name], m.types[name] = values, of.shape, of.typ
	}
	for range p.iterations {
		if err := m.pass(false); err != nil {
			return nil, err
		}
		if !p.gradient {
			continue
		}
		if err := m.backward(); err != nil {
			return nil, err
		}
		if err := m.pass(true); err != nil {
			return nil, err
		}
	}
	return m.results(), nil
}

// given decodes a given tensor.
func (m *machine) given(name string, typ numberType, shape []int64) ([]*tensor, error) {
	data := m.inputs[name]
	if len(data) != m.Ranks {
		return nil, fmt.Errorf("%s is given on %d ranks; %d are expected", name, len(data),
			m.Ranks)
	}
	values := make([]*tensor, m.Ranks)
	for rank, bytes := range data {
		if want := elements(shape) * int64(typ.width); int64(len(bytes)) != want {
			return nil, fmt.Errorf("%s has %d bytes on rank %d; %d are expected", name,
				len(bytes), rank, want)
		}
		values[rank] = &tensor{typ, shape, typ.decode(bytes)}
	}
	return values, nil
}

// pass evaluates the ops that wait for gradients (late), or the others.
func (m *machine) pass(late bool) error {
	for i := range m.ops {
		if o := &m.ops[i]; o.late == late {
			if err := m.do(o); err != nil {
				return fmt.Errorf("%s: %w", o.name, err)
			}
		}
	}
	return nil
}

// do evaluates an op on all its ranks.
func (m *machine) do(o *op) error {
	for _, name := range o.in {
		if m.values[name] == nil {
			return fmt.Errorf("%s is no tensor", name)
		}
	}
	var out []*tensor
	var err error
	switch {
	case o.out == "":
		return nil
	case o.call != nil:
		out, err = m.communicate(o)
	default:
		out, err = m.compute(o)
	}
	if err != nil {
		return err
	}
	return m.write(o, out)
}

// communicate returns the results of a call on all ranks.
func (m *machine) communicate(o *op) ([]*tensor, error) {
	all := make([]*tensor, m.Ranks)
	for _, team := range o.teams {
		out, err := o.call.do(&m.account, team, m.values[o.in[0]])
		if err != nil {
			return nil, err
		}
		for i, rank := range team {
			all[rank] = out[i]
		}
	}
	return all, nil
}

// compute returns the results of a kernel on all ranks.
func (m *machine) compute(o *op) ([]*tensor, error) {
	typ := m.types[o.in[0]]
	if o.kernel.name == "scaled_matmul" {
		typ, _ = typeOf("bfloat16")
	}
	if o.typ != "" {
		known := false
		if typ, known = typeOf(o.typ); !known {
			return nil, fmt.Errorf("the type %s is not known", o.typ)
		}
	}
	if of := m.tensors[o.out]; o.typ == "" && of != nil && o.kernel.name == "opaque" {
		typ = of.typ
	} else if _, is := layers()[o.kernel.name]; is && o.typ == "" {
		typ = m.firstFloat(o.in)
	}
	all := make([]*tensor, m.Ranks)
	for _, rank := range slices.Concat(o.teams...) {
		in, err := m.operands(o, rank)
		switch {
		case err != nil:
		case o.kernel.name == "opaque":
			all[rank] = o.opaque(m, in, typ)
		default:
			all[rank], err = o.kernelOf(rank).do(&m.account, in, typ)
		}
		if err != nil {
			return nil, fmt.Errorf("on rank %d: %w", rank, err)
		}
	}
	return all, nil
}

// firstFloat returns the first type of floats of some tensors.
func (m *machine) firstFloat(names []string) (typ numberType) {
	for _, name := range names {
		if typ = m.types[name]; typ.float {
			break
		}
	}
	return typ
}

// operands returns the operands of a kernel on a rank. If one has no elements, others may be
// missing, since nothing is computed.
func (m *machine) operands(o *op, rank int) ([]*tensor, error) {
	in := make([]*tensor, len(o.in))
	empty := false
	for i, name := range o.in {
		in[i] = m.values[name][rank]
		empty = empty || in[i] != nil && len(in[i].list) == 0
	}
	for i, name := range o.in {
		switch {
		case in[i] != nil:
		case empty:
			in[i] = zeros(m.types[name], m.shapes[name])
		default:
			return nil, fmt.Errorf("%s has not been written", name)
		}
	}
	return in, nil
}

// write stores a new version of a tensor. If the results of a call differ in length, ranks outside
// its teams get an empty one.
func (m *machine) write(o *op, out []*tensor) error {
	longest := -1
	for rank, t := range out {
		if t != nil && (longest < 0 || len(t.list) > len(out[longest].list)) {
			longest = rank
		}
	}
	if longest < 0 {
		return fmt.Errorf("no rank writes %s", o.out)
	}
	shape, typ := out[longest].shape, out[longest].typ
	of := m.tensors[o.out]
	if of != nil && (of.typ != typ || elements(of.shape) != elements(shape)) {
		return fmt.Errorf("%s %v is written to %s, which is %s %v", typ.name, shape, o.out, of.typ.name,
			of.shape)
	}
	if m.values[o.out] == nil {
		m.values[o.out] = make([]*tensor, m.Ranks)
	}
	now := m.values[o.out]
	for rank, t := range out {
		switch {
		case t != nil && of != nil && elements(t.shape) == elements(of.shape):
			now[rank] = &tensor{typ, of.shape, t.list}
		case t != nil:
			now[rank] = t
		case now[rank] == nil && o.ragged(out):
			now[rank] = zeros(typ, with(shape, 0, 0))
		}
	}
	if of != nil {
		shape = of.shape
	}
	m.shapes[o.out], m.types[o.out] = shape, typ
	return nil
}

// ragged reports whether members of a call's teams have results of different lengths, or none.
func (o *op) ragged(out []*tensor) bool {
	if o.call == nil {
		return false
	}
	for _, team := range o.teams {
		first := out[team[0]]
		for _, rank := range team {
			t := out[rank]
			if t == nil || first == nil || len(t.shape) > 0 && t.shape[0] != first.shape[0] {
				return true
			}
		}
	}
	return false
}

// results collects the results on all ranks.
func (m *machine) results() *Results {
	r := &Results{Exact: !m.inexact, values: map[string][]*tensor{}}
	written, read := m.uses(true)
	for _, name := range slices.Sorted(maps.Keys(m.values)) {
		isGradient := written[name] == 0 && m.isGradientOfGiven(name) && read[name] == 0
		if m.isResult(name, written, read) || isGradient {
			r.Names, r.values[name] = append(r.Names, name), m.values[name]
		}
	}
	return r
}
