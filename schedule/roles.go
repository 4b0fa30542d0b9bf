package schedule

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/symmetry"
)

// Roles is a function that gives each rank its role, where no group maps ranks to each other, as in
// a tree. Ranks of one role run one program, in which their i-th peers correspond. It appends the
// rank's peers to the list: at least those that its program names; some may be equal.
type Roles func(rank int, peers []int32) (role int64, all []int32)

// mostPeers bounds how many peers a role has, and mostRoles how many roles a schedule has.
const (
	mostPeers = 64
	mostRoles = 1 << 14
)

// A roleKey is a role, and which of its peers are the same rank. Ranks that differ in this run
// different programs.
type roleKey struct {
	role  int64
	peers int
	same  [mostPeers]uint8 // index of the first peer that is the same rank
}

// A cast holds the roles of a schedule. A role's code names peers by their place in the list.
type cast struct {
	of      Roles
	numbers symmetry.Colours[roleKey]
	codes   []*code
	first   []int32 // of each role: the first rank that has it
	ranks   []int   // of each role: number of ranks
}

// place returns a rank's role and appends its peers.
func (c *cast) place(rank int, peers []int32) (roleKey, []int32) {
	role, peers := c.of(rank, peers)
	key := roleKey{role: role, peers: len(peers)}
	for i, peer := range peers {
		first := 0
		for peers[first] != peer {
			first++
		}
		if i == mostPeers { // too many; reported by castOf
			break
		}
		key.same[i] = uint8(first)
	}
	return key, peers
}

// code returns the program of a rank's role, and the rank's peers. The program names each peer by
// its index in that list.
func (c *cast) code(rank int) (*code, []int32) {
	key, peers := c.place(rank, make([]int32, 0, 8))
	return c.codes[c.numbers[key]], peers
}

// castOf writes the program of every role once, with peers named by their places.
func castOf(s *Schedule, of Roles,
	write func(rank int, peers []int32) (*code, error)) (*cast, error) {
	c := &cast{of: of, numbers: symmetry.Colours[roleKey]{}}
	var peers []int32
	var key roleKey
	for rank := range s.Spec.Ranks {
		key, peers = c.place(rank, peers[:0])
		for _, peer := range peers {
			if peer < 0 || int(peer) >= s.Spec.Ranks || int(peer) == rank {
				return nil, fmt.Errorf("%s: rank %d has peer %d: another rank of 0…%d is expected",
					s.Name, rank, peer, s.Spec.Ranks-1)
			}
		}
		if role, isNew := c.numbers.Number(key); !isNew {
			c.ranks[role]++
			continue
		}
		if len(peers) > mostPeers || len(c.codes) == mostRoles {
			return nil, fmt.Errorf("%s: rank %d is of role %d with %d peers: up to %d roles, "+
				"of up to %d peers each, are expected", s.Name, rank, len(c.codes), len(peers), mostRoles,
				mostPeers)
		}
		code, err := write(rank, peers)
		if err != nil {
			return nil, err
		}
		c.codes, c.first = append(c.codes, code), append(c.first, int32(rank))
		c.ranks = append(c.ranks, 1)
	}
	return c, nil
}

// named replaces the peers of a step by their places among the rank's peers.
func (l *Lane) named(s *Step) {
	s.peers(func(p *Peer) {
		for i, peer := range l.peers {
			if peer == p.Rank {
				p.Rank = int32(i)
				return
			}
		}
		l.misuse("rank %d is not among the peers of its role", p.Rank)
	})
	for i := range s.From {
		if s.From[i].Team != nil {
			l.misuse("a role names no team")
		}
	}
	for i := range s.Send {
		if s.Send[i].Team != nil {
			l.misuse("a role names no team")
		}
	}
}

// peers calls f with every peer of the step, except those in teams.
func (s *Step) peers(f func(*Peer)) {
	for i := range s.From {
		if k := s.From[i].Kind; k == Message || k == Get {
			f(&s.From[i].Peer)
		}
	}
	for i := range s.Send {
		if s.Send[i].Team == nil {
			f(&s.Send[i].Peer)
		}
	}
}

// AlikeInRoles reports whether ranks of a role move equal sizes in each step, at equal offsets. It
// is false if there are no roles.
func (s *Schedule) AlikeInRoles() bool {
	kind := s.Spec.Kind
	if s.cast == nil || s.composed() || len(s.Tensors) > 0 ||
		!vector(kind) && kind != collective.Gather && kind != collective.Scatter {
		return false
	}
	if kind.Rooted() { // only the root's buffers have their length
		if role, _ := s.RoleOf(s.Spec.Root, nil); s.cast.ranks[role] > 1 {
			return false
		}
	}
	for _, cut := range s.Cuts {
		for _, l := range cut {
			if l.Split == Table || l.ByRank {
				return false
			}
		}
	}
	return true
}

// Roles returns the number of roles (Plan.Roles), 0 if there are none.
func (s *Schedule) Roles() int {
	if s.cast == nil {
		return 0
	}
	return len(s.cast.codes)
}

// MostPeers returns the largest number of peers of a role, 0 without roles.
func (s *Schedule) MostPeers() (most int) {
	if s.cast != nil {
		for _, rank := range s.cast.first {
			key, _ := s.cast.place(int(rank), nil)
			most = max(most, key.peers)
		}
	}
	return most
}

// Role returns the first rank of a role, and the number of its ranks.
func (s *Schedule) Role(role int) (first, ranks int) {
	return int(s.cast.first[role]), s.cast.ranks[role]
}

// RoleOf returns the role of a rank; its peers are appended to a list.
//
// REQUIRES: there are roles.
func (s *Schedule) RoleOf(rank int, peers []int32) (role int32, all []int32) {
	key, own := s.cast.place(rank, peers[len(peers):])
	return s.cast.numbers[key], append(peers, own...)
}

// PeerGraph joins each rank to its peers, and returns the role of each rank. An arc's place is the
// peer's among the rank's peers, and its label the place at which the peer has the rank. Programs
// name the first place of a peer: arcs at others do not count.
//
// REQUIRES: there are roles.
func (s *Schedule) PeerGraph() (roles []int32, g symmetry.Graph) {
	ranks := s.Spec.Ranks
	roles, g.First = make([]int32, ranks), make([]int32, ranks+1)
	for rank := range ranks {
		roles[rank], g.To = s.RoleOf(rank, g.To)
		g.First[rank+1] = int32(len(g.To))
	}
	g.Back = make([]int8, len(g.To))
	for rank := range int32(ranks) {
		mine := g.Peers(rank)
		for i, peer := range mine {
			at := g.First[rank] + int32(i)
			if g.Back[at] = -1; slices.Index(mine, peer) == i {
				g.Back[at] = int8(slices.Index(g.Peers(peer), rank))
			}
		}
	}
	return roles, g
}

// ProgramOfRole returns the program of a role's first rank, with peers named by their places.
func (s *Schedule) ProgramOfRole(role int) *Program {
	places := make([]int32, mostPeers+1)
	for i := range places {
		places[i] = int32(i)
	}
	return &Program{schedule: s, code: s.cast.codes[role], peers: places,
		rank: s.cast.first[role]}
}
