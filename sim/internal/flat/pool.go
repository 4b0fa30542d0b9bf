package flat

// Pool holds values by number. A number that is out of use is given again, with the value that it
// had. Numbers in use can be put in chains.
type Pool[T any] struct {
	all   []pooled[T]
	free  int32 // the first that is out of use, −1 for none
	least int
}

type pooled[T any] struct {
	value T
	next  int32 // in a chain, or of those out of use
}

// Chain lists numbers of a pool in order.
type Chain struct {
	First, Last int32 // −1 for none
}

// NewChain returns a chain of no numbers.
func NewChain() Chain { return Chain{-1, -1} }

// NewPool returns a pool with room for a number of values at first.
func NewPool[T any](least int) Pool[T] { return Pool[T]{free: -1, least: least} }

// Len returns how many numbers there are, in use or not. They are those below.
func (p *Pool[T]) Len() int { return len(p.all) }

// At returns the value of a number.
func (p *Pool[T]) At(i int32) *T { return &p.all[i].value }

// HasFree reports whether a number is out of use.
func (p *Pool[T]) HasFree() bool { return p.free >= 0 }

// Take takes a number in use. Its value is that of its last use.
func (p *Pool[T]) Take() int32 {
	i := p.Reuse()
	if i < 0 {
		i = p.Grow()
	}
	return i
}

// Reuse takes a number that is out of use, −1 if there is none. Hot loops do so, and call Grow
// then: Take is not inlined.
func (p *Pool[T]) Reuse() (i int32) {
	if i = p.free; i >= 0 {
		p.free = p.all[i].next
	}
	return i
}

// Grow takes a number in use that never was.
func (p *Pool[T]) Grow() int32 {
	p.all = Add(p.all, pooled[T]{next: -1}, p.least)
	return int32(len(p.all) - 1)
}

// Put takes a number in use, for a value.
func (p *Pool[T]) Put(value T) int32 {
	i := p.Take()
	p.all[i].value = value
	return i
}

// Drop takes a number out of use.
func (p *Pool[T]) Drop(i int32) {
	p.all[i].next = p.free
	p.free = i
}

// EachFree visits the numbers that are out of use.
func (p *Pool[T]) EachFree(see func(i int32)) {
	for i := p.free; i >= 0; i = p.all[i].next {
		see(i)
	}
}

// Next returns the number behind another in its chain, −1 for none.
func (p *Pool[T]) Next(i int32) int32 { return p.all[i].next }

// Append adds a number to a chain.
func (p *Pool[T]) Append(c *Chain, i int32) {
	p.all[i].next = -1
	if c.Last < 0 {
		c.First = i
	} else {
		p.all[c.Last].next = i
	}
	c.Last = i
}

// Pop takes the first number out of a chain.
//
// REQUIRES: there is one.
func (p *Pool[T]) Pop(c *Chain) int32 {
	i := c.First
	if c.First = p.all[i].next; c.First < 0 {
		c.Last = -1
	}
	return i
}
