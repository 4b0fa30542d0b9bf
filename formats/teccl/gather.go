package teccl

import (
	"fmt"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/transfers"
	"collsim/schedule"
)

// gather plans an all-gather from the flows.
func (s *solution) gather(o foreign.Options) (*transfers.Plan, error) {
	ranks, chunks := len(s.gpus), s.chunks(collective.AllGather)
	spec, err := o.Spec(collective.AllGather, ranks, int64(ranks)*int64(chunks), false)
	if err != nil {
		return nil, err
	}
	if ranks*chunks > maxBlocks {
		return nil, fmt.Errorf("%d chunks of %d ranks are too many", chunks, ranks)
	}
	var out []int64
	for rank := range ranks {
		for c := range chunks {
			out = append(out, int64(rank)*spec.Count+partEnd(spec.Count, chunks, c))
		}
	}
	p := &transfers.Plan{Spec: spec, Cuts: [3]schedule.Cut{table(out[:chunks]), table(out)}}
	if !spec.InPlace {
		for rank := range ranks {
			for c := range chunks {
				p.Moves = append(p.Moves, transfers.Move{From: int32(rank), To: int32(rank), Item: -1,
					Source: transfers.At(schedule.Input, c),
					Target: transfers.At(schedule.Output, rank*chunks+c)})
			}
		}
	}
	for i := range s.flows {
		f := &s.flows[i]
		if !whole(f.volume) {
			return nil, fmt.Errorf("line %d: a part of a chunk, where an all-gather takes whole ones",
				f.line)
		}
		target := transfers.At(schedule.Output, s.rank(f.source)*chunks+f.chunk)
		source := target
		if f.from == f.source {
			source = transfers.At(schedule.Input, f.chunk)
		}
		p.Moves = append(p.Moves, transfers.Move{Stage: int32(f.epoch), From: int32(s.rank(f.from)),
			To: int32(s.rank(f.to)), Source: source, Target: target, Item: int32(i)})
	}
	return p, nil
}

// maxBlocks bounds the tables of a plan.
const maxBlocks = 1 << 20

// partEnd returns the end of the i-th of n nearly equal parts of a length; the first parts are
// larger.
func partEnd(length int64, n, i int) int64 {
	size, more := length/int64(n), length%int64(n)
	return int64(i+1)*size + min(int64(i+1), more)
}

// table makes a cut at these ends, with one row for all ranks or one for each.
func table(rows ...[]int64) schedule.Cut {
	return schedule.Cut{{Axis: schedule.Block, Split: schedule.Table, Ends: rows}}
}
