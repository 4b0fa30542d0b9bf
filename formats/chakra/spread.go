package chakra

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/internal/prose"
	"collsim/unit"
)

// distance identifies messages that go equally far: from a stage, to the rank so many places
// further in its team, with a tag.
type distance struct {
	stage   int // of the sender
	of      *tiling
	further int // modulo the ranks of a team
	tag     int64
}

// shiftedMessages makes an op of each message that the ranks of a stage send: as many as they are,
// each to the rank that is as far from its sender as in the file. Sends and receives of equal
// distances are matched in the order of their ids.
func (w *works) shiftedMessages() error {
	s := w.stages
	waiting := map[distance][][2]int32{} // sends by file and node
	for rank := range w.nodes {
		for i := range w.nodes[rank] {
			n := &w.nodes[rank][i]
			if n.kind != commSend {
				continue
			}
			key, err := s.distance(n, s.own[rank], n.attrs[commDst])
			if err != nil {
				return w.wrong(rank, int32(i), "%v", err)
			}
			waiting[key] = append(waiting[key], [2]int32{int32(rank), int32(i)})
		}
	}
	for rank := range w.nodes {
		for i := range w.nodes[rank] {
			n := &w.nodes[rank][i]
			if n.kind != commRecv {
				continue
			}
			key, err := s.distance(n, s.own[rank], n.attrs[commSrc])
			if err != nil {
				return w.wrong(rank, int32(i), "%v", err)
			}
			sends := waiting[key]
			if len(sends) == 0 {
				return w.wrong(rank, int32(i), "no file has what is received here: a send by %s to the rank "+
					"%d places further in its group; ranks_alike = \"stage\" takes a file a stage of a "+
					"pipeline", s.whose(key.stage), key.further)
			}
			waiting[key] = sends[1:]
			if err := w.shifted(key, sends[0], [2]int32{int32(rank), int32(i)}); err != nil {
				return err
			}
		}
	}
	return w.unreceived()
}

// unreceived reports the first message that no file receives.
func (w *works) unreceived() error {
	for rank := range w.nodes {
		for i := range w.nodes[rank] {
			if n := &w.nodes[rank][i]; n.kind == commSend && w.of[rank][i] == none {
				return w.wrong(rank, int32(i), "no file receives it from %s: ranks_alike = \"stage\" takes a "+
					"file a stage of a pipeline", w.stages.whose(rank))
			}
		}
	}
	return nil
}

// whose names the ranks of a stage.
func (s *stages) whose(stage int) string {
	if len(s.own) == 1 {
		return "each rank"
	}
	return fmt.Sprintf("each rank of stage %d", stage)
}

// distance returns how far a message goes between a file's rank and another.
func (s *stages) distance(n *node, own int, peer int64) (key distance, err error) {
	of := n.tiling
	if peer >= int64(s.ranks) || of.of[peer] != of.of[own] || int(peer) == own {
		return key, fmt.Errorf("its peer is %d; another rank of its group is expected", peer)
	}
	p := len(of.teams[0])
	from, to := own, int(peer)
	if n.kind == commRecv {
		from, to = to, from
	}
	return distance{s.of[from], of, (of.at[to] - of.at[from] + p) % p, n.attrs[commTag]}, nil
}

// shifted makes an op of messages whose two ends agree.
func (w *works) shifted(key distance, send, recv [2]int32) error {
	a, b := &w.nodes[send[0]][send[1]], &w.nodes[recv[0]][recv[1]]
	switch {
	case a.element != b.element:
		return w.wrong(int(recv[0]), recv[1], "it receives %s; %s sends %s", elementTypes[b.element].name,
			w.files[send[0]].Name, elementTypes[a.element].name)
	case a.attrs[commSize] != b.attrs[commSize]:
		return w.wrong(int(recv[0]), recv[1], "comm_size = %d; %s sends %d", b.attrs[commSize],
			w.files[send[0]].Name, a.attrs[commSize])
	}
	teams, places, err := w.stages.senders(key, w.stages.of[w.stages.own[recv[0]]])
	if err != nil {
		return w.wrong(int(send[0]), send[1], "%v", err)
	}
	at := w.add(exchange(key, teams, places, a.attrs[commSize]), int(send[0]), send[1])
	w.of[send[0]][send[1]], w.of[recv[0]][recv[1]] = at, at
	return nil
}

// senders returns the teams in which ranks of a stage send, and at which places these stand, which
// must be the same in all. All must send to one stage.
func (s *stages) senders(key distance, to int) (teams [][]int, places []int, err error) {
	for _, team := range key.of.teams {
		var own []int
		for place, rank := range team {
			if s.of[rank] != key.stage {
				continue
			}
			own = append(own, place)
			if peer := team[(place+key.further)%len(team)]; s.of[peer] != to {
				return nil, nil, fmt.Errorf("with it rank %d would send to rank %d, which does not receive it",
					rank, peer)
			}
		}
		switch {
		case own == nil:
			continue
		case places == nil:
			places = own
		case !slices.Equal(places, own):
			return nil, nil, fmt.Errorf("ranks of its stage are at other places in %s than in %s",
				prose.Ranks(team), prose.Ranks(teams[0]))
		}
		teams = append(teams, team)
	}
	if len(places) > 1 && len(teams[0]) > maxPermuted {
		return nil, nil, fmt.Errorf("messages among %d ranks at once; at most %d are possible",
			len(teams[0]), maxPermuted)
	}
	return teams, places, nil
}

// exchange makes the op of messages from these places in each team. From one it is a message; of
// several ranks each may send and receive, which is a permutation.
func exchange(key distance, teams [][]int, places []int, bytes int64) Work {
	o := Work{Kind: collective.SendRecv, Bytes: unit.Bytes(bytes), tiling: key.of}
	p := len(teams[0])
	if len(places) == 1 {
		for _, team := range teams {
			o.Teams = append(o.Teams, []int{team[places[0]], team[(places[0]+key.further)%p]})
		}
		return o
	}
	o.Kind, o.Permute, o.Teams = collective.AllToAllV, true, teams
	for place := range p {
		row := make([]int64, p)
		if slices.Contains(places, place) {
			row[(place+key.further)%p] = bytes
		}
		o.Splits = append(o.Splits, row)
	}
	return o
}

// maxPermuted bounds the ranks of a team that send to each other in one op.
const maxPermuted = 4096

// size returns the number of ranks.
func (w *works) size() int {
	if w.stages != nil {
		return w.stages.ranks
	}
	return len(w.nodes)
}

// spread gives ops the ranks for which their files stand.
func (w *works) spread() {
	if w.stages == nil {
		return
	}
	for i := range w.ops {
		o := &w.ops[i]
		among := make([]bool, len(w.stages.lists))
		for _, team := range o.Teams {
			for _, file := range team {
				if o.Kind != collective.SendRecv && !o.Permute {
					among[file] = true
				}
			}
		}
		switch {
		case o.Kind == collective.SendRecv || o.Permute:
		case o.Kind == 0:
			var ranks []int
			for file, is := range among {
				if is {
					ranks = append(ranks, w.stages.lists[file]...)
				}
			}
			o.Teams = [][]int{slices.Sorted(slices.Values(ranks))}
		default:
			o.Teams = slices.DeleteFunc(slices.Clone(o.tiling.teams), func(team []int) bool {
				return !among[w.stages.of[team[0]]]
			})
		}
	}
}
