package mpi

import (
	"math/bits"

	"collsim/hw"
)

// A transfer is a message in flight. It is on the heap, since the library writes its request.
type transfer struct {
	request uintptr
	parcel  *parcel
}

// A parcel holds a message's bytes; users counts the sends that still read them.
type parcel struct {
	memory []byte
	users  int
}

// A stock caches unused parcels, by the bits of their capacity, and transfers.
type stock struct {
	classes   [64][]*parcel
	transfers []*transfer
}

// get returns a parcel of n bytes.
func (s *stock) get(n int64) *parcel {
	class := bits.Len64(uint64(max(n, 8) - 1))
	free := &s.classes[class]
	if len(*free) == 0 {
		return &parcel{memory: hw.Memory(1 << class)[:n]}
	}
	p := (*free)[len(*free)-1]
	*free = (*free)[:len(*free)-1]
	p.memory = p.memory[:n]
	return p
}

// put returns a parcel to the stock.
func (s *stock) put(p *parcel) {
	if p != nil {
		class := bits.Len64(uint64(cap(p.memory) - 1))
		s.classes[class] = append(s.classes[class], p)
	}
}

// transfer returns a transfer of a parcel; nil for one without bytes.
func (s *stock) transfer(p *parcel) *transfer {
	if n := len(s.transfers); n > 0 {
		t := s.transfers[n-1]
		s.transfers = s.transfers[:n-1]
		t.parcel = p
		return t
	}
	return &transfer{parcel: p}
}

// bytes returns the memory of the transfer; nil for none.
func (t *transfer) bytes() []byte {
	if t.parcel == nil {
		return nil
	}
	return t.parcel.memory
}

// probe reports whether a message has arrived, and its size in bytes.
func (p *steps) probe(from int32, tag int) (n int64, came bool, err error) {
	o := p.lib.out
	err = p.lib.call("MPI_Iprobe", uintptr(from), uintptr(tag), p.comm, address(&o.flag),
		address(&o.status))
	return int64(o.status.bytes), o.flag != 0, err
}

// receive starts to receive a message of the parcel's size.
func (p *steps) receive(into *parcel, from int32, tag int) (*transfer, error) {
	t := p.stock.transfer(into)
	b := t.bytes()
	return t, p.lib.call("MPI_Irecv", memory(b), uintptr(len(b)), p.lib.objects["ompi_mpi_byte"],
		uintptr(from), uintptr(tag), p.comm, address(&t.request))
}

// post starts to send a parcel; nil sends no bytes.
func (p *steps) post(value *parcel, to int32, tag int) error {
	t := p.stock.transfer(value)
	b := t.bytes()
	if value != nil {
		value.users++
	}
	p.sending = append(p.sending, t)
	return p.lib.call("MPI_Isend", memory(b), uintptr(len(b)), p.lib.objects["ompi_mpi_byte"],
		uintptr(to), uintptr(tag), p.comm, address(&t.request))
}

// test reports whether a transfer has completed. A received parcel stays with the receiver. A sent
// parcel returns to the stock after its last send.
func (p *steps) test(t *transfer) (done bool, err error) {
	o := p.lib.out
	err = p.lib.call("MPI_Test", address(&t.request), address(&o.flag), address(&o.status))
	if err != nil || o.flag == 0 {
		return false, err
	}
	if t.parcel != nil && t.parcel.users > 0 {
		if t.parcel.users--; t.parcel.users == 0 {
			p.stock.put(t.parcel)
		}
	}
	t.parcel = nil
	p.stock.transfers = append(p.stock.transfers, t)
	return true, nil
}
