package chakra

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/collective/calls"
	"collsim/internal/prose"
	"collsim/unit"
)

// channel is the key by which messages are matched, in the order of their ids.
type channel struct {
	from, to int
	tag      int64
}

// messages makes an op of each message that is sent and received.
func (w *works) messages() error {
	l := &calls.Log{Groups: make([]calls.Group, 1)}
	for rank := range w.nodes {
		r := calls.Rank{Number: rank}
		for i := range w.nodes[rank] {
			n := &w.nodes[rank][i]
			if n.kind != commSend && n.kind != commRecv {
				continue
			}
			end := n.end(0, i)
			if end.Peer == rank || end.Peer >= len(w.nodes) {
				return w.wrong(rank, int32(i), "%s = %d; another of %d ranks is expected",
					attrNames[map[bool]int{true: commDst, false: commSrc}[end.Sends]], end.Peer,
					len(w.nodes))
			}
			r.Calls = append(r.Calls, end)
		}
		l.Ranks = append(l.Ranks, r)
	}
	for _, m := range byChannel(l.Meet()) {
		if err := w.message(m); err != nil {
			return err
		}
	}
	return nil
}

// byChannel sorts messages by the first of each channel.
func byChannel(list []*calls.Meeting) []*calls.Meeting {
	place := map[channel]int{}
	of := func(m *calls.Meeting) channel { return channel{m.From, m.To, m.First().Tag} }
	for i, m := range list {
		if _, known := place[of(m)]; !known {
			place[of(m)] = i
		}
	}
	slices.SortStableFunc(list, func(a, b *calls.Meeting) int { return place[of(a)] - place[of(b)] })
	return list
}

// message makes an op of a message whose two ends agree.
func (w *works) message(m *calls.Meeting) error {
	a, b := m.Calls[0], m.Calls[1]
	switch {
	case b == nil:
		return w.wrong(m.From, int32(a.Own), "nobody receives it: comm_dst and comm_tag match no "+
			"COMM_RECV_NODE")
	case a == nil:
		return w.wrong(m.To, int32(b.Own), "nobody sends it: comm_src and comm_tag match no "+
			"COMM_SEND_NODE")
	}
	switch d, _ := m.Difference(); d.Field {
	case calls.TypeField:
		return w.wrong(m.To, int32(b.Own), "it receives %s; %s sends %s", b.Type, w.files[m.From].Name,
			a.Type)
	case calls.CountField:
		return w.wrong(m.To, int32(b.Own), "comm_size = %d; %s sends %d", b.Out, w.files[m.From].Name,
			a.In)
	}
	at := w.add(Work{Kind: collective.SendRecv, Bytes: unit.Bytes(a.In),
		Teams: [][]int{{m.From, m.To}}}, m.From, int32(a.Own))
	w.of[m.From][a.Own], w.of[m.To][b.Own] = at, at
	return nil
}

// sort brings the ops into a topological order.
func (w *works) sort() error {
	after := make([][]int, len(w.ops))
	for i := range w.ops {
		after[i] = w.ops[i].After
	}
	order := inTurns(after, func(a, b int) bool {
		return w.ids[a] < w.ids[b] || w.ids[a] == w.ids[b] && a < b
	})
	place := slices.Repeat([]int{-1}, len(w.ops))
	var sorted []Work
	for at, i := range order {
		place[i] = at
		sorted = append(sorted, w.ops[i])
	}
	if i := slices.Index(place, -1); i >= 0 {
		rank := w.ops[i].Teams[0][0]
		node := slices.Index(w.of[rank], int32(i))
		return w.wrong(rank, int32(node), "ranks wait for each other in a circle, by data_deps "+
			"and the collectives and messages that they make together: it is in one or behind one")
	}
	for i := range sorted {
		for j, on := range sorted[i].After {
			sorted[i].After[j] = place[on]
		}
		slices.Sort(sorted[i].After)
	}
	ids := make([]uint64, len(w.ids))
	for i, to := range place {
		ids[to] = w.ids[i]
	}
	w.ops, w.ids = sorted, ids
	return nil
}

// merge joins ops that do the same on different ranks and wait for the same ops. It cannot create a
// cycle: whatever one of them waits for, directly or not, each of the others waits for as well.
func (w *works) merge() {
	known := map[string]int{}
	place := make([]int, len(w.ops))
	var merged []Work
	for i := range w.ops {
		o := w.ops[i]
		for j, on := range o.After {
			o.After[j] = place[on]
		}
		slices.Sort(o.After)
		o.After = slices.Compact(o.After)
		key := fmt.Sprintf("%d %q %d %d %d %v %d %t %q %d %v", w.ids[i], o.Name, o.Kind, o.Bytes, o.Root,
			o.Splits, o.Time, o.CPU, o.Stream, len(o.Teams[0]), o.After)
		at, found := known[key]
		if !found || o.Kind == collective.SendRecv || o.tiling != merged[at].tiling ||
			!merged[at].join(&o) {
			at = len(merged)
			merged = append(merged, o)
			known[key] = at
		}
		place[i] = at
	}
	w.ops = merged
}

// join adds the ranks of another op, unless they share some.
func (o *Work) join(other *Work) bool {
	for _, team := range o.Teams {
		for _, rank := range team {
			if slices.Contains(other.Teams[0], rank) {
				return false
			}
		}
	}
	if o.Kind != 0 {
		o.Teams = append(o.Teams, other.Teams[0])
		slices.SortFunc(o.Teams, func(a, b []int) int { return a[0] - b[0] })
		return true
	}
	o.Teams[0] = append(o.Teams[0], other.Teams[0]...)
	slices.Sort(o.Teams[0])
	return true
}

// workload returns the ops with unique names.
func (w *works) workload() *Workload {
	var names prose.Names
	for i := range w.ops {
		w.ops[i].Name = names.Unique(w.ops[i].Name)
	}
	all := &Workload{Ranks: w.size(), Ops: w.ops, Notes: w.said}
	if w.left > 0 {
		all.Notes = append(all.Notes, fmt.Sprintf("nodes that take no time are left out, %d of them; "+
			"what they order stays", w.left))
	}
	return all
}
