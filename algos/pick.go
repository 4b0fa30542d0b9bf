package algos

import (
	"collsim/collective"
	"collsim/unit"
)

// Pick is what an algorithm that chooses by itself comes to for a collective. The zero value is of
// one that left nothing open.
type Pick struct {
	What string // "Ring LL, 1 of 24 channels"
	Why  string // "15.1 us by NCCL's model, next Tree LL 15.5 us"; empty where there is no model

	// Algorithm and Protocol have the names of the library's log; empty where it has none, as of sends
	// and receives.
	Algorithm, Protocol string
	Channels            int // that the call takes; of sends and receives, that a message takes
	Threads             int // of each channel

	Time     unit.Time // by the library's own model; 0 where it has none
	Inferred bool      // from what is inferred of the machine, and not known
	Other    string    // the fastest of those not taken, with its time in microseconds: "Tree LL 15.5"
}

// String is what was picked with its reason.
func (p Pick) String() string {
	switch {
	case p.Why == "":
		return p.What
	case p.Time == 0: // why it would not be taken
		return p.What + "; " + p.Why
	}
	return p.What + ": " + p.Why
}

// Picked returns what the algorithm comes to for a collective.
func (a Algorithm) Picked(spec collective.Spec, o Options) Pick {
	if a.Picks == nil {
		return Pick{}
	}
	return a.Picks(spec, func(name string) string { return a.Param(name, o) })
}
