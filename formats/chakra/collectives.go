package chakra

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/formats/internal/opgraph"
	"collsim/internal/prose"
)

// team holds the ranks that take part in collectives together.
type team struct {
	name    string
	members string    // its ranks, where the files have them
	ranks   []int32   // in order
	ops     [][]int32 // collectives of each rank, in the order of its requests
	tiling  *tiling   // where a file stands for many ranks, all teams that are shifted alike
}

// size returns the number of ranks that are in it, with and without files.
func (g *team) size() int {
	if g.tiling != nil {
		return len(g.tiling.teams[0])
	}
	return len(g.ranks)
}

// collectives replaces every collective by a barrier of its group, after checking that all ranks
// request the same.
func (t *trace) collectives() {
	for _, g := range t.groups() {
		if len(g.ranks) > 1 {
			t.order(g)
			t.alike(g)
		}
		for k := range g.ops[0] {
			t.ask(t.requested(g, k))
		}
		t.unmet(g)
		// A collective that some ranks do not request would never happen. It is reported, and the
		// others do not wait for it.
		for k := range slices.MinFunc(g.ops, func(a, b []int32) int { return len(a) - len(b) }) {
			t.barrier(g, k)
		}
	}
	t.leave()
}

// node returns a rank's k-th collective in a group.
func (t *trace) node(g *team, member, k int) *node {
	return &t.nodes[g.ranks[member]][g.ops[member][k]]
}

// requested describes the collective that a group requests. If ranks contribute lists of different
// lengths, it names the kind with splits.
func (t *trace) requested(g *team, k int) string {
	n := t.node(g, 0, k)
	for member := range g.ranks {
		if k >= len(g.ops[member]) {
			break
		}
		m := t.node(g, member, k)
		if m.lists && n.lists && (m.request() != n.request() || !equalParts(m.to)) {
			return fmt.Sprintf("%vv of different lengths", kinds[n.attrs[commType]])
		}
	}
	return n.request()
}

// equalParts reports whether all lengths are equal.
func equalParts(parts []int64) bool {
	return len(parts) == 0 || slices.Min(parts) == slices.Max(parts)
}

// ask counts a request.
func (t *trace) ask(text string) {
	i, known := t.askedBy[text]
	if !known {
		i = len(t.asked)
		t.askedBy[text], t.asked = i, append(t.asked, asked{text, 0})
	}
	t.asked[i].count++
}

// groups collects the groups, in the order of their first use. The one without a name has all
// ranks, others the ranks that request collectives in it.
func (t *trace) groups() (all []*team) {
	byName := map[string]*team{}
	for rank := range t.nodes {
		for i := range t.nodes[rank] {
			n := &t.nodes[rank][i]
			if n.kind != commColl || !n.given[commType] {
				continue
			}
			g := byName[n.group+n.members]
			if g == nil {
				g = &team{name: n.group, members: n.members, tiling: n.tiling}
				for r := range t.nodes {
					if n.group == "" && n.members == "" {
						g.ranks, g.ops = append(g.ranks, int32(r)), append(g.ops, nil)
					}
				}
				byName[n.group+n.members] = g
				all = append(all, g)
			}
			member := rank
			if n.group != "" || n.members != "" {
				if m := len(g.ranks); m == 0 || g.ranks[m-1] != int32(rank) {
					g.ranks, g.ops = append(g.ranks, int32(rank)), append(g.ops, nil)
				}
				member = len(g.ranks) - 1
			}
			g.ops[member] = append(g.ops[member], int32(i))
		}
	}
	for _, g := range all {
		t.complete(g)
	}
	return all
}

// complete adds the members of a group that have a file and request nothing in it.
func (t *trace) complete(g *team) {
	for _, text := range strings.Fields(strings.Trim(g.members, "[]")) {
		rank, err := strconv.ParseInt(text, 10, 32)
		at, found := slices.BinarySearch(g.ranks, int32(rank))
		if err == nil && !found && int(rank) < len(t.nodes) && len(t.nodes) > 1 {
			g.ranks, g.ops = slices.Insert(g.ranks, at, int32(rank)), slices.Insert(g.ops, at, nil)
		}
	}
}

// alone reports whether a group with one rank was meant to have just that one.
func (g *team) alone() bool {
	return g.size() == 1 && (g.members == "" || g.members == fmt.Sprint(g.ranks))
}

// unmet notes that calls of a group are not held against those of members that have no file.
func (t *trace) unmet(g *team) {
	if absent := t.absent(g); len(absent) > 0 {
		t.said = append(t.said, fmt.Sprintf("group %q has ranks %s, and there is no file of %s: calls "+
			"are held against those of the others alone", g.name, prose.Ranks(numbers(g.members)),
			prose.Ranks(absent)))
	} else if len(t.nodes) == 1 && g.members == "" {
		t.said = append(t.said, "there is one rank's file: its calls are held against no other's")
	}
}

// absent returns the members of a group that have no file.
func (t *trace) absent(g *team) (list []int) {
	if g.tiling != nil {
		return nil
	}
	for _, text := range strings.Fields(strings.Trim(g.members, "[]")) {
		if rank, err := strconv.Atoi(text); err == nil && rank >= len(t.nodes) {
			list = append(list, rank)
		}
	}
	return list
}

// of names the group in errors.
func (g *team) of() string {
	if g.name == "" {
		return ""
	}
	return fmt.Sprintf(" of group %q", g.name)
}

// firstTag is above all tags of messages; each collective has one of its own.
const firstTag = int64(1) << 32

// barrier makes the k-th collectives of a group a dissemination barrier. In round i a member
// signals the one 2^i further that it has come, and so have all from which it has signals. Nodes
// that waited for the collective then wait for the last round.
//
// D. Hensgen, R. Finkel and U. Manber, "Two Algorithms for Barrier Synchronization", International
// Journal of Parallel Programming 17(1), 1988.
func (t *trace) barrier(g *team, k int) {
	p := len(g.ranks)
	if p == 1 {
		return
	}
	tag := firstTag + t.barriers
	t.barriers++
	for member, rank := range g.ranks {
		r := &t.ranks[rank]
		node := g.ops[member][k]
		add := func(o opgraph.Op, on ...int32) int32 {
			op := int32(len(r.Ops))
			r.Ops, t.owner[rank] = append(r.Ops, o), append(t.owner[rank], node)
			for _, x := range on {
				r.Edges = append(r.Edges, opgraph.Edge{Op: op, On: x})
			}
			return op
		}
		last := []int32{node}
		for d := 1; d < p; d *= 2 {
			to, from := g.ranks[(member+d)%p], g.ranks[(member+p-d)%p]
			send := add(opgraph.Op{Kind: opgraph.Send, Peer: to, Tag: tag}, last...)
			recv := add(opgraph.Op{Kind: opgraph.Recv, Peer: from, Tag: tag}, last...)
			last = []int32{send, recv}
		}
		t.exits[rank][node] = add(opgraph.Op{Kind: opgraph.Calc}, last...)
	}
}

// leave redirects dependencies on a collective to the last round of its barrier. Data dependencies
// come first among a rank's edges.
func (t *trace) leave() {
	for rank := range t.ranks {
		for i := range t.ranks[rank].Edges[:t.deps[rank]] {
			e := &t.ranks[rank].Edges[i]
			if exit, found := t.exits[rank][e.On]; found {
				e.On = exit
			}
		}
	}
}
