package run

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/arrays"
	"collsim/scenarios"
	"collsim/unit"
)

// inputShapes returns the shape of each rank's array in the input file of a point, nil for ranks
// without one.
func (a *arrayFiles) inputShapes(p *scenarios.Point) ([]collective.Shape, error) {
	ranks, err := a.of(p.Data.Input, inputWant(p))
	if err != nil {
		return nil, err
	}
	shapes := make([]collective.Shape, len(ranks))
	for rank, one := range ranks {
		if one.Data == nil {
			continue
		}
		shapes[rank] = append(collective.Shape{}, one.Shape...)
	}
	return shapes, nil
}

// inputWant returns what a point expects of its input file: which ranks have an array, and its
// type. Sizes are checked where they are known.
func inputWant(p *scenarios.Point) arrays.Want {
	w := arrays.Want{Ranks: p.Topology.Ranks, Type: p.Spec.Type,
		Counts: make([]int64, p.Topology.Ranks)}
	for i := range w.Counts {
		w.Counts[i] = arrays.Nothing
	}
	for _, team := range p.Members() {
		for place, rank := range team {
			if hasInput(&p.Spec, place) {
				w.Counts[rank] = arrays.Any
			}
		}
	}
	return w
}

// hasInput reports whether a rank of a team passes an input at all.
func hasInput(spec *collective.Spec, place int) bool {
	switch spec.Kind {
	case collective.Broadcast, collective.Scatter:
		return place == spec.Root
	case collective.Custom:
		return spec.In(place) > 0
	}
	return true
}

// hasOutput reports whether a rank of a team gets an output at all.
func hasOutput(spec *collective.Spec, place int) bool {
	switch spec.Kind {
	case collective.Reduce, collective.Gather:
		return place == spec.Root
	case collective.Custom:
		return spec.Out(place) > 0
	}
	return true
}

// theirs reads what a point is compared with: the output of each rank.
func (a *arrayFiles) theirs(p *scenarios.Point) ([]arrays.Array, error) {
	w := arrays.Want{Ranks: p.Topology.Ranks, Type: p.Spec.Type,
		Counts: make([]int64, p.Topology.Ranks)}
	for i := range w.Counts {
		w.Counts[i] = arrays.Nothing
	}
	for _, team := range p.Members() {
		spec := p.TeamSpec(len(team))
		for place, rank := range team {
			if hasOutput(&spec, place) {
				w.Counts[rank] = spec.Out(place)
			}
		}
	}
	ranks, err := a.of(p.FileName(p.Data.Compare), w)
	if err != nil || p.TensorOf(p.Spec.Ranks) == nil {
		return ranks, err
	}
	for _, team := range p.Members() {
		shapes, err := outputShapes(p, len(team))
		if err != nil {
			return nil, err
		}
		for place, rank := range team {
			have := &ranks[rank]
			if have.Data != nil && have.Shape != nil && !slices.Equal(have.Shape, shapes[place]) {
				return nil, fmt.Errorf("%s: rank %d has shape %v there; its output has shape %v",
					a.resolve(p.FileName(p.Data.Compare)), rank, collective.Shape(have.Shape), shapes[place])
			}
		}
	}
	return ranks, nil
}

// outputShapes returns the shapes of the outputs of a team of n ranks, by place; nil for ranks
// without one.
func outputShapes(p *scenarios.Point, n int) ([]collective.Shape, error) {
	spec := p.TeamSpec(n)
	shapes := make([]collective.Shape, n)
	tensor := p.TensorOf(n)
	if tensor == nil {
		for place := range shapes {
			if hasOutput(&spec, place) {
				shapes[place] = collective.Shape{spec.Out(place)}
			}
		}
		return shapes, nil
	}
	shapes, err := tensor.Shapes(tensor.Inputs(n))
	if err != nil {
		return nil, err
	}
	for place := range shapes {
		if !hasOutput(&spec, place) {
			shapes[place] = nil
		}
	}
	return shapes, nil
}

// judgeData refuses data that a point cannot take, before anything is run; as much as its data are
// held so often at once.
func (s *Scenario) judgeData(p *scenarios.Point, held int) *scenarios.Refusal {
	if !p.Data.Any() {
		return nil
	}
	total := unit.Bytes(0)
	for _, team := range p.Members() {
		spec := p.TeamSpec(len(team))
		for place := range team {
			total += unit.Bytes((spec.In(place) + spec.Out(place)) * int64(held*spec.Type.Width()))
		}
	}
	switch {
	case p.Spec.Kind == collective.Barrier:
		return p.Refuse("collective.kind", "barrier has no data; no input, output and compare are "+
			"expected", "")
	case p.Algorithm.FromFile() && s.files[p.Algorithm.String()].format.Dataless:
		return p.Refuse("collective.algorithm", "the file tells how many bytes move, not what they "+
			"hold; no input, output and compare are expected", "")
	case total > p.Check.Memory:
		return p.Refuse("check.memory", fmt.Sprintf("the data of all ranks take %v; that much is "+
			"expected", total), "allow more: check.memory bounds all buffers of a run on data")
	case p.Data.Compare == "":
		return nil
	}
	if _, err := s.arrays.theirs(p); err != nil {
		return p.Refuse("collective.compare", err.Error(), "")
	}
	return nil
}

// judgeInputs refuses a file with inputs of ranks that pass none, as Communication.Shapes does:
// those of a broadcast or scatter but the root's. A single array has rows for all ranks; its reader
// leaves out the rows of such ranks, and they are not refused.
func (s *Scenario) judgeInputs(p *scenarios.Point) *scenarios.Refusal {
	if p.Data.Input == "" || p.Spec.Kind == collective.Custom {
		return nil
	}
	ranks, err := s.arrays.of(p.Data.Input, inputWant(p))
	if err != nil {
		return p.Refuse("collective.input", err.Error(), "")
	}
	for _, team := range p.Members() {
		for place, rank := range team {
			have := collective.Shape(ranks[rank].Shape)
			if !hasInput(&p.Spec, place) && have != nil && have.Elements() > 0 {
				return p.Refuse("collective.input", fmt.Sprintf("%v takes one input, the root's; rank %d, "+
					"which is not the root, has one of shape %v", p.Spec.Kind, rank, have), "")
			}
		}
	}
	return nil
}

// judgeGradients applies judgeData to the backward pass of a point. It also refuses gradients of
// another shape than the outputs have.
func (s *Scenario) judgeGradients(p *scenarios.Point) *scenarios.Refusal {
	if p.Gradient == scenarios.NoGradient || !p.GradientData.Any() {
		return nil
	}
	b := p.Backward()
	if p.Gradient == scenarios.LocalGradient {
		b = b.Carried()
	}
	held := 1
	if op := p.Spec.Op; op == collective.Max || op == collective.Min {
		held = 3 // the forward pass, and the output that it has brought
	}
	if e := s.judgeData(b, held); e != nil || b.Data.Input == "" {
		return e
	}
	ranks, err := s.arrays.of(b.Data.Input, inputWant(b))
	if err != nil {
		return b.Refuse("collective.input", err.Error(), "")
	}
	for _, team := range b.Members() {
		spec, tensor := b.TeamSpec(len(team)), b.TensorOf(len(team))
		for place, rank := range team {
			have := collective.Shape(ranks[rank].Shape)
			switch {
			case !hasInput(&spec, place):
			case tensor != nil && !slices.Equal(have, tensor.Inputs(len(team))[place]):
				return b.Refuse("collective.input", fmt.Sprintf("rank %d has shape %v there; its output has "+
					"shape %v", rank, have, tensor.Inputs(len(team))[place]), "")
			case have.Elements() != spec.In(place):
				return b.Refuse("collective.input", fmt.Sprintf("rank %d has shape %v there, %d elements; "+
					"its output has %d", rank, have, have.Elements(), spec.In(place)), "")
			}
		}
	}
	return nil
}

// pack copies elements of a tensor to where the flat collective has them, or with unpack back.
func pack(moves []collective.Move, width int64, from []byte, size int64, unpack bool) []byte {
	if len(moves) == 1 && moves[0] == (collective.Move{Len: size}) {
		return from
	}
	to := make([]byte, size*width)
	for _, m := range moves {
		source, target := m.Tensor*width, m.Flat*width
		if unpack {
			source, target = target, source
		}
		copy(to[target:target+m.Len*width], from[source:])
	}
	return to
}

// number holds the operations on elements of one type, for callers that have only their bytes.
type number struct {
	calculate func(*calculation) (*calculated, error)
	inputs    func(*calculation) ([][]byte, error)
	// scale multiplies a gradient as the forward pass does its inputs or outputs; unscaled counts
	// what it gets wrong; mask makes it 0 where an input is not equal to the output.
	scale    func(forward *collective.Spec, elements []byte) []byte
	unscaled func(forward *collective.Spec, before, after []byte) (wrong int64)
	mask     func(in, out, gradient []byte)
}

// numberOf returns the operations on elements of a type; on complex numbers those on their
// components.
func numberOf(t dtype.Type) number {
	switch t {
	case dtype.Float64:
		return numberAs[float64]()
	case dtype.Float32:
		return numberAs[float32]()
	case dtype.Float16:
		return numberAs[dtype.F16]()
	case dtype.BFloat16:
		return numberAs[dtype.BF16]()
	case dtype.Float8E4M3:
		return numberAs[dtype.E4M3]()
	case dtype.Float8E5M2:
		return numberAs[dtype.E5M2]()
	case dtype.Int8:
		return numberAs[int8]()
	case dtype.Int16:
		return numberAs[int16]()
	case dtype.Int32:
		return numberAs[int32]()
	case dtype.Int64:
		return numberAs[int64]()
	case dtype.Uint8:
		return numberAs[uint8]()
	case dtype.Uint16:
		return numberAs[uint16]()
	case dtype.Uint32:
		return numberAs[uint32]()
	case dtype.Uint64:
		return numberAs[uint64]()
	case dtype.Bool:
		return numberAs[dtype.B8]()
	case dtype.Complex64:
		return numberAs[float32]()
	case dtype.Complex128:
		return numberAs[float64]()
	}
	panic("collsim: a collective of no type")
}
