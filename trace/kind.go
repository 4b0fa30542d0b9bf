package trace

import "fmt"

// Kind is the kind of an interval, as a picture colours it. Waiting is no kind: it is the gap
// between intervals.
type Kind uint8

// The kinds, with the activity of the lane.
const (
	Send    Kind = iota // sends its own data
	Recv                // receives
	Reduce              // combines data, received or local
	Copy                // keeps or copies data
	Signal              // an empty message: a signal, a wait, a barrier
	Compute             // a kernel
)

// String returns the kind as pictures and exports spell it: "send", "recv", ….
func (k Kind) String() string {
	switch k {
	case Send:
		return "send"
	case Recv:
		return "recv"
	case Reduce:
		return "reduce"
	case Copy:
		return "copy"
	case Signal:
		return "signal"
	case Compute:
		return "compute"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Verb is the set of actions of a data step, four bits.
type Verb uint8

// The bits of a verb, in the order in which a step performs them; schedule.Verb has the same.
const (
	VerbRecv Verb = 1 << iota
	VerbReduce
	VerbCopy
	VerbSend
)

// String spells the verb as NCCL's primitives do: "send", "recvReduceCopySend", …; "none" for the
// empty set. A local reduction is "reduce" wherever its result goes.
func (v Verb) String() string {
	if v == VerbReduce|VerbCopy {
		v = VerbReduce
	}
	s := ""
	for _, part := range [...]struct {
		bit         Verb
		first, next string
	}{
		{VerbRecv, "recv", "Recv"},
		{VerbReduce, "reduce", "Reduce"},
		{VerbCopy, "copy", "Copy"},
		{VerbSend, "send", "Send"},
	} {
		switch {
		case v&part.bit == 0:
		case s == "":
			s = part.first
		default:
			s += part.next
		}
	}
	if s == "" {
		return "none"
	}
	return s
}

// Kind returns the most significant action of a verb: reduce before copy before send before recv.
// The empty verb moves no data: a signal.
func (v Verb) Kind() Kind {
	switch {
	case v&VerbReduce != 0:
		return Reduce
	case v&VerbCopy != 0:
		return Copy
	case v&VerbSend != 0:
		return Send
	case v&VerbRecv != 0:
		return Recv
	}
	return Signal
}
