package host

import (
	"fmt"
	"sync"

	"collsim/hw"
)

// inbound is a connection's end at the receiver: messages that have arrived, in order.
type inbound struct {
	hw.Connection
	receiver *lane
	far      *outbound // the other end, where it is in the same process
	slots    int       // that it has; 0 is any number

	mu    sync.Mutex
	queue []*parcel // a put's or a signal's parcel is nil
	times []hw.Mark // when the messages of the repetition arrived; the receiver adds the steps
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

// come is arrive for what another process has sent, which may be more than the slots hold.
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

// reset forgets a repetition.
func (in *inbound) reset() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.queue, in.got, in.times = nil, 0, nil
}

// outbound is a connection's end at the sender: how many of its slots are taken.
type outbound struct {
	hw.Connection
	sender *lane
	far    *inbound // the other end, where it is in the same process
	slots  int      // that it has; 0 is any number

	mu    sync.Mutex
	epoch uint32    // the repetition
	held  int       // slots that messages are in
	times []hw.Mark // when the messages of the repetition were sent
}

// reserve takes a slot, if there is one.
func (out *outbound) reserve() bool {
	out.mu.Lock()
	defer out.mu.Unlock()
	if out.slots > 0 && out.held >= out.slots {
		return false
	}
	out.held++
	return true
}

// freed gives a slot back and wakes the sender; false if none was taken.
func (out *outbound) freed() bool {
	out.mu.Lock()
	defer out.mu.Unlock()
	return out.free()
}

// freedIn is freed for a credit of a repetition, which may be late: one of the repetition before
// comes when all have been told that this one begins, and gives nothing back.
func (out *outbound) freedIn(epoch uint32) bool {
	out.mu.Lock()
	defer out.mu.Unlock()
	return out.epoch != epoch || out.free()
}

func (out *outbound) free() bool {
	if out.held == 0 {
		return false
	}
	out.held--
	out.sender.rouse()
	return true
}

// reset forgets a repetition.
func (out *outbound) reset(epoch uint32) {
	out.mu.Lock()
	defer out.mu.Unlock()
	out.held, out.times, out.epoch = 0, nil, epoch
}
