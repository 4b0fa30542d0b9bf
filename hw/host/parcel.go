package host

import (
	"math/bits"
	"sync"

	"collsim/hw"
)

// A parcel holds a message's bytes, after room for a frame's header. So a socket sends both in one
// call.
type parcel struct{ memory []byte }

// bytes returns the message.
func (p *parcel) bytes() []byte { return p.memory[headerSize:] }

// A stock caches unused parcels by the bits of their capacity. All lanes share it.
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

// put returns a parcel to the stock.
func (s *stock) put(p *parcel) {
	if p != nil {
		s.classes[bits.Len64(uint64(cap(p.memory)-1))].Put(p)
	}
}
