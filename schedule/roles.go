package schedule

import (
	"fmt"

	"collsim/collective"
)

// Roles is what ranks do alike where no group takes one to the other, as in a tree: ranks of one
// role run one program, in which the i-th peers of each stand for each other. It appends a rank's
// peers, those that its program names at least, to a list; some of them may be the same.
type Roles func(rank int, peers []int32) (role int64, all []int32)

// mostPeers bounds how many peers a role has, and mostRoles how many roles a schedule has.
const (
	mostPeers = 64
	mostRoles = 1 << 14
)

// roleKey is a role, and which of its peers are the same rank: ranks that differ in this do not run
// one program.
type roleKey struct {
	role  int64
	peers int
	same  [mostPeers]uint8 // the first that is the same rank
}

// cast is the roles of a schedule. The code of one names peers by their place in the list.
type cast struct {
	of      Roles
	numbers map[roleKey]int32
	codes   []*code
	first   []int32 // of each role, the rank that has been asked for it
	ranks   []int   // how many have it
}

// place is a rank's role and peers.
func (c *cast) place(rank int, peers []int32) (roleKey, []int32) {
	role, peers := c.of(rank, peers)
	key := roleKey{role: role, peers: len(peers)}
	for i, peer := range peers {
		first := 0
		for peers[first] != peer {
			first++
		}
		if i == mostPeers { // more than there may be
			break
		}
		key.same[i] = uint8(first)
	}
	return key, peers
}

// code is what a rank runs, and the peers that it names.
func (c *cast) code(rank int) (*code, []int32) {
	key, peers := c.place(rank, make([]int32, 0, 8))
	return c.codes[c.numbers[key]], peers
}

// castOf has every role written once, with peers named by their places.
func castOf(s *Schedule, of Roles,
	write func(rank int, peers []int32) (*code, error)) (*cast, error) {
	c := &cast{of: of, numbers: map[roleKey]int32{}}
	var peers []int32
	var key roleKey
	for rank := range s.Spec.Ranks {
		key, peers = c.place(rank, peers[:0])
		for _, peer := range peers {
			if peer < 0 || int(peer) >= s.Spec.Ranks || int(peer) == rank {
				return nil, fmt.Errorf("schedule: %s: rank %d has peer %d: another rank of 0…%d is expected",
					s.Name, rank, peer, s.Spec.Ranks-1)
			}
		}
		if role, known := c.numbers[key]; known {
			c.ranks[role]++
			continue
		}
		if len(peers) > mostPeers || len(c.codes) == mostRoles {
			return nil, fmt.Errorf("schedule: %s: rank %d is of role %d with %d peers: up to %d roles, "+
				"of up to %d peers each, are expected", s.Name, rank, len(c.codes), len(peers), mostRoles,
				mostPeers)
		}
		code, err := write(rank, peers)
		if err != nil {
			return nil, err
		}
		c.numbers[key] = int32(len(c.codes))
		c.codes, c.first = append(c.codes, code), append(c.first, int32(rank))
		c.ranks = append(c.ranks, 1)
	}
	return c, nil
}

// named has a step name peers by their place among a rank's peers.
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

// peers calls f with every peer that the step names, but for those in teams.
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

// AlikeInRoles reports whether there are roles, and ranks of a role move as much in each step,
// since blocks lie at one place on all ranks.
func (s *Schedule) AlikeInRoles() bool {
	kind := s.Spec.Kind
	if s.cast == nil || s.composed() || len(s.Tensors) > 0 ||
		!vector(kind) && kind != collective.Gather && kind != collective.Scatter {
		return false
	}
	if kind.Rooted() { // the root's buffers are as long as nobody else's
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

// Roles is how many roles ranks have (Plan.Roles), 0 where they have none.
func (s *Schedule) Roles() int {
	if s.cast == nil {
		return 0
	}
	return len(s.cast.codes)
}

// MostPeers is how many peers a rank has at most whose role names them, 0 without roles.
func (s *Schedule) MostPeers() (most int) {
	if s.cast != nil {
		for _, rank := range s.cast.first {
			key, _ := s.cast.place(int(rank), nil)
			most = max(most, key.peers)
		}
	}
	return most
}

// Role is the first rank of a role, and how many ranks have it.
func (s *Schedule) Role(role int) (first, ranks int) {
	return int(s.cast.first[role]), s.cast.ranks[role]
}

// RoleOf is which role a rank has; its peers are appended to a list.
//
// REQUIRES: there are roles.
func (s *Schedule) RoleOf(rank int, peers []int32) (role int32, all []int32) {
	key, own := s.cast.place(rank, peers[len(peers):])
	return s.cast.numbers[key], append(peers, own...)
}

// ProgramOfRole is what the ranks of a role run, with peers named by their places: of the first of
// them.
func (s *Schedule) ProgramOfRole(role int) *Program {
	places := make([]int32, mostPeers+1)
	for i := range places {
		places[i] = int32(i)
	}
	return &Program{schedule: s, code: s.cast.codes[role], peers: places,
		rank: s.cast.first[role]}
}
