package hlo

import (
	"slices"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/opgraph"
)

// graph converts a program to messages without data.
type graph struct {
	program *Program
	ranks   []opgraph.Rank
	ends    [][]int32 // by rank and op: the operation that ends it
	tags    int64
}

// file lowers the program. An op in which each rank sends to one becomes messages; any other
// collective becomes a barrier of its team, since no algorithm is known.
func (g *graph) file(o *foreign.Options) (*foreign.File, error) {
	for k := range g.program.Ops {
		p := &g.program.Ops[k]
		first := make([]int32, len(g.ranks))
		for rank := range g.ranks {
			first[rank] = g.add(rank, opgraph.Op{Kind: opgraph.Calc, Line: int32(p.Line)})
			for _, on := range p.After {
				g.ranks[rank].Edges = append(g.ranks[rank].Edges,
					opgraph.Edge{Op: first[rank], On: g.ends[rank][on]})
			}
			g.ends[rank] = append(g.ends[rank], first[rank])
		}
		for _, team := range p.Teams {
			g.team(p, team, first)
		}
	}
	lowered := opgraph.Graph{Format: "hlo", Name: g.program.Name, Ranks: g.ranks, Simulator: "XLA"}
	lowered.Where = func(rank, op int) foreign.Place {
		return foreign.Place{Line: int(g.ranks[rank].Ops[op].Line), Block: -1, Step: -1}
	}
	f, err := lowered.Lower(o)
	if err != nil {
		return nil, err
	}
	f.Notes = append(g.program.Notes, f.Notes...)
	return f, nil
}

// add adds an operation of a rank after others.
func (g *graph) add(rank int, o opgraph.Op, on ...int32) int32 {
	r := &g.ranks[rank]
	op := int32(len(r.Ops))
	r.Ops = append(r.Ops, o)
	for _, x := range on {
		r.Edges = append(r.Edges, opgraph.Edge{Op: op, On: x})
	}
	return op
}

// team adds the operations of a team. send_recv sends around a ring, a permute to each target, a
// broadcast between two ranks from the first to the second. All else is a dissemination barrier.
func (g *graph) team(p *Op, team []int, first []int32) {
	n, bytes, most := len(team), int64(0), len(team)
	isExchange := p.Call.Kind == collective.AllToAllV
	if p.Call.Kind == collective.SendRecv || isExchange ||
		p.Call.Kind == collective.Broadcast && n == 2 {
		most = 2
		for _, t := range p.Tensors {
			bytes += t.Shape.Elements() * int64(t.Type.Width())
		}
	}
	last := make([][]int32, n)
	for i, rank := range team {
		last[i] = []int32{first[rank]}
	}
	for d := 1; d < most; d *= 2 {
		next := make([][]int32, n)
		for i, rank := range team {
			to := (i + d) % n
			if isExchange {
				if to = slices.Index(p.Call.Splits[i], 1); to < 0 {
					continue
				}
			}
			if p.Call.Kind == collective.Broadcast && most == 2 && to == 0 {
				continue
			}
			o := opgraph.Op{Tag: g.tags, Bytes: bytes, Line: int32(p.Line)}
			o.Kind, o.Peer = opgraph.Send, int32(team[to])
			next[i] = append(next[i], g.add(rank, o, last[i]...))
			o.Kind, o.Peer = opgraph.Recv, int32(rank)
			next[to] = append(next[to], g.add(team[to], o, last[to]...))
		}
		last = next
		g.tags++
	}
	for i, rank := range team {
		end := g.add(rank, opgraph.Op{Kind: opgraph.Calc, Line: int32(p.Line)}, last[i]...)
		g.ends[rank][len(g.ends[rank])-1] = end
	}
}
