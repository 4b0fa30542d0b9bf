package program

import (
	"slices"

	"collsim/program/lowering"
	"collsim/schedule"
	"collsim/symmetry"
	"collsim/unit"
)

// Lowering selects the passes that a program goes through.
type Lowering = lowering.Passes

// Pipeline says whether and how matmuls are fused with the collectives beside them.
type Pipeline = lowering.Pipeline

// Pipelines lists the names of pipelines, in order.
func Pipelines() []string { return lowering.Pipelines() }

// The pipelines of matmuls and the collectives beside them.
const (
	NoPipeline       = lowering.NoPipeline
	SeedPipeline     = lowering.SeedPipeline
	RepairedPipeline = lowering.RepairedPipeline
	PipelineIfFaster = lowering.PipelineIfFaster
)

// A Guide decides what the passes leave open.
type Guide struct {
	// Choose makes the schedule of a call.
	Choose Choose
	// Time returns the time of a lowered program. Passes that choose what is faster need it. If it
	// is nil, nothing is faster, and notes do not say what was saved.
	Time func(*schedule.Schedule) (unit.Time, error)
	// Decided, unless nil, has the decisions made for this program at other sizes. They are
	// repeated here, and no others are made.
	Decided *Decisions
	// Alike, unless nil, is a symmetry of the network by which the program is to be folded. If it is
	// not the program's, the error is a *schedule.NotFolded.
	Alike *symmetry.Subgroup
}

// optional reports whether an optional pass is on.
func optional(l *Lowering) bool {
	return slices.ContainsFunc(passTable(), func(p pass) bool {
		return p.name != "layout" && p.name != "lowering" && p.on(l)
	})
}

// makesOthers reports whether a pass is on that makes other parts than calls and kernels.
func makesOthers(l *Lowering) bool {
	return l.CommBuffer > 0 || l.Registering > 0 || l.Pipeline != NoPipeline || l.SymmetricMemory
}
