package comm

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"collsim/collective"
)

// buffer is a tensor of one side, with the elements of the flat collective that it holds: those
// from flat on, in order, or, if they are scattered, those of moves.
type buffer struct {
	Tensor
	flat  int64
	moves []collective.Move
}

// check checks a rank's buffers. It returns the flat collective, and whether the rank is the root.
func (m *Member) check(t Tensors) (spec collective.Spec, root bool, err error) {
	c, ranks := &m.does, m.world.ranks
	role, err := c.Role(m.rank, ranks)
	if err == nil {
		spec, err = c.Spec(ranks)
	}
	if err == nil {
		err = m.buffers(&spec, role, t)
	}
	return spec, role.Root, err
}

// buffers checks the number, types, shapes and places of a rank's buffers.
func (m *Member) buffers(spec *collective.Spec, role collective.Role, t Tensors) error {
	c, ranks := &m.does, m.world.ranks
	ins, outs := len(t.In), len(t.Out)
	if ins == 1 && role.Sources > 1 { // one for all
		ins = role.Sources
	}
	if outs == 1 && role.Destinations > 1 {
		outs = role.Destinations
	}
	if err := c.CheckBuffers(m.rank, ranks, ins, outs); err != nil {
		return err
	}
	in, out := sides(c, role.Position, ranks, t)
	sources, destinations := shapes(c, role.Position, ranks, t)
	if err := m.fit("source", in, sources); err != nil {
		return err
	}
	if err := m.fit("destination", out, destinations); err != nil {
		return err
	}
	return places(spec, role.Position, in, out)
}

// fit reports the first buffer of a side with another type, shape or size than required.
func (m *Member) fit(side string, buffers []buffer, shapes []collective.Shape) error {
	kind := m.does.Kind
	for i, b := range buffers {
		if err := m.does.CheckType(m.rank, b.Type); err != nil {
			return err
		}
		if !slices.Equal(b.Shape, shapes[i]) {
			return fmt.Errorf("%v: %s buffer %d has shape %v: %v is expected", kind, side, i, b.Shape,
				shapes[i])
		}
		if want := b.Shape.Elements() * int64(b.Type.Width()); int64(len(b.Data)) != want {
			return fmt.Errorf("%v: %s buffer %d has %d bytes: %d are expected for %v of shape %v", kind,
				side, i, len(b.Data), want, b.Type, b.Shape)
		}
	}
	return nil
}

// shapes returns the required shapes of the buffers: those of the blocks, or of the whole if one
// tensor is passed for all.
func shapes(c *collective.Communication, position, ranks int,
	t Tensors) (sources, destinations []collective.Shape) {
	sources, destinations = c.Blocks(position, ranks)
	_, n := place(c, 0, ranks)
	inputs := c.Inputs(n)
	if len(t.In) != len(sources) {
		sources = inputs[position : position+1]
	}
	if len(t.Out) != len(destinations) {
		whole, _ := c.Shapes(inputs) // Spec has checked it before
		destinations = whole[position : position+1]
	}
	return sources, destinations
}

// sides returns a rank's buffers with their places in the flat collective. REQUIRES: there are as
// many as the role says, or one for all.
func sides(c *collective.Communication, position, ranks int, t Tensors) (in, out []buffer) {
	sources, destinations := c.Blocks(position, ranks)
	in, out = lay(t.In), lay(t.Out)
	if len(in) == 1 && len(sources) > 1 {
		in[0].moves = apart(c.Pack(position, ranks))
	}
	if len(out) == 1 && len(destinations) > 1 {
		out[0].moves = apart(c.Unpack(position, ranks))
	}
	return in, out
}

// lay places tensors one after the other.
func lay(list []Tensor) []buffer {
	side := make([]buffer, len(list))
	at := int64(0)
	for i, one := range list {
		side[i] = buffer{Tensor: one, flat: at}
		at += one.Shape.Elements()
	}
	return side
}

// apart returns moves, or nil if they leave all elements in place.
func apart(moves []collective.Move) []collective.Move {
	if len(moves) == 1 && moves[0].Tensor == 0 {
		return nil
	}
	return moves
}

// pack returns a rank's input of the flat collective.
func pack(c *collective.Communication, position, ranks int, p *post) []byte {
	in, _ := sides(c, position, ranks, p.tensors)
	width := int64(p.spec.Type.Width())
	flat := make([]byte, p.spec.In(position)*width)
	for i := range in {
		for _, m := range in[i].elements() {
			copy(flat[m.Flat*width:(m.Flat+m.Len)*width], in[i].Data[m.Tensor*width:])
		}
	}
	return flat
}

// unpack copies a rank's output to its buffers.
func unpack(c *collective.Communication, position, ranks int, p *post, flat []byte) {
	_, out := sides(c, position, ranks, p.tensors)
	width := int64(p.spec.Type.Width())
	for i := range out {
		for _, m := range out[i].elements() {
			copy(out[i].Data[m.Tensor*width:(m.Tensor+m.Len)*width], flat[m.Flat*width:])
		}
	}
}

// elements maps the elements of a buffer to the flat collective.
func (b *buffer) elements() []collective.Move {
	if b.moves != nil {
		return b.moves
	}
	return []collective.Move{{Flat: b.flat, Len: b.Shape.Elements()}}
}

// places checks where a rank's buffers are in memory. They must be disjoint. If in place was
// declared, an input and an output may overlap in the one way of the kind's in-place form.
func places(spec *collective.Spec, position int, in, out []buffer) error {
	shared := false
	for i := range out {
		for j := range out[:i] {
			if _, overlap := out[j].distance(&out[i]); overlap {
				return fmt.Errorf("%v: destination buffers %d and %d overlap", spec.Kind, j, i)
			}
		}
		for j := range in {
			distance, overlap := in[j].distance(&out[i])
			if !overlap {
				continue
			}
			shared = true
			if err := legal(spec, position, &in[j], &out[i], distance); err != nil {
				return err
			}
		}
	}
	switch both := spec.In(position) > 0 && spec.Out(position) > 0; {
	case shared && !spec.InPlace:
		return fmt.Errorf("%v: input and output overlap, which is not declared in_place", spec.Kind)
	case !shared && spec.InPlace && both:
		return fmt.Errorf("%v is declared in_place, but input and output lie apart", spec.Kind)
	}
	return nil
}

// disjoint reports ranks that share memory for their outputs.
func disjoint(posts []*post) error {
	type extent struct {
		place    int
		from, to int64
	}
	var all []extent
	for i, p := range posts {
		for _, t := range p.tensors.Out {
			if n := int64(len(t.Data)); n > 0 {
				all = append(all, extent{i, t.address(), t.address() + n})
			}
		}
	}
	slices.SortFunc(all, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	for i := range all[:max(len(all)-1, 0)] {
		if a, b := all[i], all[i+1]; a.to > b.from {
			return fmt.Errorf("destination buffers of the ranks at places %d and %d overlap",
				min(a.place, b.place), max(a.place, b.place))
		}
	}
	return nil
}

// address returns the address of a tensor's first element. REQUIRES: it has one.
func (t Tensor) address() int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(t.Data))))
}

// distance returns the bytes from the start of b to that of another buffer, and whether they
// overlap.
func (b *buffer) distance(o *buffer) (bytes int64, overlap bool) {
	if len(b.Data) == 0 || len(o.Data) == 0 {
		return 0, false
	}
	bytes = o.address() - b.address()
	return bytes, bytes < int64(len(b.Data)) && -bytes < int64(len(o.Data))
}

// legal checks an output that overlaps an input: whether it may begin so many bytes after it.
func legal(spec *collective.Spec, position int, in, out *buffer, distance int64) error {
	width := int64(spec.Type.Width())
	if in.moves != nil || out.moves != nil || distance%width != 0 {
		return fmt.Errorf("%v: input and output overlap, and their blocks do not lie one behind the "+
			"other: they must lie apart", spec.Kind)
	}
	return spec.CheckAlias(position, collective.Extent{Off: -in.flat, Len: spec.In(position)},
		collective.Extent{Off: distance/width - out.flat, Len: spec.Out(position)})
}
