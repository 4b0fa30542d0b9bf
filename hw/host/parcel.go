package host

import (
	"math/bits"
	"sync"

	"collsim/hw"
)

// parcel is a message's bytes. Before them is room for a frame's header, so that a socket gets both
// in one call.
type parcel struct{ memory []byte }

// bytes is the message.
func (p *parcel) bytes() []byte { return p.memory[headerSize:] }

// stock is parcels that nobody uses, by the bits of their capacity. It is shared by all lanes.
type stock struct{ classes [64]sync.Pool }

// get returns a parcel for n bytes.
func (s *stock) get(n int64) *parcel {
	n += headerSize
	class := bits.Len64(uint64(n - 1))
	p, _ := s.classes[class].Get().(*parcel)
	if p == nil {
		p = &parcel{memory: hw.Memory(1 << class)}
	}
	p.memory = p.memory[:n]
	return p
}

// put takes a parcel back.
func (s *stock) put(p *parcel) {
	if p != nil {
		s.classes[bits.Len64(uint64(cap(p.memory)-1))].Put(p)
	}
}
