package model

import (
	"collsim/device"
	"collsim/schedule"
	"collsim/unit"
)

// Sends that a lane does not wait for (decision 15). On a device that offloads or buffers sends, a
// lane goes on before its bytes have left. The messages of a connection are then a stream: each
// asks for its first link when the one before it has left, so they leave in order. The silent puts
// of a lane to a rank are a stream as well. Multimem operations have no stream.

// HasStreams reports whether a message may wait for earlier messages of its connection to leave.
func (r *Rules) HasStreams() bool { return r.RunsAhead() || r.Device.EagerLimit > 0 }

// RunsAhead reports whether a lane may go on before its bytes have left.
func (r *Rules) RunsAhead() bool { return r.Device.Offload || r.Device.SendBuffer > 0 }

// Outstanding returns how many earlier posts of a lane may still be in the device's queue when a
// step begins: its own must fit in. The step waits until all but the latest that many have left, in
// order. A flush waits for all. A step that neither posts nor flushes does not wait: waits is
// false.
func (r *Rules) Outstanding(step *schedule.Step) (most int32, waits bool) {
	if step.Flush {
		return 0, true
	}
	posts := len(Sent(step))
	return max(int32(r.Device.Queue-posts), 0), posts > 0
}

// FollowsPuts reports whether a message must not set out before the silent puts that its lane has
// posted before it have left. Otherwise a signal could arrive before the data that it announces, on
// devices whose lanes go on early.
func FollowsPuts(isSilent, isRelaxed bool) bool { return !isSilent && !isRelaxed }

// Buffered returns how many bytes of a stream must have left when a step that sends ends, on a
// device with a send buffer: the bytes put into the stream so far, with the step's own, less the
// size of the buffer. The step does not wait for 0 or less. Bytes of a message that begins to leave
// at t have left at t + Lead.
func (r *Rules) Buffered(stream unit.Bytes) unit.Bytes { return stream - r.Device.SendBuffer }

// Rendezvous (decision 15). A message of more than the eager limit, on a connection of class FIFO,
// is asked for first:
//
//	sender    D ──request──►                  data ──► …
//	receiver              answer, once its receive is posted
//
// The request is an empty message in the place of the message in its stream. When it has arrived
// and the receive is posted, the answer goes back as another empty message. The data set out when
// the answer has arrived. Until then the sender's lane is held, unless its device offloads, and
// what follows on the connection waits.
//
// A lane posts a receive when it reaches the sub-step that receives, and the events that this
// awaits have been posted. A device that posts receives ahead does so a given number of sub-steps
// earlier. No receive is posted before one of an earlier sub-step, nor ahead over a sub-step that
// awaits events. The answer starts at its node in the place of its lane, before what the sub-step
// sends.

// Asks reports whether a message of n bytes that a lane receives is sent by rendezvous.
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

// Efficiency and latency by size (decision 16). Messages, puts, signals and multimem stores of n
// bytes of data put n over the efficiency on the links; n is 0 for a signal. The latency of the
// size is added when the last byte has arrived. It holds neither the lane nor a link, so messages
// of two sizes may arrive in another order than they left in. They are received in order all the
// same.
//
// A signal must not arrive before the silent puts that it announces. So what follows puts has at
// least the latency of every silent put in an earlier step of its lane. Gets and multimem loads
// have no such figures: a lane waits for them itself.

// OnSwitch returns how many bytes cross the links for a multimem operation of n bytes, flags
// included: n over the device's efficiency of such operations, if it has one.
func (r *Rules) OnSwitch(n unit.Bytes) unit.Bytes {
	m := device.Message{Efficiency: r.Device.MultimemEfficiency}
	return m.OnLinks(n)
}

// MostOnLinks is the greatest number of bytes that a message may put on a link. Fluid sharing
// cannot count more.
const MostOnLinks unit.Bytes = 1<<59 - 1

// OnLinks returns how many bytes cross the links for n bytes of data, with the flags that go with
// them. The caller refuses more than MostOnLinks.
func OnLinks(f *device.Message, n unit.Bytes, with schedule.Framing) unit.Bytes {
	return f.OnLinks(unit.Bytes(with.Wire(int64(n))))
}
