package program

import (
	"slices"

	"collsim/program/lowering"
	"collsim/schedule"
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
}

// optional reports whether an optional pass is on.
func optional(l *Lowering) bool {
	return slices.ContainsFunc(passTable(), func(p pass) bool {
		return p.name != "layout" && p.name != "lowering" && p.on(l)
	})
}
