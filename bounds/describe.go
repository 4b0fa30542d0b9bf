package bounds

import (
	"fmt"
	"strings"
)

// describePort names the links of one rank: "link gpu0->switch", "7 links into gpu3".
func (s *search) describePort(r int, out bool) string {
	links := s.net.in
	if out {
		links = s.net.out
	}
	node := s.net.ranks[r]
	return s.describe(links.of(node), out, func(other int) bool { return s.net.nodeOf(other) == node })
}

// describeCut names the links that leave the near nodes or, with into, lead to them. It describes
// them from the side with fewer ranks.
func (s *search) describeCut(near func(v int32) bool, into bool) string {
	var links []int32
	for l := range s.net.rate {
		if from := near(s.net.from[l]); from != near(s.net.to[l]) && from != into {
			links = append(links, int32(l))
		}
	}
	count := int64(0)
	for r, v := range s.net.ranks {
		if near(v) {
			count += s.net.standsFor(r)
		}
	}
	fewer := 2*count <= int64(s.spec.Ranks)
	return s.describe(links, fewer != into, func(r int) bool {
		return near(s.net.nodeOf(r)) == fewer
	})
}

// describe names links that lead out of, or into, the ranks for which in is true.
func (s *search) describe(links []int32, out bool, in func(r int) bool) string {
	count := int64(0)
	for _, l := range links {
		count += s.net.linksOf(l)
	}
	if count == 1 {
		return "link " + s.net.linkName(links[0])
	}
	direction := "into"
	if out {
		direction = "out of"
	}
	return fmt.Sprintf("%d links %s %s", count, direction, s.describeRanks(in))
}

// maxNames bounds the runs of ranks that a description lists.
const maxNames = 4

// describeRanks lists ranks by the names of their nodes, neighbours as a run: "gpu0-gpu7, gpu9".
func (s *search) describeRanks(in func(r int) bool) string {
	var runs []string
	count := 0
	for r := 0; r < s.spec.Ranks; r++ {
		if !in(r) {
			continue
		}
		first := r
		for r+1 < s.spec.Ranks && in(r+1) {
			r++
		}
		count += r - first + 1
		text := s.nameOf(first)
		if r > first {
			text += "-" + s.nameOf(r)
		}
		runs = append(runs, text)
	}
	if len(runs) > maxNames {
		return fmt.Sprintf("%s, … (%d ranks)", strings.Join(runs[:maxNames], ", "), count)
	}
	return strings.Join(runs, ", ")
}

// nameOf returns the name of a rank's node.
func (s *search) nameOf(r int) string {
	return s.net.graph.Node(s.net.graph.Ranks[r]).Name
}
