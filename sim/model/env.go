package model

import (
	"fmt"

	"collsim/device"
	"collsim/schedule"
	"collsim/topology"
	"collsim/unit"
)

// Env describes where a schedule runs: the network, the devices, and how messages share links.
type Env struct {
	Graph  *topology.Graph // with at least the schedule's ranks, connected
	Device device.Device   // of every rank; its Slots are not read: the caller sets Env.Slots
	// Sharing and Switching select the rules of links and switches.
	Sharing   Sharing
	Switching Switching
	// Segment is the most bytes that a link carries in one go under FIFO; 0: whole messages. Messages
	// that a switch copies or adds up (multimem) are never cut.
	Segment unit.Bytes
	// Slots is the number of messages that a connection of class FIFO holds if the schedule does not
	// say; 0: any number.
	Slots int
	// Start holds the time at which each rank begins; nil: 0 for all.
	Start []unit.Time
	// Ahead holds how long before its Start the host of each rank begins to launch, where brackets
	// are launched one by one; nil: 0 for all.
	Ahead []unit.Time
	// Slowdown multiplies the times of each rank's device (overhead, additions, copies, kernels, the
	// lane's own pace; not those of its links), rounded up. It is in millionths: 1 500 000 is half as
	// slow again. Nil: 1 for all.
	Slowdown []unit.Share
	// Faults holds what goes wrong on ranks, by time; a run with faults is that of package event.
	Faults []Fault
	// Until is the time after which nobody wants to know the rest: a run that takes longer may end
	// with a *TooLate. 0: there is none.
	Until unit.Time
	// FreeCompute makes compute steps cost nothing but the overhead, for what-if questions.
	FreeCompute bool
	// Orbits are those of Graph, for a folded schedule; its ranks stand for those of Graph.
	Orbits *Orbits
	// Progress is called now and then with the number of sub-steps that have ended, by engines that
	// simulate every rank; nil is not called. An engine that begins anew counts anew.
	Progress func(steps int64)
}

// TooLate says that a run takes longer than Env.Until.
type TooLate struct{ Until unit.Time }

// Error formats the error in one line.
func (e *TooLate) Error() string { return fmt.Sprintf("it takes more than %v", e.Until) }

// Sharing is the rule by which messages share a link.
type Sharing uint8

const (
	// Fluid lets all messages of a link flow at the same time, at max-min fair rates.
	Fluid Sharing = iota
	// FIFO has a link carry one message after the other, first come first served.
	FIFO
)

// String returns the value of sim.sharing in a scenario.
func (s Sharing) String() string {
	if s == FIFO {
		return "fifo"
	}
	return "fluid"
}

// Switching is the rule by which a message goes on to the next link of its route.
type Switching uint8

const (
	// CutThrough forwards a message while it is still arriving.
	CutThrough Switching = iota
	// StoreForward forwards a message, or a segment, when its last byte has arrived.
	StoreForward
)

// String returns the value of sim.switching in a scenario.
func (s Switching) String() string {
	if s == StoreForward {
		return "store-and-forward"
	}
	return "cut-through"
}

// MaxFluidRate is the highest bandwidth that fluid sharing can count: in units of 2⁻²⁰ B/s it has
// 64 bits.
const MaxFluidRate unit.Rate = 1<<44 - 1

// Validate returns an error if a schedule cannot run in the environment.
func (env *Env) Validate(s *schedule.Schedule) error {
	ranks := s.Spec.Ranks
	switch {
	case env.Graph == nil:
		return fmt.Errorf("a network is needed")
	case len(env.Graph.Ranks) < ranks:
		return fmt.Errorf("the network has %d ranks; the schedule needs %d",
			len(env.Graph.Ranks), ranks)
	case env.Sharing > FIFO || env.Switching > StoreForward:
		return fmt.Errorf("sharing %d, switching %d: there are 2 of each",
			env.Sharing, env.Switching)
	case env.Segment < 0 || env.Slots < 0:
		return fmt.Errorf("segment = %d, slots = %d: neither can be negative",
			env.Segment, env.Slots)
	case env.Sharing == Fluid && env.Switching == StoreForward:
		return fmt.Errorf("switching = store-and-forward: a fluid flow takes all its links " +
			"at once and is never stored; it needs sharing = fifo")
	case env.Sharing == Fluid && env.Segment > 0:
		return fmt.Errorf("segment = %v: fluid sharing has none; they need sharing = fifo",
			env.Segment)
	}
	if err := env.Graph.Connected(); err != nil {
		return err
	}
	if err := env.Device.Validate(); err != nil {
		return err
	}
	if err := env.validateFaults(ranks); err != nil {
		return err
	}
	return env.validateRanks(ranks)
}

// validateRanks checks the lists that have a value for each rank, and bandwidths.
func (env *Env) validateRanks(ranks int) error {
	if n := len(env.Start); n != 0 && n != ranks {
		return fmt.Errorf("start has %d times; the schedule has %d ranks", n, ranks)
	}
	for r, t := range env.Start {
		if t < 0 || t >= unit.Forever {
			return fmt.Errorf("start of rank %d = %v: a time from 0 s on is expected", r, t)
		}
	}
	if n := len(env.Slowdown); n != 0 && n != ranks {
		return fmt.Errorf("slowdown has %d factors; the schedule has %d ranks", n, ranks)
	}
	for r, factor := range env.Slowdown {
		if factor <= 0 {
			return fmt.Errorf("slowdown of rank %d = %d millionths: more than 0 is expected",
				r, factor)
		}
	}
	if b := env.Device.GPU.HBM; b > MaxFluidRate && b != unit.Unlimited {
		return fmt.Errorf("hbm_bandwidth = %v: up to %v, or unlimited, is counted", b, MaxFluidRate)
	}
	if env.Sharing != Fluid {
		return nil
	}
	for _, i := range env.Graph.Samples() {
		b := env.Graph.Link(i).Bandwidth
		if b > MaxFluidRate && b != unit.Unlimited {
			return fmt.Errorf("link %s: fluid sharing counts bandwidths up to %v, not %v; "+
				"use sharing = fifo, or unlimited", env.Graph.LinkName(i), MaxFluidRate, b)
		}
	}
	return nil
}
