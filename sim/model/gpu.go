package model

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/schedule"
	"collsim/unit"
)

// A device with SMs has a GPU model (docs/time.md, GPUs; decision 18): what the host launches are
// brackets, which wait for their launch, for places on SMs or a copy engine, and share the device's
// memory. On any other device none of this exists: launches of brackets are free, and nobody waits.

// HasGPU reports whether the device has a GPU model.
func (r *Rules) HasGPU() bool { return r.Device.GPU.SMs > 0 }

// HasMemory reports whether the bandwidth of the device's memory is shared.
func (r *Rules) HasMemory() bool {
	return r.HasGPU() && r.Device.GPU.HBM > 0 && r.Device.GPU.HBM != unit.Unlimited
}

// IsFree reports whether a step takes no time at all, not even an overhead: it does nothing but
// begin a bracket, or stands at the edge of a part.
func IsFree(step *schedule.Step, edge bool) bool {
	return (edge || step.Launch != nil) && step.Kernel == nil && !step.Flush &&
		len(step.From)+len(step.To)+len(step.Send) == 0
}

// Launched is a bracket as its host sees it. Brackets of one Call are launched together.
type Launched struct {
	Part, Round, Lane, Number int32 // Number counts within the lane
	Call                      int32 // −1: a launch of its own
	Graph                     int32 // 0: none
	Order                     int32 // among those of its rank, from 0: set by Launch
	Issued                    unit.Time
}

// Launch sets when the host of a rank issues each bracket, and tells when it has issued the last:
// it has one thread, which goes through
// them in the order of parts, rounds and lanes and never waits for the device. Each launch takes it
// Device.Launch; all brackets of a graph are one, which takes GraphLaunch, at the first of them.
func (r *Rules) Launch(rank int32, list []*Launched) unit.Time {
	slices.SortStableFunc(list, func(a, b *Launched) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Round, b.Round),
			cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Number, b.Number))
	})
	now := r.Begin(rank, false).T
	if r.Ahead != nil {
		now -= r.Ahead[rank]
	}
	calls, graphs := map[int32]unit.Time{}, map[int32]unit.Time{}
	for i, b := range list {
		b.Order = int32(i)
		known, key, takes := graphs, b.Graph, r.Device.GPU.GraphLaunch
		if b.Graph == 0 {
			known, key, takes = calls, b.Call, r.Device.Launch
		}
		at, done := known[key]
		if !done || b.Graph == 0 && b.Call < 0 {
			now = min(now+r.Slowed(rank, takes), unit.Forever)
			at = now
			known[key] = now
		}
		b.Issued = at
	}
	return now
}

// Arrives is when a launched bracket has come to its device: nothing of it starts sooner.
func (r *Rules) Arrives(rank int32, issued unit.Time) Moment {
	return Moment{T: issued}.Plus(r.Slowed(rank, r.Device.GPU.LaunchLatency))
}

// Follows is when a bracket can start that comes after another on its stream, which has ended at a
// moment: at once, or if both are of one graph, GraphNode later.
func (r *Rules) Follows(rank int32, ended Moment, sameGraph bool) Moment {
	if !sameGraph {
		return ended
	}
	return ended.Plus(r.Slowed(rank, r.Device.GPU.GraphNode))
}

// Observed is when the begin of a bracket sees an event of a stream, posted at a moment: at once if
// it is on that stream itself, or else EventLatency later.
func (r *Rules) Observed(rank int32, posted Moment, sameStream bool) Moment {
	if sameStream {
		return posted
	}
	return posted.Plus(r.Slowed(rank, r.Device.GPU.EventLatency))
}

// WholeSM is the capacity of an SM, of which a block takes BlockShare. It divides evenly among up
// to 32 blocks; of more, a block's share is rounded down.
const WholeSM int64 = 144_403_552_893_600

// BlockShare is what a block takes of an SM that has so many of them at most.
func BlockShare(perSM int32) int64 { return WholeSM / int64(perSM) }

// PerSM is how many blocks of a launch an SM of the device has at most; of a nil launch 1.
func (r *Rules) PerSM(l *schedule.Launch) int32 {
	if l == nil || l.PerSM < 2 {
		return 1
	}
	if most := r.Device.GPU.BlocksPerSM; most > 0 {
		return min(l.PerSM, int32(most))
	}
	return l.PerSM
}

// Fits reports whether so many resident blocks can be on the device at once.
func (r *Rules) Fits(blocks int64, perSM int32) error {
	if most := int64(r.Device.GPU.SMs) * int64(perSM); blocks > most {
		return fmt.Errorf("%d blocks are to stay at once, and %d SMs have places for %d", blocks,
			r.Device.GPU.SMs, most)
	}
	return nil
}

// Place puts up to n blocks of a share onto SMs, of which free is what they have left: each goes to
// the SM that has most, of several to the first. It appends the SMs that they went to.
func Place(free []int64, share, n int64, on []int32) []int32 {
	for n > 0 {
		most := slices.Max(free)
		if most < share {
			break
		}
		for i := range free { // all that have most get one, in order, before any gets a second
			if free[i] != most {
				continue
			}
			free[i] -= share
			on = append(on, int32(i))
			if n--; n == 0 {
				break
			}
		}
	}
	return on
}

// Room is how many blocks of a share find a place now.
func Room(free []int64, share int64) (n int64) {
	for _, f := range free {
		n += f / share
	}
	return n
}

// Priority is that of a launch: the device has so many, and takes a higher one for its highest, as
// cudaStreamCreateWithPriority does.
func (r *Rules) Priority(l *schedule.Launch) int32 {
	if most := r.Device.GPU.Priorities; most > 0 {
		return min(l.Priority, int32(most)-1)
	}
	return l.Priority
}

// First reports whether a bracket gets free places, or a free copy engine, before another: the one
// of higher priority, then the one that was launched first, then that of the first lane. What
// comes after it gets none as long as it has not all that it wants (T. Amert et al., GPU
// Scheduling on the NVIDIA TX2, RTSS 2017, rules G and R), and nobody loses what he has.
func First(a, b *Claim) bool {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Order, b.Order),
		cmp.Compare(a.Lane, b.Lane)) < 0
}

// Claim is who asks for places, or a copy engine.
type Claim struct{ Priority, Order, Lane int32 }

// Pacer is what gives a transfer its pace, besides links.
type Pacer uint8

// The pacers.
const (
	LanePace   Pacer = iota // the lane's κ, shared among the peers of the step
	EnginePace              // a copy engine, of what it sends or gets
	CopyPace                // SMs, of what is copied inside the device
	EngineCopy              // a copy engine, of that
	BlockPace               // the arithmetic of blocks: says the engine, which knows it
)

// crossings is how often a byte crosses the memory that is copied inside the device: it is read and
// written.
const crossings = 2

// paceOf is a pacer's rate, and among how many it is shared; of a copy, it is of the bytes that
// cross the memory.
func (r *Rules) paceOf(p Pacer, peers int32) (rate unit.Rate, among int32) {
	d := &r.Device
	engine := d.GPU.CopyEngineRate
	if engine == 0 {
		engine = unit.Unlimited
	}
	switch p {
	case EnginePace:
		return engine, max(peers, 1)
	case CopyPace, EngineCopy:
		if p == CopyPace {
			engine = d.CopyRate
		}
		if engine != unit.Unlimited {
			engine *= crossings
		}
		return engine, 1
	case BlockPace:
		return unit.Unlimited, 1
	}
	return d.LaneRate, peers
}

// PaceBy is Pace of a transfer with a pacer.
func (r *Rules) PaceBy(p Pacer, rank, peers int32, n unit.Bytes) unit.Time {
	if p == LanePace {
		return r.Pace(rank, peers, n)
	}
	rate, among := r.paceOf(p, peers)
	return r.Slowed(rank, times(n, int(among), rate))
}

// PaceRateBy is PaceRate of a transfer with a pacer.
func (r *Rules) PaceRateBy(p Pacer, rank, peers int32) uint64 {
	rate, among := r.paceOf(p, peers)
	return r.rateOver(rank, among, rate)
}

// IsCopy reports whether a step copies from one place of its device to others, and does nothing
// else.
func IsCopy(step *schedule.Step) bool {
	return step.Kernel == nil && len(step.From) == 1 && step.From[0].Kind == schedule.Local &&
		len(step.Send) == 0
}

// Copies is how many bytes cross the memory for a copy of n.
func Copies(n unit.Bytes) unit.Bytes { return n * crossings }

// CostOnGPU is D − S of a sub-step of n bytes on a GPU. It differs from Cost in copies inside of
// the device: at D they begin to cross its memory, at a pace (Copies, PaceRateBy); without a
// memory that is shared, they have ended at D. And in kernels whose places their bracket holds: at
// D they begin to compute, unless they are opaque.
func (r *Rules) CostOnGPU(byEngine bool, rank int32, step *schedule.Step, n unit.Bytes) unit.Time {
	d := &r.Device
	if !IsCopy(step) {
		if byEngine && len(step.Send) == 0 && step.Kernel == nil {
			return min(r.Slowed(rank, d.Overhead)+r.Additions(rank, len(step.From), n), unit.Forever)
		}
		return r.Cost(rank, step, n)
	}
	cost := r.Slowed(rank, d.Overhead)
	if r.HasMemory() {
		return cost
	}
	return min(cost+r.PaceBy(CopyPacer(byEngine), rank, 1, Copies(n)), unit.Forever)
}

// CopyPacer is the pacer of a copy inside of the device.
func CopyPacer(byEngine bool) Pacer {
	if byEngine {
		return EngineCopy
	}
	return CopyPace
}
