package model

import (
	"math"
	"math/bits"

	"collsim/schedule"
	"collsim/unit"
)

// Rules gives the times that depend on the environment and the schedule of a run. It does not
// change, except that it remembers how matmuls are cut.
type Rules struct {
	Env
	Schedule *schedule.Schedule
	slots    int32
	launches bool // brackets are launched one by one
	tilings  map[shape]Tiling
}

// NewRules returns the rules of a run.
//
// REQUIRES: env.Validate(s) returns nil.
func NewRules(s *schedule.Schedule, env *Env) Rules {
	slots := env.Slots
	if s.Slots > 0 {
		slots = s.Slots
	}
	r := Rules{Env: *env, Schedule: s, slots: int32(min(slots, math.MaxInt32))}
	r.launches = r.HasGPU() && hasLaunches(s)
	if r.HasGPU() {
		r.tilings = map[shape]Tiling{}
	}
	return r
}

// hasLaunches reports whether a schedule marks brackets to be launched.
func hasLaunches(s *schedule.Schedule) bool {
	for _, p := range s.Parts() {
		if p.Launch != nil {
			return true
		}
	}
	return s.AnyStep(func(step *schedule.Step) bool { return step.Launch != nil })
}

// Launches reports whether brackets are launched one by one: there is a GPU, and the schedule marks
// brackets. Otherwise the schedule is launched as a whole.
func (r *Rules) Launches() bool { return r.launches }

// Begin returns when a lane of a rank can start its first step. The call costs the device's launch
// once (decision 16), unless brackets are launched one by one. A lane without steps needs no
// launch, and ends when its rank starts.
func (r *Rules) Begin(rank int32, hasSteps bool) Moment {
	begin := Moment{}
	if r.Start != nil {
		begin.T = r.Start[rank]
	}
	if !hasSteps || r.launches {
		return begin
	}
	return begin.Plus(r.Slowed(rank, r.Device.Launch))
}

// Next returns when a rank that has ended a call can start its next one: every call costs a launch.
// Brackets that are launched one by one wait for their own.
func (r *Rules) Next(rank int32, ended Moment) Moment {
	if r.launches {
		return ended
	}
	return ended.Plus(r.Slowed(rank, r.Device.Launch))
}

// Slowed returns how long a rank takes for work that takes t at full speed.
func (r *Rules) Slowed(rank int32, t unit.Time) unit.Time {
	if r.Slowdown == nil {
		return t
	}
	return scaled(t, r.Slowdown[rank])
}

// Size returns n of a sub-step, in bytes. It is not known if the step names no region: then n is
// that of the largest message that it receives (docs/time.md, symbols).
func (r *Rules) Size(where schedule.Spot, step *schedule.Step) (n unit.Bytes, known bool) {
	bytes, known := r.Schedule.Bytes(where, step)
	return unit.Bytes(bytes), known
}

// SizeOf returns how many bytes a rank has of a region: those that a get or a multimem load brings.
func (r *Rules) SizeOf(where schedule.Spot, region *schedule.Region) unit.Bytes {
	return unit.Bytes(r.Schedule.BytesOf(where, region))
}

// Cost returns D − S of a sub-step of n bytes: o + (sources − 1)·n·γ. A copy without messages adds
// n over the copy rate. A step that computes costs o and its kernel (docs/time.md, a step).
func (r *Rules) Cost(rank int32, step *schedule.Step, n unit.Bytes) unit.Time {
	d := &r.Device
	if step.Kernel != nil {
		return r.kernel(rank, step)
	}
	cost := min(r.Slowed(rank, d.Overhead)+r.Additions(rank, len(step.From), n), unit.Forever)
	if d.CopyRate == unit.Unlimited || len(step.Send) > 0 || len(step.From) == 0 {
		return cost
	}
	for k := range step.From {
		if step.From[k].Kind != schedule.Local {
			return cost
		}
	}
	return min(cost+r.Slowed(rank, n.Over(d.CopyRate)), unit.Forever)
}

// kernel returns Cost of a step that computes. Without a GPU model only the time of an opaque
// kernel is known.
func (r *Rules) kernel(rank int32, step *schedule.Step) unit.Time {
	cost := r.Slowed(rank, r.Device.Overhead)
	if t := step.OpaqueTime(); t > 0 && !r.FreeCompute {
		cost += r.Slowed(rank, min(t, unit.Forever))
	}
	return min(cost, unit.Forever)
}

// Additions returns how long a rank takes to combine a number of sources of n bytes: (sources −
// 1)·n·γ.
func (r *Rules) Additions(rank int32, sources int, n unit.Bytes) unit.Time {
	if sources < 2 {
		return 0
	}
	return r.Slowed(rank, times(n, sources-1, r.Device.ReduceRate))
}

// Pace returns how long a lane of a rank takes to put out n bytes to each of k peers: ⌈nk/κ⌉. Where
// no lane puts the bytes out (gets, answers of rendezvous) peers is 0, which takes no time.
func (r *Rules) Pace(rank, peers int32, n unit.Bytes) unit.Time {
	if peers == 0 {
		return 0
	}
	return r.Slowed(rank, times(n, int(peers), r.Device.LaneRate))
}

// Lead returns how long n bytes to each of k peers take to leave if nothing is in their way: ⌈n/r⌉.
// r is the least of the lane's pace and the bandwidths of the route; slowest is the least of these
// (docs/time.md, a step).
func (r *Rules) Lead(rank, peers int32, slowest unit.Rate, n unit.Bytes) unit.Time {
	return max(r.Pace(rank, peers, n), n.Over(slowest))
}

// PaceRate returns the cap of a flow: κ over the peers and the rank's slowdown, in units of 2⁻²⁰
// B/s. It is NoCap where no lane paces the flow.
func (r *Rules) PaceRate(rank, peers int32) uint64 {
	return r.rateOver(rank, peers, r.Device.LaneRate)
}

// rateOver returns a rate divided by the peers and the rank's slowdown, in units of 2⁻²⁰ B/s.
func (r *Rules) rateOver(rank, peers int32, rate unit.Rate) uint64 {
	if peers == 0 || rate == unit.Unlimited {
		return NoCap
	}
	hi, lo := bits.Mul64(uint64(rate), uint64(whole)<<unitShift)
	divisor := uint64(whole)
	if r.Slowdown != nil {
		divisor = uint64(r.Slowdown[rank])
	}
	for _, d := range [2]uint64{divisor, uint64(peers)} { // ⌊⌊a/b⌋/c⌋ = ⌊a/bc⌋
		high := hi / d
		lo, _ = bits.Div64(hi%d, lo, d)
		hi = high
	}
	if hi > 0 { // faster than any link that is counted
		return NoCap
	}
	return lo
}

// Slots returns how many messages a connection of a class holds; 0 is any number. The i-th message
// needs the slot that the (i − slots)-th has freed.
func (r *Rules) Slots(class schedule.Class) int32 { return Slots(class, r.slots) }

// SlotsOf returns the slots of connections of class FIFO from a lane whose part sets its own
// number; 0 if it sets none.
func (r *Rules) SlotsOf(own int) int32 {
	if own > 0 {
		return int32(min(own, math.MaxInt32))
	}
	return r.slots
}

// Slots returns the slots of a connection of a class, where one of class FIFO has the given number;
// 0 is any number.
func Slots(class schedule.Class, fifo int32) int32 {
	switch class {
	case schedule.Pad:
		return 1
	case schedule.FIFO:
		return fifo
	}
	return 0
}

// DefaultSlots returns the slots of connections of class FIFO whose part does not set a number.
func (r *Rules) DefaultSlots() int { return int(r.slots) }

// Freed returns when the sender sees the slots that a step frees at its end E: λ later.
func (r *Rules) Freed(end Moment) Moment { return end.Plus(r.Device.SlotLatency) }
