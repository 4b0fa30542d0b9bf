package host

import (
	"fmt"
	"sync"

	"collsim/hw"
)

// An inbound is the receiver's end of a connection: messages that have arrived, in order.
type inbound struct {
	hw.Connection
	receiver *lane
	far      *outbound // the other end, if in this process
	slots    int       // capacity; 0 is any number

	mu    sync.Mutex
	queue []*parcel // nil for the parcel of a put or a signal
	times []hw.Mark // arrivals in the repetition; take adds the steps
	got   int       // messages taken
}

// arrive adds a message and wakes the receiver.
func (in *inbound) arrive(p *parcel) {
	in.mu.Lock()
	in.queue = append(in.queue, p)
	if in.receiver.rank.tracing {
		in.times = append(in.times, hw.Mark{At: in.receiver.rank.clock.Now()})
	}
	in.mu.Unlock()
	in.receiver.rouse()
}

// come adds a message from another process. It fails if the slots are full: a correct peer never
// sends then.
func (in *inbound) come(p *parcel) error {
	in.mu.Lock()
	full := in.slots > 0 && len(in.queue) >= in.slots
	in.mu.Unlock()
	if full {
		return fmt.Errorf("sends more than the %d slots of a connection hold", in.slots)
	}
	in.arrive(p)
	return nil
}

// take removes the first message, if there is one.
func (in *inbound) take(step int32) (p *parcel, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.queue) == 0 {
		return nil, false
	}
	p = in.queue[0]
	if in.queue[0] = nil; len(in.queue) == 1 {
		in.queue = in.queue[:0]
	} else {
		in.queue = in.queue[1:]
	}
	if in.receiver.rank.tracing {
		in.times[in.got].Step = step
	}
	in.got++
	return p, true
}

// reset discards a repetition's messages.
func (in *inbound) reset() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.queue, in.got, in.times = nil, 0, nil
}

// An outbound is the sender's end of a connection: it counts the occupied slots.
type outbound struct {
	hw.Connection
	sender *lane
	far    *inbound // the other end, if in this process
	slots  int      // capacity; 0 is any number
	lost   bool     // a fault loses what is sent from now on

	mu    sync.Mutex
	epoch uint32    // the repetition
	held  int       // occupied slots
	times []hw.Mark // departures in the repetition
}

// reserve occupies a slot, if one is free.
func (out *outbound) reserve() bool {
	out.mu.Lock()
	defer out.mu.Unlock()
	if out.slots > 0 && out.held >= out.slots {
		return false
	}
	out.held++
	return true
}

// freed frees a slot and wakes the sender; false if none was occupied.
func (out *outbound) freed() bool {
	out.mu.Lock()
	defer out.mu.Unlock()
	return out.free()
}

// freedIn frees a slot for a credit of a repetition. A credit of the previous repetition may arrive
// after this one has begun; it is ignored.
func (out *outbound) freedIn(epoch uint32) bool {
	out.mu.Lock()
	defer out.mu.Unlock()
	return out.epoch != epoch || out.free()
}

// free frees a slot and wakes the sender. REQUIRES: the caller holds mu.
func (out *outbound) free() bool {
	if out.held == 0 {
		return false
	}
	out.held--
	out.sender.rouse()
	return true
}

// reset prepares a repetition.
func (out *outbound) reset(epoch uint32) {
	out.mu.Lock()
	defer out.mu.Unlock()
	out.held, out.times, out.epoch, out.lost = 0, nil, epoch, false
}
