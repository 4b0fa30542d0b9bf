package hlo

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/opgraph"
)

// graph converts a program to messages without data.
type graph struct {
	program *Program
	ranks   []opgraph.Rank
	ends    [][]int32 // by rank and call: the operation that ends it
	tags    int64
}

// file lowers the calls of a program; its kernels take no time. An op in which each rank sends to
// one becomes messages; any other collective becomes a barrier of its team, since no algorithm is
// known. Of more than maxMessages there is no schedule: the proof of so many would take too much
// memory, and all ranks make the same calls in one order, so that none waits for ever.
func (g *graph) file(o *foreign.Options) (*foreign.File, error) {
	calls, waits := ordered(g.program)
	if n := messages(calls); n > maxMessages {
		note := fmt.Sprintf("all ranks make the same %d calls in one order, so that none waits for "+
			"ever; they are too many (%d messages) to be proven one by one", len(calls), n)
		return &foreign.File{Format: "hlo", Name: g.program.Name, Calls: listing(g.program),
			Notes: append(g.program.Notes, note)}, nil
	}
	total := len(calls)
	for _, on := range waits {
		total += len(on)
	}
	if n := len(g.ranks); n > opgraph.MaxRanks || total > maxWaits/n {
		return nil, &foreign.Error{File: o.File, Text: fmt.Sprintf("%d ranks make %d calls that wait "+
			"for %d: that is too much", n, len(calls), total)}
	}
	for rank := range g.ranks { // a rank that takes part in nothing does something all the same
		g.add(rank, opgraph.Op{Kind: opgraph.Calc, Line: 1})
	}
	for n, p := range calls {
		first := make([]int32, len(g.ranks))
		for rank := range g.ranks {
			first[rank] = g.add(rank, opgraph.Op{Kind: opgraph.Calc, Line: int32(p.Line)})
			for _, on := range waits[n] {
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
	f.Notes, f.Calls = append(g.program.Notes, f.Notes...), listing(g.program)
	return f, nil
}

// maxMessages bounds the messages of a schedule.
const maxMessages = 1 << 14

// messages returns an upper bound of the messages of calls: those of barriers.
func messages(calls []*Op) (n int) {
	for _, o := range calls {
		for _, team := range o.Teams {
			for d := 1; d < len(team); d *= 2 {
				n += len(team)
			}
		}
	}
	return n
}

// ordered lists the calls of a program, and by call those that it waits for: the last one before it
// that is not asynchronous, and of the asynchronous ones those whose result it needs.
func ordered(p *Program) (calls []*Op, waits [][]int) {
	needs := make([][]int, len(p.Ops)) // by op: calls whose end is not known to be before it
	last, ended := -1, map[int]bool{}
	for k := range p.Ops {
		o := &p.Ops[k]
		var on []int
		for _, before := range o.After {
			on = append(on, needs[before]...)
		}
		slices.Sort(on)
		on = slices.DeleteFunc(slices.Compact(on), func(n int) bool { return ended[n] })
		if needs[k] = on; o.Call == nil {
			continue
		}
		if last >= 0 {
			on = append(slices.Clone(on), last)
		}
		waits, needs[k] = append(waits, on), []int{len(calls)}
		if !o.Async { // all that comes behind it waits for it
			last = len(calls)
			for _, n := range append(on, last) {
				ended[n] = true
			}
		}
		calls = append(calls, o)
	}
	return calls, waits
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
			o := opgraph.Op{Tag: g.tags, Amount: bytes, Line: int32(p.Line)}
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
