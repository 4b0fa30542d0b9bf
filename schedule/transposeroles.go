package schedule

import (
	"fmt"
	"math"

	"collsim/symmetry"
)

// A transposition is the state of Transpose.
type transposition struct {
	s, t *Schedule
	sent *sentRounds
	used bool // scratch is used
	// written keeps the programs of ranks.
	written *programCache
}

// codes runs ranks backwards to find errors: one of each role, or rank 0 with a group, or all. It
// returns the first code if there is a group.
func (x *transposition) codes() (first *code, err error) {
	if x.s.cast != nil {
		x.t.cast, err = castOf(x.t, rolesBackwards(x.s), func(rank int, peers []int32) (*code, error) {
			if _, err := x.code(rank, nil); err != nil {
				return nil, err
			}
			return x.code(rank, peers)
		})
		return nil, err
	}
	for rank := range x.s.Spec.Ranks {
		c, err := x.code(rank, nil)
		if err != nil || x.t.Group != nil {
			return c, err
		}
	}
	return nil, nil
}

// code runs a rank backwards. It checks the result against the rules, unless that names peers by
// place.
func (x *transposition) code(rank int, peers []int32) (*code, error) {
	c, scratch, err := transposeCode(x.s, x.t, rank, x.sent, peers)
	x.used = x.used || scratch
	if err == nil && peers == nil { // the lanes of peers are the original's
		keep := checker{s: x.t, rank: int32(rank), lanes: func(int32) int32 { return math.MaxInt32 }}
		err = c.each(func(u *bundle, n *node, times []int32) error {
			return keep.bundle(u, c, n, times)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("transpose of %s: rank %d %w", x.s.Name, rank, err)
	}
	if peers == nil {
		x.written.store(int32(rank), c)
	}
	return c, nil
}

// rolesBackwards returns the roles of a schedule's transpose. Ranks of one role there have one role
// here. They have the same order among their peers, since operands of the transpose are in rank
// order. And they receive in the same rounds, since messages go back in these.
func rolesBackwards(s *Schedule) Roles {
	sent, numbers := sentToPlaces(s), symmetry.Colours[string]{}
	roles, g := s.PeerGraph()
	return func(rank int, peers []int32) (int64, []int32) {
		key := appendNumbers(make([]byte, 0, 128), roles[rank])
		key = appendFlags(key, s.Spec.Kind.Rooted() && rank == s.Spec.Root)
		own := g.Peers(int32(rank))
		for i, peer := range own {
			lower := int32(0) // number of lower ones among the rank and the peers before
			for _, other := range own[:i] {
				if other < peer {
					lower++
				}
			}
			if int32(rank) < peer {
				lower++
			}
			rounds := int32(-1)
			if back := g.Back[int(g.First[rank])+i]; back >= 0 {
				rounds = sent[roles[peer]][back]
			}
			key = appendNumbers(key, lower, rounds)
		}
		number, _ := symmetry.NumberText(numbers, key) // all are known after all ranks were asked for
		return int64(number), append(peers, own...)
	}
}

// sentToPlaces numbers what each role sends to the peer at each place: connections and rounds.
func sentToPlaces(s *Schedule) [][]int32 {
	numbers, list := symmetry.Colours[string]{}, make([][]int32, s.Roles())
	var step Step
	for role := range list {
		texts := make([][]byte, mostPeers+1)
		p := s.ProgramOfRole(role)
		for lane := range p.Lanes() {
			for c := p.Walk(lane); !c.Done(); c.Next(1) {
				p.Load(&c, &step)
				for i := range step.Send {
					d := &step.Send[i].Peer
					texts[d.Rank] = appendNumbers(texts[d.Rank], int32(lane), d.Lane, int32(d.Class),
						d.Tag, step.Round)
				}
			}
		}
		for _, text := range texts {
			number, _ := symmetry.NumberText(numbers, text)
			list[role] = append(list[role], number)
		}
	}
	return list
}
