package run

import (
	"fmt"
	"slices"
	"strings"

	"collsim/algos/nccl"
	"collsim/scenarios"
	"collsim/topology"
)

// relayed says why NCCL does not run in a point's teams: the network joins two GPUs of one only
// through a third that takes no part, and NCCL relays through members alone. It is nil where NCCL
// runs, and of algorithms that are not NCCL's. The first maxPairs pairs are looked at.
func relayed(p *scenarios.Point, a scenarios.Algorithm) error {
	if p.Teams == nil || !strings.HasPrefix(a.Name, nccl.Prefix) {
		return nil
	}
	g, err := p.Topology.Graph()
	if err != nil || g.IsStar() { // reported elsewhere
		return nil
	}
	rankOf := map[int32]int{}
	for rank, node := range g.Ranks {
		rankOf[node] = rank
	}
	looked := 0
	for _, team := range p.Teams {
		for _, src := range team {
			var joined map[int32]bool
			for _, dst := range team {
				if looked++; looked > maxPairs {
					return nil
				}
				third := stranger(g, rankOf, team, src, dst)
				if third < 0 {
					continue
				}
				if joined == nil {
					joined = joinedTo(g, rankOf, team, src)
				}
				if !joined[g.Ranks[dst]] {
					return fmt.Errorf("gpu%d and gpu%d are joined only through gpu%d, which takes no "+
						"part: NCCL relays through members of the communicator alone", src, dst, third)
				}
			}
		}
	}
	return nil
}

// stranger returns the first rank on the route from src to dst that is not in the team, −1 if
// there is none.
func stranger(g *topology.Graph, rankOf map[int32]int, team []int, src, dst int) int {
	if src == dst {
		return -1
	}
	for _, link := range g.Route(src, dst, nil) {
		if rank, ok := rankOf[g.Link(link).To]; ok && !slices.Contains(team, rank) {
			return rank
		}
	}
	return -1
}

// joinedTo returns the nodes that a rank reaches through members of its team and switches.
func joinedTo(g *topology.Graph, rankOf map[int32]int, team []int, src int) map[int32]bool {
	next := map[int32][]int32{}
	for i := range int32(g.NumLinks()) {
		l := g.Link(i)
		if rank, ok := rankOf[l.To]; !ok || slices.Contains(team, rank) {
			next[l.From] = append(next[l.From], l.To)
		}
	}
	joined := map[int32]bool{g.Ranks[src]: true}
	for list := []int32{g.Ranks[src]}; len(list) > 0; list = list[1:] {
		for _, node := range next[list[0]] {
			if !joined[node] {
				joined[node] = true
				list = append(list, node)
			}
		}
	}
	return joined
}
