package model

import (
	"math"
	"math/bits"

	"collsim/schedule"
	"collsim/unit"
)

// Rules are those that depend on the environment and the schedule of a run. They are never changed,
// but that they remember how matmuls are cut.
type Rules struct {
	Env
	Schedule *schedule.Schedule
	slots    int32
	launches bool // brackets are launched one by one
	tilings  map[shape]Tiling
}

// NewRules are the rules of a run.
//
// REQUIRES: env.Validate(s) has found nothing.
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

// hasLaunches reports whether a schedule says what is launched.
func hasLaunches(s *schedule.Schedule) bool {
	for _, p := range s.Parts() {
		if p.Launch != nil {
			return true
		}
	}
	return s.AnyStep(func(step *schedule.Step) bool { return step.Launch != nil })
}

// Launches reports whether brackets are launched one by one: there is a GPU, and the schedule has
// marks. Otherwise it is launched as a whole.
func (r *Rules) Launches() bool { return r.launches }

// Begin is when a lane of a rank can start its first step: the call costs the device's launch once
// (decision 16), unless brackets are launched one by one. A lane without steps has nothing
// launched, and has ended when its rank starts.
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

// Next is when a rank can start its next call, where it has ended one: every call costs a launch.
// Brackets that are launched one by one wait for their own.
func (r *Rules) Next(rank int32, ended Moment) Moment {
	if r.launches {
		return ended
	}
	return ended.Plus(r.Slowed(rank, r.Device.Launch))
}

// Slowed is how long a rank takes for what its device takes so long for.
func (r *Rules) Slowed(rank int32, t unit.Time) unit.Time {
	if r.Slowdown == nil {
		return t
	}
	return scaled(t, r.Slowdown[rank])
}

// Size is n of a sub-step, in bytes, and whether the step tells: if it names no region, n is that
// of the largest message that it receives (docs/time.md, symbols).
func (r *Rules) Size(where schedule.Spot, step *schedule.Step) (n unit.Bytes, known bool) {
	bytes, known := r.Schedule.Bytes(where, step)
	return unit.Bytes(bytes), known
}

// SizeOf is how many bytes of a region a rank has: those that a get or a multimem load brings.
func (r *Rules) SizeOf(where schedule.Spot, region *schedule.Region) unit.Bytes {
	return unit.Bytes(r.Schedule.BytesOf(where, region))
}

// Cost is D − S of a sub-step of n bytes: o + (sources − 1)·n·γ, and n over the copy rate where it
// has neither message nor peer; or o and what the step computes (docs/time.md, a step).
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

// kernel is Cost of a step that computes: only of an opaque kernel it is known without a GPU model.
func (r *Rules) kernel(rank int32, step *schedule.Step) unit.Time {
	cost := r.Slowed(rank, r.Device.Overhead)
	if t := step.OpaqueTime(); t > 0 && !r.FreeCompute {
		cost += r.Slowed(rank, min(t, unit.Forever))
	}
	return min(cost, unit.Forever)
}

// Additions is how long a rank takes to combine so many sources of n bytes: (sources − 1)·n·γ.
func (r *Rules) Additions(rank int32, sources int, n unit.Bytes) unit.Time {
	if sources < 2 {
		return 0
	}
	return r.Slowed(rank, times(n, sources-1, r.Device.ReduceRate))
}

// Pace is how long a lane of a rank takes to put out n bytes to each of k peers: ⌈nk/κ⌉. A step
// that has other things than a lane put bytes out (gets, answers of rendezvous) has 0 peers, which
// takes no time.
func (r *Rules) Pace(rank, peers int32, n unit.Bytes) unit.Time {
	if peers == 0 {
		return 0
	}
	return r.Slowed(rank, times(n, int(peers), r.Device.LaneRate))
}

// Lead is how long n bytes to each of k peers take to leave if nothing is in their way: ⌈n/r⌉,
// where r is the least of the lane's pace and of the route's bandwidths, of which slowest is the
// least (docs/time.md, a step).
func (r *Rules) Lead(rank, peers int32, slowest unit.Rate, n unit.Bytes) unit.Time {
	return max(r.Pace(rank, peers, n), n.Over(slowest))
}

// PaceRate is the pace of a lane as a rate, κ over the peers and the rank's slowdown, in units of
// 2⁻²⁰ B/s: the cap of a flow. Where nothing paces it, it is 2⁶⁴ − 1.
func (r *Rules) PaceRate(rank, peers int32) uint64 {
	return r.rateOver(rank, peers, r.Device.LaneRate)
}

// rateOver is a rate over the peers and the rank's slowdown, in units of 2⁻²⁰ B/s.
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

// Slots is how many messages a connection of a class holds; 0 is any number. The i-th message
// needs the slot that the (i − slots)-th has freed.
func (r *Rules) Slots(class schedule.Class) int32 { return Slots(class, r.slots) }

// SlotsOf is what connections of class FIFO hold from a lane whose part says so many, or 0.
func (r *Rules) SlotsOf(own int) int32 {
	if own > 0 {
		return int32(min(own, math.MaxInt32))
	}
	return r.slots
}

// Slots is what a connection of a class holds where those of class FIFO hold so many; 0 is any
// number.
func Slots(class schedule.Class, fifo int32) int32 {
	switch class {
	case schedule.Pad:
		return 1
	case schedule.FIFO:
		return fifo
	}
	return 0
}

// DefaultSlots is what Slots says of connections of class FIFO.
func (r *Rules) DefaultSlots() int { return int(r.slots) }

// Freed is when the sender sees the slots that a step frees at its end E: λ later.
func (r *Rules) Freed(end Moment) Moment { return end.Plus(r.Device.SlotLatency) }
