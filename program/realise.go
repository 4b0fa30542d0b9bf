package program

import "fmt"

// A Layout says how far the layout of a buffer in memory is decided, as in Inductor's IR
// (torch/_inductor/ir.py).
type Layout uint8

// The layouts.
const (
	Unrealised Layout = iota // a loop without a buffer yet
	Flexible                 // laid out, but another layout may still be chosen
	Fixed                    // laid out for good: given, or written by a call or foreign code
	CommBuffer               // a buffer for communication
)

// A Buffer stores a tensor, and may become a buffer for communication.
type Buffer struct {
	Name     string
	Layout   Layout
	Symbolic bool    // its size is not known yet
	View     *Buffer // the buffer that it is a view of; nil if it is no view
}

// behind returns the buffer that a view is of, through all views.
func (b *Buffer) behind() *Buffer {
	for b.View != nil {
		b = b.View
	}
	return b
}

// Realisable reports whether it can become a buffer for communication, by the rules of
// can_realize_as_comm_buffer (torch/_inductor/comm_lowering.py). A loop can always; so can a buffer
// that is one already, or one of a flexible layout and known size. Others cannot. A view goes by
// its buffer.
func (b *Buffer) Realisable() bool {
	b = b.behind()
	return b.Layout == Unrealised || b.Layout == CommBuffer || b.Layout == Flexible && !b.Symbolic
}

// Realise makes it a buffer for communication, by the rules of realize_as_comm_buffer. A fixed
// layout, or an unknown size, is an error; a second time changes nothing. A loop becomes flexible
// first.
func (b *Buffer) Realise() error {
	b = b.behind()
	switch {
	case b.Layout == CommBuffer:
		return nil
	case b.Layout == Fixed:
		return fmt.Errorf("%s cannot be a buffer for communication: its layout is fixed", b.Name)
	case b.Symbolic:
		return fmt.Errorf("%s cannot be a buffer for communication: nobody knows its size yet",
			b.Name)
	}
	b.Layout = CommBuffer
	return nil
}

// bufferOf returns the buffer of a tensor, and why its layout is so. The result of a kernel is a
// loop, except of a matmul, which has a buffer of its own with a layout that may be chosen.
func (x *plan) bufferOf(name string) (b *Buffer, why string) {
	b = &Buffer{Name: name, Layout: Fixed}
	if h, lies := x.homes[name]; lies && !h.shared {
		b.View, why = x.bufferOf(h.in)
		return b, why
	}
	if x.memoryOf(name) == Symmetric {
		b.Layout = CommBuffer
		return b, ""
	}
	why = name + " is given: its layout is fixed"
	for i := range x.ops {
		r := &x.ops[i]
		switch {
		case r.Out != name || r.call != nil && r.inPlace():
			continue
		case r.call != nil:
			b.Layout = Fixed
			return b, name + " is the result of a call: its layout is fixed"
		case r.kernel.IsMatmul():
			b.Layout = Flexible
		case b.Layout == Fixed:
			b.Layout = Unrealised
		}
		why = ""
	}
	return b, why
}
