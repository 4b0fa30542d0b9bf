package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"collsim/schedule"
	"collsim/unit"
)

// The GPU model of a device with SMs (docs/time.md, GPUs; decision 18). The host launches brackets:
// parts of a lane that the device runs as one kernel or copy. A bracket waits for its launch, and
// for places on SMs or a copy engine. All share the device's memory. On a device without SMs
// launches of brackets are free, and none of these waits exists.

// HasGPU reports whether the device has a GPU model.
func (r *Rules) HasGPU() bool { return r.Device.GPU.SMs > 0 }

// HasMemory reports whether the bandwidth of the device's memory is shared.
func (r *Rules) HasMemory() bool {
	return r.HasGPU() && r.Device.GPU.HBM > 0 && r.Device.GPU.HBM != unit.Unlimited
}

// IsFree reports whether a step takes no time at all, not even an overhead: it only begins a
// bracket, or marks the begin or end of a part.
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

// CallOf returns the number of the launch of a part's bracket: the part's own, or behind those of
// all parts that of the launch which it shares.
func CallOf(part int32, mark *schedule.Launch) int32 {
	if mark.Together > 0 {
		return math.MaxInt32 - mark.Together
	}
	return part
}

// Launch sets the time at which the host of a rank issues each bracket, and returns when it has
// issued the last. The host has one thread. It goes through the brackets in the order of parts,
// rounds and lanes, and never waits for the device. Each launch takes Device.Launch. All brackets
// of a graph are one launch at the first of them, and take GraphLaunch.
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

// Arrives returns when a launched bracket has arrived at its device; nothing of it starts sooner.
func (r *Rules) Arrives(rank int32, issued unit.Time) Moment {
	return Moment{T: issued}.Plus(r.Slowed(rank, r.Device.GPU.LaunchLatency))
}

// Follows returns when a bracket can start after the one before it on its stream has ended: at
// once, or GraphNode later if both belong to one graph.
func (r *Rules) Follows(rank int32, ended Moment, sameGraph bool) Moment {
	if !sameGraph {
		return ended
	}
	return ended.Plus(r.Slowed(rank, r.Device.GPU.GraphNode))
}

// Observed returns when the begin of a bracket sees an event that a stream has posted: at once on
// that stream itself, or else EventLatency later.
func (r *Rules) Observed(rank int32, posted Moment, sameStream bool) Moment {
	if sameStream {
		return posted
	}
	return posted.Plus(r.Slowed(rank, r.Device.GPU.EventLatency))
}

// WholeSM is the capacity of an SM, in units that BlockShare divides. It is a multiple of every
// number up to 32, the most blocks that an SM of NVIDIA's holds. For larger numbers a block's share
// is rounded down.
const WholeSM int64 = 144_403_552_893_600

// BlockShare returns the part of an SM that a block takes, where the SM holds perSM of them at
// most.
func BlockShare(perSM int32) int64 { return WholeSM / int64(perSM) }

// PerSM returns how many blocks of a launch an SM of the device holds at most; 1 for a nil launch.
func (r *Rules) PerSM(l *schedule.Launch) int32 {
	if l == nil || l.PerSM < 2 {
		return 1
	}
	if most := r.Device.GPU.BlocksPerSM; most > 0 {
		return min(l.PerSM, int32(most))
	}
	return l.PerSM
}

// Fits returns an error if a number of resident blocks cannot be on the device at the same time.
func (r *Rules) Fits(blocks int64, perSM int32) error {
	if most := int64(r.Device.GPU.SMs) * int64(perSM); blocks > most {
		return fmt.Errorf("%d blocks are to stay at once, and %d SMs have places for %d", blocks,
			r.Device.GPU.SMs, most)
	}
	return nil
}

// Place puts up to n blocks, which each take a share, onto SMs; free is the capacity that these
// have left. A block goes to the SM that has most left, and to the first of several. Place appends
// the SMs that blocks went to.
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

// Room returns how many blocks of a share the SMs have room for.
func Room(free []int64, share int64) (n int64) {
	for _, f := range free {
		n += f / share
	}
	return n
}

// Priority returns the priority of a launch. The device lowers one that it does not have to its
// highest, as cudaStreamCreateWithPriority does.
func (r *Rules) Priority(l *schedule.Launch) int32 {
	if most := r.Device.GPU.Priorities; most > 0 {
		return min(l.Priority, int32(most)-1)
	}
	return l.Priority
}

// First reports whether bracket a gets free places, or a free copy engine, before b: the one of
// higher priority, then the one launched first, then that of the first lane. Those behind it get no
// places until it has all that it wants (T. Amert et al., GPU Scheduling on the NVIDIA TX2, RTSS
// 2017, rules G and R). No bracket loses places that it has.
func First(a, b *Claim) bool {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Order, b.Order),
		cmp.Compare(a.Lane, b.Lane)) < 0
}

// Claim is a bracket's request for places or a copy engine: the facts that First compares.
type Claim struct{ Priority, Order, Lane int32 }

// Pacer names the limit of a transfer's rate besides its links.
type Pacer uint8

// The pacers.
const (
	LanePace   Pacer = iota // the lane's rate κ, shared among the peers of the step
	EnginePace              // a copy engine that sends or gets
	CopyPace                // SMs that copy inside the device
	EngineCopy              // a copy engine that copies inside the device
	BlockPace               // the arithmetic of blocks: the engine has its rate
)

// crossings counts how often each byte of a copy inside the device crosses the memory: it is read
// and written.
const crossings = 2

// paceOf returns the rate of a pacer, and the number of transfers that share it. The rate of a copy
// counts each byte as often as it crosses the memory.
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

// PaceBy returns how long a pacer takes for a transfer: Pace for any pacer.
func (r *Rules) PaceBy(p Pacer, rank, peers int32, n unit.Bytes) unit.Time {
	if p == LanePace {
		return r.Pace(rank, peers, n)
	}
	rate, among := r.paceOf(p, peers)
	return r.Slowed(rank, times(n, int(among), rate))
}

// PaceRateBy returns the rate of a pacer for a transfer: PaceRate for any pacer.
func (r *Rules) PaceRateBy(p Pacer, rank, peers int32) uint64 {
	rate, among := r.paceOf(p, peers)
	return r.rateOver(rank, among, rate)
}

// IsCopy reports whether a step only copies from one place of its device to others.
func IsCopy(step *schedule.Step) bool {
	return step.Kernel == nil && len(step.From) == 1 && step.From[0].Kind == schedule.Local &&
		len(step.Send) == 0
}

// Copies returns how many bytes cross the memory for a copy of n.
func Copies(n unit.Bytes) unit.Bytes { return n * crossings }

// CostOnGPU returns D − S of a sub-step of n bytes on a GPU. It differs from Cost for copies inside
// the device. These begin to cross the memory at D, at a pace (Copies, PaceRateBy); without a
// shared memory they have ended at D. It also differs for kernels whose bracket holds places: they
// begin to compute at D, unless they are opaque.
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

// CopyPacer returns the pacer of a copy inside the device.
func CopyPacer(byEngine bool) Pacer {
	if byEngine {
		return EngineCopy
	}
	return CopyPace
}
