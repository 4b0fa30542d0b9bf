package algos

import (
	"fmt"

	"collsim/collective"
	"collsim/schedule"
)

// The low-contention collectives of torch's symmetric memory. One stream, on which copy engines
// bring what others have, one rank after the other, between two barriers: the SMs are left to the
// matmuls beside it.
//
//	stream of rank r:   [copy own]  barrier  pull r−1  pull r−2  …  barrier  [add]
//
// SMs do what torch says that they do: the copy of an all_gather's input into the workspace, where
// it is not symmetric; the copy of a reduce_scatter's own block; and the sum.
//
// pytorch/pytorch, torch/distributed/_symmetric_memory/__init__.py, _low_contention_all_gather and
// _low_contention_reduce_scatter, with the note on low-contention collectives there.

// symmetricInput returns the parameter of collectives whose input may be symmetric memory.
func symmetricInput(otherwise string) []Param {
	return []Param{{Name: "symmetric", Value: "true", About: "whether others can read the input; " +
		"otherwise " + otherwise}}
}

// isSymmetric reads the parameter of symmetricInput.
func isSymmetric(param func(string) string) (bool, error) {
	switch text := param("symmetric"); text {
	case "true", "false":
		return text == "true", nil
	default:
		return false, fmt.Errorf("symmetric = %.40q: true or false is expected", text)
	}
}

var lowContentionAllGather = Algorithm{
	Name:   "low-contention",
	Kinds:  []collective.Kind{collective.AllGather},
	About:  "copy engines pull the blocks of one rank after the other, between two barriers",
	When:   "a matmul runs beside it: the copies take none of its SMs",
	Source: "torch _low_contention_all_gather",
	Params: symmetricInput("SMs first copy it into a workspace"),
	Plan: func(p *schedule.Plan, param func(string) string) error {
		symmetric, err := isSymmetric(param)
		if !symmetric {
			p.Scratch = 1
		}
		p.Group = rotations(p.Spec.Ranks)
		p.Lane = func(l *schedule.Lane) { pullBlocks(&Lane{l, p.Spec}, symmetric) }
		return err
	},
}

// pullBlocks writes the all_gather.
func pullBlocks(l *Lane, symmetric bool) {
	theirs := l.In(0)
	if !symmetric {
		theirs = l.Scratch(0)
		l.Launch(bySMs)
		l.Copy(theirs, l.In(0))
	}
	meet(l)
	if !l.Spec.InPlace {
		l.Launch(byCopyEngine)
		l.Copy(l.Out(l.Rank), l.In(0))
	}
	for i := 1; i < l.Ranks; i++ {
		q := l.Rank + l.Ranks - i
		l.Launch(byCopyEngine)
		l.Combine([]schedule.Region{l.Out(q)}, nil, l.Get(q, theirs))
	}
	meet(l)
}

var lowContentionReduceScatter = Algorithm{
	Name:   "low-contention",
	Kinds:  []collective.Kind{collective.ReduceScatter},
	About:  "copy engines bring each rank its block of all others; then they are added",
	When:   "a matmul runs beside it: only the sum and the copy of the own block take SMs",
	Source: "torch _low_contention_reduce_scatter",
	Params: symmetricInput("each rank puts its blocks into the others' workspaces"),
	Plan: func(p *schedule.Plan, param func(string) string) error {
		symmetric, err := isSymmetric(param)
		p.Scratch, p.Even = p.Spec.Ranks, true
		p.Lane = func(l *schedule.Lane) { bringAndAdd(&Lane{l, p.Spec}, symmetric) }
		return err
	},
}

// bringAndAdd writes the reduce_scatter. Block q of the workspace is rank q's input for this rank's
// block; all are added in rank order.
func bringAndAdd(l *Lane, symmetric bool) {
	meet(l)
	for i := range l.Ranks {
		q := (l.Rank + l.Ranks - i) % l.Ranks
		if q == l.Rank {
			l.Launch(bySMs)
			l.Copy(l.Scratch(q), l.In(q))
			continue
		}
		if l.Launch(byCopyEngine); symmetric {
			l.Combine([]schedule.Region{l.Scratch(q)}, nil, l.Get(q, l.In(l.Rank)))
		} else {
			l.Store(q, l.Scratch(l.Rank), l.In(q))
		}
	}
	meet(l)
	sources := make([]schedule.Source, l.Ranks)
	for q := range sources {
		sources[q] = l.Local(l.Scratch(q))
	}
	l.Launch(schedule.Launch{Name: "add"})
	l.Completes()
	l.Combine([]schedule.Region{l.Out(0)}, nil, sources...)
}

// byCopyEngine launches a copy on a copy engine, without SMs.
var byCopyEngine = schedule.Launch{Engine: schedule.CopyEngine, Name: "copy"}

// bySMs launches a copy as a kernel, which has one block here, as the sum has.
var bySMs = schedule.Launch{Name: "copy"}

// meet writes a barrier, as a kernel of one block.
func meet(l *Lane) {
	l.Launch(schedule.Launch{Name: "barrier"})
	l.Barrier()
}
