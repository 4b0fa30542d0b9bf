package teccl

import (
	"fmt"
	"math"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/transfers"
	"collsim/schedule"
)

// exchange plans an all-to-all from the paths of the demands. Every part of a chunk with a path of
// its own is a block.
func (s *solution) exchange(o foreign.Options) (*transfers.Plan, error) {
	ranks, chunks := len(s.gpus), s.chunks(collective.AllToAll)
	spec, err := o.Spec(collective.AllToAll, ranks, int64(ranks)*int64(chunks), false)
	switch {
	case err != nil:
		return nil, err
	case spec.InPlace:
		return nil, fmt.Errorf("an all_to_all of TE-CCL has input and output apart")
	case ranks*ranks*chunks > maxBlocks:
		return nil, fmt.Errorf("%d chunks for each of %d ranks are too many", chunks, ranks)
	}
	x := exchange{s: s, ranks: ranks, chunks: chunks, paths: map[[2]int]*demand{},
		scratch: make([][]int64, ranks), plan: &transfers.Plan{Spec: spec}}
	if err := x.collect(); err != nil {
		return nil, err
	}
	s.flows = s.flows[:0] // the paths have them, part by part
	rows := [3][][]int64{}
	if rows[0], err = x.buffer(schedule.Input); err != nil {
		return nil, err
	}
	if rows[1], err = x.buffer(schedule.Output); err != nil {
		return nil, err
	}
	for rank := range ranks {
		n := len(x.scratch[rank])
		if n == 0 {
			continue
		}
		if x.plan.Memory = max(x.plan.Memory, x.scratch[rank][n-1]); int64(n) > 1<<20 ||
			int64(n)*(spec.Count>>20) > collective.MaxElements>>20 {
			return nil, fmt.Errorf("what is under way through GPU %d is too much", s.gpus[rank])
		}
	}
	rows[2] = x.scratch
	for b := range rows {
		if x.plan.Cuts[b], err = even(rows[b]); err != nil {
			return nil, err
		}
	}
	return x.plan, nil
}

// exchange makes a plan. The input's blocks are in the order of chunks, the output's in the order
// of sources; the parts of a chunk follow each other in both.
type exchange struct {
	s             *solution
	ranks, chunks int
	paths         map[[2]int]*demand // by rank and chunk
	first         map[[2]int]int     // by rank and chunk: its first input block
	scratch       [][]int64          // by rank: ends of blocks
	plan          *transfers.Plan
}

// collect finds the paths of each chunk.
func (x *exchange) collect() error {
	for i := range x.s.demands {
		d := &x.s.demands[i]
		key := [2]int{x.s.rank(d.source), d.chunk}
		if at := x.s.rank(d.at); d.chunk/x.chunks != at {
			return fmt.Errorf("line %d: chunk %d is demanded at %d: chunks of an all-to-all are numbered "+
				"by destination, %d to each", d.line, d.chunk, d.at, x.chunks)
		}
		if len(d.paths) > 0 {
			if x.paths[key] != nil {
				return fmt.Errorf("line %d: chunk %d from %d is demanded twice", d.line, d.chunk, d.source)
			}
			x.paths[key] = d
		}
	}
	if len(x.paths) == 0 {
		return fmt.Errorf("an all-to-all is read from %q, which the file does not have", keyPaths)
	}
	return nil
}

// buffer cuts the input or the output of all ranks. With the output it also makes the moves, since
// then both ends of every part are known.
func (x *exchange) buffer(b schedule.Buffer) ([][]int64, error) {
	if b == schedule.Input {
		x.first = map[[2]int]int{}
	}
	rows := make([][]int64, x.ranks)
	for rank := range rows {
		for block := range x.ranks {
			for j := range x.chunks {
				source, chunk := rank, block*x.chunks+j
				if b == schedule.Output {
					source, chunk = block, rank*x.chunks+j
				} else {
					x.first[[2]int{rank, chunk}] = len(rows[rank])
				}
				count := x.plan.Spec.Count
				from := int64(block) * count
				if j > 0 {
					from += partEnd(count, x.chunks, j-1)
				}
				to := int64(block)*count + partEnd(count, x.chunks, j)
				ends, err := x.parts([2]int{source, chunk}, to-from)
				if err != nil {
					return nil, err
				}
				if b == schedule.Output {
					if err := x.moves([2]int{source, chunk}, len(rows[rank]), ends); err != nil {
						return nil, err
					}
				}
				for _, end := range ends {
					rows[rank] = append(rows[rank], from+end)
				}
			}
		}
	}
	return rows, nil
}

// parts returns the ends of a chunk's parts, one for each path.
func (x *exchange) parts(key [2]int, length int64) ([]int64, error) {
	d := x.paths[key]
	if d == nil {
		return []int64{length}, nil
	}
	total := 0.0
	for _, p := range d.paths {
		if len(p) > 0 {
			total += p[0].volume
		}
	}
	if !whole(total) {
		return nil, fmt.Errorf("line %d: the paths of chunk %d from %d carry %g of it", d.line, d.chunk,
			d.source, total)
	}
	ends, sum := make([]int64, len(d.paths)), 0.0
	for i, p := range d.paths {
		if len(p) > 0 {
			sum += p[0].volume
		}
		ends[i] = min(int64(math.Round(sum/total*float64(length))), length)
	}
	ends[len(ends)-1] = length
	return ends, nil
}

// moves sends the parts of a chunk to consecutive blocks of the destination's output, from block
// on.
func (x *exchange) moves(key [2]int, block int, ends []int64) error {
	d := x.paths[key]
	first := x.first[key]
	if d == nil {
		if rank := int32(key[0]); key[1]/x.chunks == key[0] {
			x.plan.Moves = append(x.plan.Moves, transfers.Move{From: rank, To: rank, Item: -1,
				Source: transfers.At(schedule.Input, first), Target: transfers.At(schedule.Output, block)})
		}
		return nil
	}
	for i, path := range d.paths {
		length := ends[i]
		if i > 0 {
			length -= ends[i-1]
		}
		at, place := d.source, transfers.At(schedule.Input, first+i)
		for j, f := range path {
			last := j == len(path)-1
			if f.from != at || last != (f.to == d.at) || math.Abs(f.volume-path[0].volume) > rounding {
				return fmt.Errorf("line %d: this hop does not go on with what is at %d, to end at %d",
					f.line, at, d.at)
			}
			if x.s.rank(f.to) < 0 {
				return fmt.Errorf("line %d: %d is no GPU", f.line, f.to)
			}
			target := transfers.At(schedule.Output, block+i)
			if !last {
				target = x.relay(x.s.rank(f.to), length)
			}
			x.plan.Moves = append(x.plan.Moves, transfers.Move{Stage: int32(f.epoch),
				From: int32(x.s.rank(f.from)), To: int32(x.s.rank(f.to)), Source: place, Target: target,
				Item: int32(len(x.s.flows))})
			x.s.flows = append(x.s.flows, f)
			at, place = f.to, target
		}
	}
	return nil
}

// relay allocates a block of a rank's scratch.
func (x *exchange) relay(rank int, length int64) transfers.Blocks {
	row := x.scratch[rank]
	end := length
	if len(row) > 0 {
		end += row[len(row)-1]
	}
	x.scratch[rank] = append(row, end)
	return transfers.At(schedule.Scratch, len(row))
}

// even makes a cut from rows of different lengths: the shorter ones get empty blocks.
func even(rows [][]int64) (schedule.Cut, error) {
	most := 1
	for _, row := range rows {
		most = max(most, len(row))
	}
	if most*len(rows) > maxBlocks {
		return nil, fmt.Errorf("%d blocks of %d ranks are too many", most, len(rows))
	}
	for i, row := range rows {
		end := int64(0)
		if len(row) > 0 {
			end = row[len(row)-1]
		}
		for len(rows[i]) < most {
			rows[i] = append(rows[i], end)
		}
	}
	return table(rows...), nil
}
