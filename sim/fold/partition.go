package fold

import (
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/symmetry"
	"collsim/topology"
	"collsim/unit"
)

// kind holds the properties that ranks have in common before anything has happened.
type kind struct {
	role     int32
	start    unit.Time
	slowdown unit.Share
	up, down line
	rank     int32 // the first that is of it
}

// line holds the parameters of a link.
type line struct {
	bandwidth unit.Rate
	latency   unit.Time
}

func lineOf(g *topology.Graph, i int32) line {
	l := g.Link(i)
	return line{l.Bandwidth, l.Latency}
}

// newPartition divides ranks by their kinds, and joins them to their peers: an arc's label is the
// place that the peer has them at. With more than so many kinds there is no partition.
func newPartition(s *schedule.Schedule, env *model.Env, most int) (*symmetry.Partition, []kind) {
	ranks := s.Spec.Ranks
	of, g := make([]int32, ranks), symmetry.Graph{First: make([]int32, ranks+1)}
	var kinds []kind
	all := lineOf(env.Graph, 0)
	differ := len(env.Graph.Changes()) > 0
	numbers := symmetry.Colours[kind]{}
	for rank := range int32(ranks) {
		own := kind{start: at(env.Start, rank), slowdown: at(env.Slowdown, rank), up: all, down: all}
		if differ {
			above, below := env.Graph.Spokes(rank)
			own.up, own.down = lineOf(env.Graph, above), lineOf(env.Graph, below)
		}
		own.role, g.To = s.RoleOf(int(rank), g.To)
		g.First[rank+1] = int32(len(g.To))
		class, isNew := numbers.Number(own)
		if of[rank] = class; isNew {
			own.rank = rank
			if kinds = append(kinds, own); len(kinds) > most {
				return nil, kinds
			}
		}
	}
	g.Back = make([]int32, len(g.To))
	for rank := range int32(ranks) {
		mine := g.Peers(rank)
		for i, peer := range mine {
			at := g.First[rank] + int32(i)
			g.Back[at] = -1
			if slices.Index(mine, peer) == i { // programs name the first place
				g.Back[at] = int32(slices.Index(g.Peers(peer), rank))
			}
		}
	}
	g.Label = g.Back
	return symmetry.NewPartition(g, of, len(kinds)), kinds
}
