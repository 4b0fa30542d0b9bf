package model

import (
	"collsim/device"
	"collsim/schedule"
	"collsim/unit"
)

// A lane may go on before its bytes have left, and what a connection has to send is then a stream:
// a message asks for its first link when the one before it has left (decision 15). So the messages
// of a connection leave in order. The silent puts of a lane to a rank are a stream as well;
// multimem has none.

// HasStreams reports whether what a connection has to send may wait for what it has sent before.
func (r *Rules) HasStreams() bool { return r.RunsAhead() || r.Device.EagerLimit > 0 }

// RunsAhead reports whether a lane may go on before its bytes have left.
func (r *Rules) RunsAhead() bool { return r.Device.Offload || r.Device.SendBuffer > 0 }

// Outstanding is how many of its lane's earlier posts may not have left yet when a step begins, on
// a device that offloads, so that its own find a place in the queue: the step waits until all but
// the latest so many have left, in order. A flush waits for all. Where the step neither posts nor
// flushes, it waits for none.
func (r *Rules) Outstanding(step *schedule.Step) (most int32, waits bool) {
	if step.Flush {
		return 0, true
	}
	return max(int32(r.Device.Queue-len(step.Send)), 0), len(step.Send) > 0
}

// FollowsPuts reports whether a message stands behind the silent puts that its lane has posted
// before it: it sets out no sooner than they have left. Otherwise a signal could come before the
// data that it tells of, once a lane need not be held until these have left.
func FollowsPuts(isSilent, isRelaxed bool) bool { return !isSilent && !isRelaxed }

// Buffered is how many bytes of its stream must have left when a step that sends ends, on a device
// with a send buffer: all that has been put in, its own message among it, but as many as the buffer
// holds. 0 or less is none. Bytes of a message that begins to leave at t have left at t + Lead.
func (r *Rules) Buffered(stream unit.Bytes) unit.Bytes { return stream - r.Device.SendBuffer }

// A message of more than the eager limit, on a connection of class FIFO, is asked for first:
//
//	sender    D ──request──►                  data ──► …
//	receiver              answer, once its receive is posted
//
// The request is an empty message in the place of the message in its stream. When it has come, and
// the receive is posted, the answer goes back as another, and when that has come the data set out.
// Until then the sender's lane is held, unless its device offloads; what follows on the connection
// waits. A receive is posted when its lane has come to the sub-step, or to the one so many before
// it as the device posts receives ahead, and the events that this awaits are there; no receive is
// posted before one of an earlier sub-step, nor ahead over a sub-step that awaits events. The
// answer starts at its node in the place of its lane, before what the sub-step sends.

// Asks reports whether a message of n bytes that a lane receives is asked for.
func (r *Rules) Asks(class schedule.Class, n unit.Bytes) bool {
	return r.Device.EagerLimit > 0 && n > r.Device.EagerLimit && class == schedule.FIFO
}

// AwaitsEvents reports whether a step awaits an event: no receive is posted ahead over it.
func AwaitsEvents(s *schedule.Step) bool {
	for _, v := range s.Await {
		if v.Value > 0 {
			return true
		}
	}
	return false
}

// Messages, puts, signals and multimem stores have the figures of their sizes (decision 16): of n
// bytes of data, which is 0 for a signal, n over the efficiency cross the links, and the latency is
// added when the last of them has come. It holds neither the lane nor a link, so messages of two
// sizes may arrive in another order than they left in; they are received in order all the same. A
// signal must not come before the silent puts that it tells of: what follows puts has at least the
// latency of every silent put in an earlier step of its lane. Gets and multimem loads, for which a
// lane waits itself, have none of this.

// OnSwitch is how many bytes cross the links for a multimem operation of n bytes, flags included,
// where the device has an efficiency of such operations.
func (r *Rules) OnSwitch(n unit.Bytes) unit.Bytes {
	m := device.Message{Efficiency: r.Device.MultimemEfficiency}
	return m.OnLinks(n)
}

// MostOnLinks is how many bytes a message may put on a link: fluid sharing counts no further.
const MostOnLinks unit.Bytes = 1<<59 - 1

// OnLinks is how many bytes cross the links for n bytes of data, with the flags that go with them.
// More than MostOnLinks must be refused.
func OnLinks(f *device.Message, n unit.Bytes, with schedule.Framing) unit.Bytes {
	return f.OnLinks(unit.Bytes(with.Wire(int64(n))))
}
