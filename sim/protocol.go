package sim

import (
	"fmt"

	"collsim/unit"
)

// Messages, puts, signals and multimem stores have the figures of their sizes (device.Message): of
// n bytes of data, which is 0 for a signal, n over the efficiency cross the links, and the latency
// is added when the last of them has come. It holds neither the lane nor a link, so messages of
// two sizes may arrive in another order than they left in; they are received in order all the
// same. A signal must not come before the silent puts that it tells of: what is not relaxed has at
// least the latency of every silent put in an earlier step of its lane. Gets and multimem loads,
// for which a lane waits itself, have none of this.

// protocol is what a run keeps of these figures; it is empty where a device has none.
type protocol struct {
	late     []unit.Time  // of each message: latency on top of its links'
	crossing []unit.Bytes // of each message that is wasteful: what crosses the links
	lag      []unit.Time  // of each lane: the longest of its silent puts so far
}

// mostOnLinks is how many bytes a message may put on a link: fluid sharing counts no further.
const mostOnLinks unit.Bytes = 1<<59 - 1

// addFigures gives a message that a lane puts out the figures of its size.
func (e *engine) addFigures(m int32) error {
	x := &e.messages[m]
	f := e.env.Device.Of(x.bytes)
	crossing := f.OnLinks(x.bytes << (x.flags & flagged))
	if crossing > mostOnLinks {
		l := &e.lanes[x.lane]
		return fmt.Errorf("sim: rank %d lane %d step %d: a message of %v puts more on its links, at "+
			"efficiency %v, than is counted", l.rank, x.lane-e.first[l.rank], l.cursor.Step, x.bytes,
			f.Efficiency)
	}
	if f.Efficiency > 0 {
		x.flags |= wasteful
		e.crossing[m] = crossing
	}
	e.late[m] = f.Latency
	if x.kind != silent && x.flags&relaxed == 0 {
		e.late[m] = max(f.Latency, e.lag[x.lane])
	}
	return nil
}

// lags remembers that a lane has put out silent puts of n bytes.
func (e *engine) lags(lane int32, n unit.Bytes) {
	if e.late != nil {
		e.lag[lane] = max(e.lag[lane], e.env.Device.Of(n).Latency)
	}
}
