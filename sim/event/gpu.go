package event

import (
	"collsim/schedule"
	"collsim/sim/internal/flat"
	"collsim/sim/model"
	"collsim/unit"
)

// gpus is the state of the GPUs, where the device has a model of one (decision 18). What waits for
// a launch, a place or a wave waits for a time of an instant; who gets what is free is decided
// when all else that happens at that instant has (runGPU).
type gpus struct {
	ranks      []gpu
	lanes      []laneGPU
	brackets   []bracket // those of a rank together
	ofLanes    []int32   // the brackets of each lane, in order
	claims     flat.Pool[claim]
	waves      flat.Pool[wave]
	grids      model.Grids
	due        flat.Heap[unit.Time] // what happens when: dueKind and item
	dirty      []int32              // ranks that have places to give out, or somebody who wants them
	changes    int64                // how often something was due or given out
	e          *engine
	isLaunched bool          // brackets are launched one by one
	watch      *gpuWatch     // nil: nobody asked
	parts      partsObserver // likewise
}

// gpu holds the resources of a rank's GPU, and the claims that wait for them.
type gpu struct {
	smPlaces
	waiting []int32 // claims, the first first
	engines []bool  // copy engines: which are at work
	copying []int32 // claims of copy engines, the first first
	isDirty bool
	host    unit.Time // when its host has issued the last bracket
}

// laneGPU holds the state of a lane on its GPU.
type laneGPU struct {
	first, end int32 // its brackets, in ofLanes
	next       int32 // of these
	open       int32 // the bracket that it is in, −1 for none
	claim      int32 // of its kernel, −1 for none
	steps      int32 // that it has begun so far
	stream     int32
	graph      int32 // of the last bracket that it has begun
	launch     launching
	pacer      model.Pacer // of what it sends and gets
	holds      bool        // its bracket has places of its own: kernels need none
}

// launching says how far a lane has come with the bracket that its present step begins.
type launching uint8

const (
	notLaunched launching = iota // or it begins none
	asking                       // for places
	launched
)

// bracket holds the state of what one launch starts.
type bracket struct {
	model.Launched
	mark              *schedule.Launch
	rank, lane        int32 // the first of its lanes
	stream            int32
	lanes, come, over int32 // lanes that are in it, that have come to begin it, that have ended
	seen              bool  // its begin has been reported to a partsObserver
	resident          bool  // its blocks stay from begin to end
	places            int64 // that they take
	perSM             int32
	engine            int32 // the copy engine that it has
	sms               taken
	ready, ended      model.Moment // when the last lane has come, and has ended
	content
}

// dueKind names an event that is due at a time.
type dueKind uint64

const (
	claimComes  dueKind = iota // a claim
	bracketEnds                // a bracket
	waveEnds                   // a wave
	flowBegins                 // a message over a memory
	waveBegins                 // a wave of a kernel whose bracket has places
	rankGoesOn                 // a rank that a fault has held
)

func (g *gpus) at(t unit.Time, what dueKind, item int32) {
	g.due.Push(flat.Entry[unit.Time]{First: t, Second: uint64(what), Item: item})
}

// stepBegins counts a sub-step of a lane.
func (g *gpus) stepBegins(lane int32) { g.lanes[lane].steps++ }

// pacerOf returns what paces the messages of a lane's present sub-step.
func (g *gpus) pacerOf(lane int32) model.Pacer { return g.lanes[lane].pacer }

// wants reports whether a lane's kernel waits for places or holds some.
func (g *gpus) wants(lane int32) bool { return g != nil && g.lanes[lane].claim >= 0 }

// hosts returns when each rank's host had issued its last bracket; nil without a GPU.
func (g *gpus) hosts() (at []unit.Time) {
	for i := 0; g != nil && i < len(g.ranks); i++ {
		at = append(at, g.ranks[i].host)
	}
	return at
}

// next returns when something is due next; never if nothing is.
func (g *gpus) next() unit.Time {
	if g == nil || len(g.due) == 0 {
		return never
	}
	return g.due[0].First
}

// observe has all that happens on GPUs reported to a watch.
func (g *gpus) observe(w *gpuWatch) { g.watch = w }

// observeParts has the begins of brackets and kernels reported.
func (g *gpus) observeParts(o partsObserver) { g.parts = o }

// isIdle reports whether nothing is due and nothing can be given out, and how often anything was.
func (g *gpus) isIdle() (changes int64, isIdle bool) {
	return g.changes, len(g.due) == 0 && len(g.dirty) == 0
}

// writeLane appends where a lane is on its GPU.
func (g *gpus) writeLane(s []int64, lane int32) []int64 {
	x := &g.lanes[lane]
	return append(s, int64(x.next), int64(x.open), int64(x.claim), int64(x.launch))
}

// happen lets the next of what is due happen.
func (g *gpus) happen(now unit.Time) {
	g.changes++
	due := g.due.Pop()
	happens[due.Second](g, due.Item, now)
}

// giveOut gives out what is free when all else that happens at an instant has. It reports whether
// there was any.
func (g *gpus) giveOut(now unit.Time) bool {
	if g == nil || len(g.dirty) == 0 {
		return false
	}
	g.changes++
	g.dispatch(now)
	return true
}

// happens has the function that handles each dueKind.
var happens = [...]func(g *gpus, item int32, now unit.Time){
	claimComes: (*gpus).come, bracketEnds: (*gpus).endBracket, waveEnds: (*gpus).endWave,
	flowBegins: (*gpus).beginFlow, waveBegins: (*gpus).beginWave,
	rankGoesOn: func(g *gpus, rank int32, _ unit.Time) { g.markDirty(rank) },
}
