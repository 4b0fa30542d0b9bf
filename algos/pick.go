package algos

import (
	"collsim/collective"
	"collsim/unit"
)

// A Pick is the choice that an algorithm makes for a collective. The zero value means that it chose
// nothing.
type Pick struct {
	What string // "Ring LL, 1 of 24 channels"
	Why  string // "15.1 us by NCCL's model, next Tree LL 15.5 us"; empty where there is no model

	// Algorithm and Protocol are the names in the library's log; empty where it has none, as for
	// sends and receives.
	Algorithm, Protocol string
	Channels            int // of the call; for sends and receives, of a message
	Threads             int // of each channel

	Time     unit.Time // by the library's own model; 0 where it has none
	Inferred bool      // depends on inferred properties of the machine
	Other    string    // the next best choice, with its time in microseconds: "Tree LL 15.5"
}

// String formats the choice with its reason.
func (p Pick) String() string {
	switch {
	case p.Why == "":
		return p.What
	case p.Time == 0: // Why says why it would not be chosen
		return p.What + "; " + p.Why
	}
	return p.What + ": " + p.Why
}

// Picked returns the choice that the algorithm makes for a collective.
func (a Algorithm) Picked(spec collective.Spec, o Options) Pick {
	if a.Make != nil {
		_, pick, _ := a.make(spec, o)
		return pick
	}
	if a.Picks == nil {
		return Pick{}
	}
	return a.Picks(spec, func(name string) string { return a.Param(name, o) })
}
