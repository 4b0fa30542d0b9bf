package fold

import (
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/topology"
	"collsim/unit"
)

// partition divides the ranks into classes whose members all do the same. It begins with their
// kinds. A class is divided when the run finds that two of its members differ (refinement.go).
type partition struct {
	of       []int32    // the class of each rank
	order    []int32    // ranks by class
	from, to []int32    // of each class, in order
	edges    [][][]edge // of each class, by place

	first, peers []int32 // of each rank, its peers
	back         []int32 // of each peer, at which of its places it has the rank; −1: at none
}

// edge says how many members of a class have, at a place, a peer of a class, which has them at a
// place of its own.
type edge struct{ class, back, count int32 }

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

// newPartition has a class for each kind of rank. Of more than so many kinds it is not complete.
func newPartition(s *schedule.Schedule, env *model.Env, most int) (*partition, []kind) {
	ranks := s.Spec.Ranks
	p := &partition{of: make([]int32, ranks), order: make([]int32, ranks),
		first: make([]int32, ranks+1)}
	var kinds []kind
	all := lineOf(env.Graph, 0)
	differ := len(env.Graph.Changes()) > 0
	known := map[kind]int32{} // is looked up only
	for rank := range int32(ranks) {
		of := kind{start: at(env.Start, rank), slowdown: at(env.Slowdown, rank), up: all, down: all}
		if differ {
			above, below := env.Graph.Spokes(rank)
			of.up, of.down = lineOf(env.Graph, above), lineOf(env.Graph, below)
		}
		of.role, p.peers = s.RoleOf(int(rank), p.peers)
		p.first[rank+1] = int32(len(p.peers))
		class, isKnown := known[of]
		if !isKnown {
			class = int32(len(kinds))
			known[of] = class
			of.rank = rank
			if kinds = append(kinds, of); len(kinds) > most {
				return p, kinds
			}
			p.edges = append(p.edges, make([][]edge, p.first[rank+1]-p.first[rank]))
			p.to = append(p.to, 0)
		}
		p.of[rank] = class
		p.to[class]++
	}
	sum := int32(0)
	for class, size := range p.to {
		p.from = append(p.from, sum)
		p.to[class] = sum
		sum += size
	}
	for rank, class := range p.of {
		p.order[p.to[class]] = int32(rank)
		p.to[class]++
	}
	p.back = make([]int32, len(p.peers))
	for rank := range int32(ranks) {
		mine := p.peersOf(rank)
		for i, peer := range mine {
			at := p.first[rank] + int32(i)
			p.back[at] = -1
			if slices.Index(mine, peer) == i { // programs name the first place
				p.back[at] = int32(slices.Index(p.peersOf(peer), rank))
			}
		}
	}
	for rank := range int32(ranks) {
		for i := range p.edges[p.of[rank]] {
			if back := p.back[p.first[rank]+int32(i)]; back >= 0 {
				p.add(p.of[rank], i, p.of[p.peersOf(rank)[i]], back, 1)
			}
		}
	}
	return p, kinds
}

func (p *partition) peersOf(rank int32) []int32 { return p.peers[p.first[rank]:p.first[rank+1]] }

// members returns the ranks of a class; the first stands for all.
func (p *partition) members(class int32) []int32 { return p.order[p.from[class]:p.to[class]] }

func (p *partition) size(class int32) int32 { return p.to[class] - p.from[class] }

// add adds members to an edge.
func (p *partition) add(class int32, place int, other, back, count int32) {
	list := p.edges[class][place]
	for i := range list {
		if e := &list[i]; e.class == other && e.back == back {
			if e.count += count; e.count == 0 {
				list[i] = list[len(list)-1]
				p.edges[class][place] = list[:len(list)-1]
			}
			return
		}
	}
	p.edges[class][place] = append(list, edge{other, back, count})
}

// count returns the number of members of a class that have a peer of class other at a place, where
// the peer has them at its place back.
func (p *partition) count(class, place, other, back int32) int32 {
	for _, e := range p.edges[class][place] {
		if e.class == other && e.back == back {
			return e.count
		}
	}
	return 0
}

// divide splits a class into the members for which such returns true, and the rest. The smaller
// part becomes a new class, whose number it returns.
//
// REQUIRES: such returns true for some members, and false for others.
func (p *partition) divide(class int32, such func(rank int32) bool) int32 {
	all := p.members(class)
	end := len(all)
	for i := 0; i < end; {
		if !such(all[i]) {
			i++
			continue
		}
		end--
		all[i], all[end] = all[end], all[i]
	}
	if 2*end < len(all) {
		slices.Reverse(all)
		end = len(all) - end
	}
	fresh, middle := int32(len(p.from)), p.from[class]+int32(end)
	p.from, p.to = append(p.from, middle), append(p.to, p.to[class])
	p.to[class] = middle
	moved := p.members(fresh)
	for _, rank := range moved {
		p.of[rank] = fresh
	}
	p.edges = append(p.edges, make([][]edge, len(p.edges[class])))
	for _, rank := range moved {
		p.reconnect(rank, class, fresh)
	}
	return fresh
}

// reconnect moves what edges count of a rank from its class to the new one.
func (p *partition) reconnect(rank, class, fresh int32) {
	for i := range p.edges[class] {
		at := p.first[rank] + int32(i)
		back := p.back[at]
		if back < 0 {
			continue
		}
		to := p.of[p.peers[at]]
		was := to
		if to == fresh {
			was = class
		}
		p.add(class, i, was, back, -1)
		p.add(fresh, i, to, back, 1)
		if to != fresh {
			p.add(to, int(back), class, int32(i), -1)
			p.add(to, int(back), fresh, int32(i), 1)
		}
	}
}
