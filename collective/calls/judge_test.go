package calls_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/collective/calls"
	"collsim/internal/tier"
)

// asked is a call of a random program: what a rank asks for, in a group.
type asked struct {
	group int
	kind  collective.Kind
	count int64
	typ   string
	root  int
}

// program has the calls of every rank, which all groups make in one common order: it cannot hang.
type program struct {
	groups [][]int
	ranks  [][]asked
}

func randomProgram(r *rand.Rand) program {
	p := program{ranks: make([][]asked, 2+r.IntN(7))}
	for range 1 + r.IntN(4) {
		group := r.Perm(len(p.ranks))[:2+r.IntN(len(p.ranks)-1)]
		slices.Sort(group)
		p.groups = append(p.groups, group)
	}
	kinds := []collective.Kind{collective.AllReduce, collective.AllGather, collective.Broadcast,
		collective.ReduceScatter, collective.Reduce}
	for range 3 + r.IntN(30) {
		g := r.IntN(len(p.groups))
		a := asked{g, kinds[r.IntN(len(kinds))], int64(1+r.IntN(3)) * 256, "bfloat16", -1}
		if a.kind.Rooted() {
			a.root = p.groups[g][r.IntN(len(p.groups[g]))]
		}
		for _, rank := range p.groups[g] {
			p.ranks[rank] = append(p.ranks[rank], a)
		}
	}
	return p
}

// mutation changes a rank's calls from place at on.
type mutation struct {
	name     string
	rank, at int
	group    int // of the changed call
	call     int // its number there
}

// mutate changes a call of a rank.
func (p *program) mutate(r *rand.Rand) (m mutation) {
	for m.rank = r.IntN(len(p.ranks)); len(p.ranks[m.rank]) == 0; m.rank = r.IntN(len(p.ranks)) {
	}
	list := slices.Clone(p.ranks[m.rank])
	m.at = r.IntN(len(list))
	one := &list[m.at]
	m.group = one.group
	for _, a := range list[:m.at] {
		if a.group == m.group {
			m.call++
		}
	}
	switch what := r.IntN(6); {
	case what == 0:
		m.name, list = "drop", slices.Delete(list, m.at, m.at+1)
	case what == 1 && m.at+1 < len(list):
		m.name = "swap"
		list[m.at], list[m.at+1] = list[m.at+1], list[m.at]
	case what == 2:
		m.name, one.count = "count", one.count+1
	case what == 3:
		m.name, one.typ = "type", "float32"
	case what == 4 && one.root >= 0 && len(p.groups[m.group]) > 1:
		m.name = "root"
		for old := one.root; one.root == old; {
			one.root = p.groups[m.group][r.IntN(len(p.groups[m.group]))]
		}
	default:
		m.name, list = "stop", list[:m.at]
	}
	p.ranks[m.rank] = list
	return m
}

// hangs simulates the program in the plainest way: a call ends when all its group are at it alike.
func (p *program) hangs() (at []int, hangs bool) {
	at = make([]int, len(p.ranks))
	number := func(rank int) (n int) {
		group := p.ranks[rank][at[rank]].group
		for _, a := range p.ranks[rank][:at[rank]] {
			if a.group == group {
				n++
			}
		}
		return n
	}
	for moved := true; moved; {
		moved = false
		for rank := range p.ranks {
			if at[rank] == len(p.ranks[rank]) {
				continue
			}
			mine := p.ranks[rank][at[rank]]
			if !slices.ContainsFunc(p.groups[mine.group], func(other int) bool {
				return at[other] == len(p.ranks[other]) || p.ranks[other][at[other]] != mine ||
					number(other) != number(rank)
			}) {
				for _, other := range p.groups[mine.group] {
					at[other]++
				}
				moved = true
			}
		}
	}
	for rank := range p.ranks {
		hangs = hangs || at[rank] < len(p.ranks[rank])
	}
	return at, hangs
}

// log writes the program as a log; real: each rank has what it reached, with states, and no more.
func (p *program) log(real bool) *calls.Log {
	at, _ := p.hangs()
	l := &calls.Log{}
	for g, ranks := range p.groups {
		l.Groups = append(l.Groups, calls.Group{Name: fmt.Sprint(g), Ranks: ranks})
	}
	for rank, list := range p.ranks {
		one := calls.Rank{Number: rank}
		made := make([]int64, len(p.groups))
		for i, a := range list {
			c := calls.Call{Group: a.group, Seq: made[a.group], Kind: a.kind, Name: a.kind.String(),
				Type: a.typ, In: a.count, Out: a.count, Root: a.root}
			made[a.group]++
			if real {
				c.State = calls.Completed
				if i == at[rank] {
					c.State = calls.Started
				}
			}
			if !real || i <= at[rank] {
				one.Calls = append(one.Calls, c)
			}
		}
		l.Ranks = append(l.Ranks, one)
	}
	return l
}

// deviates returns the number of the first call of a group in which a rank's lists differ, −1 for
// none.
func deviates(before, after []asked, group int) int {
	a, b := of(before, group), of(after, group)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

func of(list []asked, group int) (some []asked) {
	for _, a := range list {
		if a.group == group {
			some = append(some, a)
		}
	}
	return some
}

// names reports whether a meeting is that of a changed call, the first in which the lists of the
// rank differ, or one of equal calls between. Where two calls of several groups have changed
// places, it may be either.
func (m *mutation) names(at *calls.Meeting, before, after []asked) bool {
	if m.name == "swap" && before[m.at].group != before[m.at+1].group {
		for i := range 2 {
			group := before[m.at+i].group
			if at.Group == group && int(at.Seq) == len(of(before[:m.at+i], group)) {
				return true
			}
		}
		return false
	}
	until := deviates(before, after, at.Group)
	return int(at.Seq) == until ||
		at.Group == m.group && m.call <= int(at.Seq) && (until < 0 || int(at.Seq) < until)
}

// TestJudge: of a program with one change, the diagnosis first names the rank and the call, or says
// that nothing hangs where nothing does. The log has all that ranks would call or, with states,
// what they have called when nothing moves any more.
func TestJudge(t *testing.T) {
	for seed := range tier.Of[uint64](3000, 100000) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := randomProgram(r)
		require.Empty(t, p.log(false).Judge().Findings, "seed %d", seed)
		before := slices.Clone(p.ranks)
		m := p.mutate(r)
		_, hangs := p.hangs()
		for _, real := range []bool{false, true} {
			found := p.log(real).Judge().Findings
			if !hangs {
				require.Empty(t, found, "seed %d: %+v", seed, m)
				continue
			}
			require.NotEmpty(t, found, "seed %d: %+v", seed, m)
			f := &found[0]
			require.Contains(t, f.Ranks, m.rank, "seed %d: %+v: %v", seed, m, f.Fault)
			named := m.names(f.Meeting, before[m.rank], p.ranks[m.rank])
			for _, w := range f.Circle {
				named = named || m.names(w.Meeting, before[m.rank], p.ranks[m.rank])
			}
			require.True(t, named, "seed %d: %+v: %v of group %d #%d", seed, m, f.Fault,
				f.Meeting.Group, f.Meeting.Seq)
		}
	}
}
