package program

import (
	"fmt"
	"slices"
)

// A stage of an interleaved pipeline has several chunks of the model, and each stage as many. What
// a microbatch has gone through a chunk of every stage goes on to the next chunk of the first one.

// chunks finds the chunk of its stage that each op of a pass belongs to, and returns how many there
// are. An op belongs to the chunk of what it reads; to the next one, where that comes from a later
// stage. One that reads nothing of an op belongs to that of the op before it, of its stage and
// microbatch. An op of the backward pass belongs to the chunk of the op that it was made for. In
// orders that are not interleaved there is one.
func (t *turns) chunks() (chunks int) {
	t.chunk = make([]int, len(t.q.Ops))
	if t.by != InterleavedOneForwardOneBackward {
		return 1
	}
	from := slices.Clone(t.stage)                         // of what several do, where it comes from
	writers, forward := map[string][]int{}, map[int]int{} // by tensor; by op of the program
	last := map[[2]int]int{}                              // chunks, by stage and microbatch
	for i := range t.q.Ops {
		o := &t.q.Ops[i]
		switch o.phase {
		case backwardPass:
			t.chunk[i] = forward[o.origin]
			continue
		case afterGradients:
			continue
		}
		reads, before := false, [2]int{t.stage[i], o.Microbatch}
		for _, name := range o.In {
			for _, j := range writers[name] {
				if !meet(t.ranks[i], t.ranks[j]) {
					continue
				}
				at := t.chunk[j]
				reads = true
				if t.stage[i] < 0 {
					from[i] = from[j]
				} else if from[j] > t.stage[i] {
					at++
				}
				t.chunk[i] = max(t.chunk[i], at)
			}
		}
		if !reads {
			t.chunk[i] = last[before]
		}
		last[before] = t.chunk[i]
		if o.Out != "" {
			writers[o.Out] = append(writers[o.Out], i)
		}
		forward[o.origin] = t.chunk[i]
		chunks = max(chunks, t.chunk[i]+1)
	}
	return chunks
}

// checkMicrobatches returns what is wrong with a number of microbatches.
func (t *turns) checkMicrobatches(microbatches, stages int) error {
	if t.by == InterleavedOneForwardOneBackward && microbatches%stages != 0 {
		return &Error{-1, -1, "order", fmt.Sprintf("order %q has as many microbatches as stages, or a "+
			"multiple: %d stages have %d", t.by, stages, microbatches)}
	}
	return nil
}

// ahead returns how many forward passes, of a microbatch through a chunk, a stage does before its
// first backward pass.
func (t *turns) ahead(stage, stages, chunks, microbatches int) int {
	switch behind := stages - 1 - stage; {
	case t.by != InterleavedOneForwardOneBackward:
		return behind
	case microbatches == stages: // as Megatron: all of them
		return chunks * microbatches
	default:
		return 2*behind + (chunks-1)*stages
	}
}

// inGroups returns the place of a pass in its stage's order: as many microbatches as there are
// stages go through a chunk, then the same ones through the next.
func inGroups(microbatch, chunk, stages, chunks int) int {
	return microbatch/stages*stages*chunks + chunk*stages + microbatch%stages
}
