package algos

import (
	"collsim/collective"
	"collsim/schedule"
)

// NVLS all_reduce, pipelined, of vectors that are not in the switch's memory. Three lanes of a rank
// work on segments that follow one another: one copies a segment of every chunk to where the switch
// reaches it; one has the switch add up this rank's chunk of it and store the sum in all ranks; one
// copies the sums to the output. All ranks meet between two of them.
//
//	lane 0   copy 0   meet   copy 1   meet   copy 2   …
//	lane 1                   add 0    meet   add 1    meet   …
//	lane 2                                   copy 0          copy 1   …
//
// Every segment has memory of its own, so that no lane waits for the one behind it.
//
// MSCCL++, allreduce_nvls_block_pipeline.
var nvlsPipelinedAllReduce = Algorithm{
	Name:     "nvls-pipelined",
	Kinds:    []collective.Kind{collective.AllReduce},
	About:    "segments are copied in, added up and stored by the switch, and copied out, at once",
	When:     "long vectors in ordinary memory of a node whose switch multicasts and reduces",
	Source:   "MSCCL++ allreduce_nvls_block_pipeline",
	Params:   segmented("512KiB"),
	Multimem: true,
	Plan: func(p *schedule.Plan, param func(string) string) (err error) {
		if err = switchReduces(p.Spec); err != nil {
			return err
		}
		ranks := p.Spec.Ranks
		p.Group, p.Scratch, p.Lanes = rotations(ranks), 1, 3 // scratch is a vector too
		if p.Segment, err = segmentOf(param("segment"), p.Spec); err != nil {
			return err
		}
		cut := schedule.Cut{{Axis: schedule.Block, N: int64(ranks), ByRank: true},
			{Axis: schedule.Tile, Split: schedule.Size, N: p.Segment}}
		p.Cuts = &[3]schedule.Cut{cut, cut, cut}
		p.Lane = func(l *schedule.Lane) {
			for t := range l.Tiles() {
				l.Tile(t)
				switch l.Index {
				case 0:
					l.Copy(l.Scratch(0).Blocks(l.Ranks), l.In(0).Blocks(l.Ranks))
					l.Barrier()
				case 1:
					l.After(0, t+1)
					l.Multicast(l.Scratch(l.Rank), l.LoadReduce(l.Scratch(l.Rank)))
					l.Barrier()
				case 2:
					l.After(1, t+1)
					l.Copy(l.Out(0).Blocks(l.Ranks), l.Scratch(0).Blocks(l.Ranks))
				}
				if l.Index < 2 {
					l.Post()
				}
			}
		}
		return nil
	},
}
