package forestcoll

import (
	"fmt"

	"collsim/collective"
	"collsim/schedule"
)

// maxFound is the most violations that are reported.
const maxFound = 20

// found reports ranks that a tree does not reach and, where that would add an input twice, ranks
// that it reaches twice.
func (f *forest) found(kind collective.Kind) (found []*schedule.Violation) {
	report := func(kind schedule.ViolationKind, rank, line int, t *tree, what string) {
		found = append(found, &schedule.Violation{Kind: kind, Rank: rank, Lane: -1, Step: -1, Chunk: -1,
			Text: fmt.Sprintf("line %d: tree %d of %s %s %s", line, t.index, f.names[t.root], what,
				f.names[rank])})
	}
	for i := range f.trees {
		t := &f.trees[i]
		if t.reached == len(f.names) && t.edges[1]-t.edges[0] == len(f.names)-1 {
			continue
		}
		times := make([]int, len(f.names))
		times[t.root] = 1
		for _, e := range f.edges[t.edges[0]:t.edges[1]] {
			if e.level < 0 {
				continue
			}
			if times[e.to]++; times[e.to] == 2 && kind != collective.AllGather {
				report(schedule.Doubled, e.to, e.line, t, "comes again to")
			}
		}
		for rank, n := range times {
			if n == 0 && len(found) < maxFound {
				report(schedule.Missing, rank, t.line, t, "does not come to")
			}
		}
		if len(found) >= maxFound {
			break
		}
	}
	return found
}
