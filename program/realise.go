package program

import "fmt"

// Layout is what is known of how a buffer lies in memory, as in Inductor's IR
// (torch/_inductor/ir.py).
type Layout uint8

// The layouts.
const (
	Unrealised Layout = iota // a loop that no buffer has been made for yet
	Flexible                 // laid out, but another layout may still be chosen
	Fixed                    // laid out for good: what is given, and what a call or a stranger writes
	CommBuffer               // a buffer for communication
)

var layoutNames = [...]string{"unrealised", "flexible", "fixed", "communication buffer"}

// String is "flexible", and so on.
func (l Layout) String() string { return layoutNames[l] }

// Buffer is what a tensor is kept in, for who would have it be a buffer for communication.
type Buffer struct {
	Name     string
	Layout   Layout
	Symbolic bool    // nobody knows its size yet
	View     *Buffer // what it is a view of; nil if it is none
}

// behind is the buffer that all views of it are of.
func (b *Buffer) behind() *Buffer {
	for b.View != nil {
		b = b.View
	}
	return b
}

// Realisable reports whether it can become a buffer for communication, by the rules of
// can_realize_as_comm_buffer (torch/_inductor/comm_lowering.py): a loop always, one already so,
// one of a flexible layout whose size is known; nothing else. A view is what it is of.
func (b *Buffer) Realisable() bool {
	b = b.behind()
	return b.Layout == Unrealised || b.Layout == CommBuffer || b.Layout == Flexible && !b.Symbolic
}

// Realise makes it one, by the rules of realize_as_comm_buffer: a fixed layout, or a size that is
// not known, is an error; a second time changes nothing. A loop becomes flexible first.
func (b *Buffer) Realise() error {
	b = b.behind()
	switch {
	case b.Layout == CommBuffer:
		return nil
	case b.Layout == Fixed:
		return fmt.Errorf("program: %s cannot be a buffer for communication: its layout is fixed", b.Name)
	case b.Symbolic:
		return fmt.Errorf("program: %s cannot be a buffer for communication: nobody knows its size yet",
			b.Name)
	}
	b.Layout = CommBuffer
	return nil
}

// bufferOf is the buffer of a tensor, and why its layout is what it is: what a kernel writes is a
// loop, but of a matmul, which has a buffer of its own of a layout that may be chosen.
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
