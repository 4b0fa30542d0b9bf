package fold

import (
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

// newPartition divides ranks by their kinds, and joins them to their peers. With more than so many
// kinds there is no partition.
func newPartition(s *schedule.Schedule, env *model.Env, most int) (*symmetry.Partition, []kind) {
	roles, g := s.PeerGraph()
	of, numbers := make([]int32, len(roles)), symmetry.Colours[kind]{}
	var kinds []kind
	all := lineOf(env.Graph, 0)
	differ := len(env.Graph.Changes()) > 0
	for i, role := range roles {
		rank := int32(i)
		own := kind{role: role, start: at(env.Start, rank), slowdown: at(env.Slowdown, rank),
			up: all, down: all}
		if differ {
			above, below := env.Graph.Spokes(rank)
			own.up, own.down = lineOf(env.Graph, above), lineOf(env.Graph, below)
		}
		isNew := false
		if of[rank], isNew = numbers.Number(own); isNew {
			own.rank = rank
			if kinds = append(kinds, own); len(kinds) > most {
				return nil, kinds
			}
		}
	}
	return symmetry.NewPartition(g, of, len(kinds)), kinds
}
