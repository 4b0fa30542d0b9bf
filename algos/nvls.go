package algos

import (
	"fmt"

	"collsim/collective"
	"collsim/schedule"
)

// Collectives by a switch that multicasts and reduces (NVLink SHARP), as kernels between two
// barriers of all ranks: multimem.ld_reduce loads the sum of all ranks' memory, multimem.st stores
// into all of them. No cost is published: it is the switch's.

// symmetricKernel returns the plan of a kernel that all ranks run on symmetric memory, between two
// barriers.
func symmetricKernel(chunks func(ranks int) int, body func(*Lane)) func(*schedule.Plan,
	func(string) string) error {
	return func(p *schedule.Plan, _ func(string) string) error {
		p.Group = rotations(p.Spec.Ranks)
		p.Chunks = chunks(p.Spec.Ranks)
		if err := switchReduces(p.Spec); err != nil {
			return err
		}
		p.Lane = func(l *schedule.Lane) {
			l.Barrier()
			body(&Lane{l, p.Spec})
			l.Barrier()
		}
		return nil
	}
}

// switchReduces returns an error for operators that multimem.ld_reduce has not.
func switchReduces(spec collective.Spec) error {
	switch {
	case !spec.Kind.Reduces(), spec.Op == collective.Sum, spec.Op == collective.Min,
		spec.Op == collective.Max:
		return nil
	}
	return fmt.Errorf("op %v: a switch has sum, min and max", spec.Op)
}

// NVLS all_reduce, two-shot: rank r has the switch add up chunk r and store the sum in all ranks.
//
// torch, multimem_all_reduce_; NCCL, symmetric kernel RSxLDMC_AGxSTMC; MSCCL++, nvls_zero_copy.
var nvlsAllReduce = Algorithm{
	Name:     "nvls",
	Kinds:    []collective.Kind{collective.AllReduce},
	About:    "rank r has the switch add up chunk r of all, and store the sum in all",
	When:     "long vectors in a node whose switch multicasts and reduces",
	Source:   "torch multimem_all_reduce_; NCCL RSxLDMC_AGxSTMC; MSCCL++",
	Multimem: true,
	Plan: symmetricKernel(perRank, func(l *Lane) {
		l.Multicast(l.Out(l.Rank), l.LoadReduce(l.In(l.Rank)))
	}),
}

// NVLS all_reduce, one-shot: every rank has the switch add up all of the vector.
//
// torch, multimem_one_shot_all_reduce; NCCL, symmetric kernel AGxLLMC.
var nvlsOneShotAllReduce = Algorithm{
	Name:     "nvls-one-shot",
	Kinds:    []collective.Kind{collective.AllReduce},
	About:    "every rank has the switch add up all of the vector",
	When:     "tiny vectors in a node whose switch reduces: no rank waits for another's store",
	Source:   "torch multimem_one_shot_all_reduce; NCCL AGxLLMC",
	Multimem: true,
	Plan: func(p *schedule.Plan, _ func(string) string) error {
		p.Group = rotations(p.Spec.Ranks)
		if err := switchReduces(p.Spec); err != nil {
			return err
		}
		if p.Spec.InPlace { // others may still load what the sum would overwrite
			p.Scratch = 1
		}
		p.Lane = func(l *schedule.Lane) {
			into := l.Out(0)
			if p.Spec.InPlace {
				into = l.Scratch(0)
			}
			l.Barrier()
			l.Combine([]schedule.Region{into}, nil, l.LoadReduce(l.In(0)))
			l.Barrier()
			if p.Spec.InPlace {
				l.Copy(l.Out(0), into)
			}
		}
		return nil
	},
}

// NVLS all_gather: every rank has the switch store its block in all ranks.
//
// torch, multimem_all_gather_out; NCCL, symmetric kernel AllGather_STMC.
var nvlsAllGather = Algorithm{
	Name:     "nvls",
	Kinds:    []collective.Kind{collective.AllGather},
	About:    "every rank has the switch store its block in all ranks",
	When:     "a node whose switch multicasts: each block leaves its rank once",
	Source:   "torch multimem_all_gather_out; NCCL AllGather_STMC",
	Multimem: true,
	Plan: symmetricKernel(func(int) int { return 1 }, func(l *Lane) {
		l.Multicast(l.Out(l.Rank), l.Local(l.In(0)))
	}),
}

// NVLS reduce_scatter: every rank has the switch add up its block of all ranks.
//
// NCCL, symmetric kernel ReduceScatter_LDMC.
var nvlsReduceScatter = Algorithm{
	Name:     "nvls",
	Kinds:    []collective.Kind{collective.ReduceScatter},
	About:    "every rank has the switch add up its block of all ranks",
	When:     "a node whose switch reduces: each block comes to its rank once",
	Source:   "NCCL ReduceScatter_LDMC",
	Multimem: true,
	Plan: symmetricKernel(func(int) int { return 1 }, func(l *Lane) {
		l.Combine([]schedule.Region{l.Out(0)}, nil, l.LoadReduce(l.In(l.Rank)))
	}),
}

// NVLS broadcast: the root has the switch store its vector in all ranks.
//
// MSCCL++, gstore; NCCL's multicast store.
var nvlsBroadcast = Algorithm{
	Name:     "nvls",
	Kinds:    []collective.Kind{collective.Broadcast},
	About:    "the root has the switch store its vector in all ranks",
	When:     "a node whose switch multicasts: the vector leaves the root once",
	Source:   "MSCCL++ gstore; multimem.st",
	Multimem: true,
	Plan: func(p *schedule.Plan, _ func(string) string) error {
		p.Lane = func(l *schedule.Lane) {
			l.Barrier()
			if l.Rank == l.Root {
				l.Multicast(l.Out(0), l.Local(l.In(0)))
			}
			l.Barrier()
		}
		return nil
	},
}
