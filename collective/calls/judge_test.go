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

// channel is a group or, of messages, two ranks of it.
type channel struct{ group, from, to int }

// asked is a call of a random program: what a rank asks for, in a group.
type asked struct {
	channel
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
		members := p.groups[g]
		a := asked{channel{g, -1, -1}, kinds[r.IntN(len(kinds))], int64(1+r.IntN(3)) * 256,
			"bfloat16", -1}
		if r.IntN(4) == 0 {
			ends := r.Perm(len(members))
			a.kind, a.from, a.to = collective.SendRecv, members[ends[0]], members[ends[1]]
			members = []int{a.from, a.to}
		}
		if a.kind.Rooted() {
			a.root = members[r.IntN(len(members))]
		}
		for _, rank := range members {
			p.ranks[rank] = append(p.ranks[rank], a)
		}
	}
	return p
}

// mutation changes a rank's calls from place at on.
type mutation struct {
	name     string
	rank, at int
	channel      // of the changed call
	call     int // its number there
}

// mutate changes a call of a rank.
func (p *program) mutate(r *rand.Rand) (m mutation) {
	for m.rank = r.IntN(len(p.ranks)); len(p.ranks[m.rank]) == 0; m.rank = r.IntN(len(p.ranks)) {
	}
	list := slices.Clone(p.ranks[m.rank])
	m.at = r.IntN(len(list))
	one := &list[m.at]
	m.channel = one.channel
	m.call = len(of(list[:m.at], m.channel))
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
	number := func(rank int) int {
		return len(of(p.ranks[rank][:at[rank]], p.ranks[rank][at[rank]].channel))
	}
	for moved := true; moved; {
		moved = false
		for rank := range p.ranks {
			if at[rank] == len(p.ranks[rank]) {
				continue
			}
			mine := p.ranks[rank][at[rank]]
			members := p.groups[mine.group]
			if mine.from >= 0 {
				members = []int{mine.from, mine.to}
			}
			if !slices.ContainsFunc(members, func(other int) bool {
				return at[other] == len(p.ranks[other]) || p.ranks[other][at[other]] != mine ||
					number(other) != number(rank)
			}) {
				for _, other := range members {
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
		for i, a := range list {
			c := calls.Call{Group: a.group, Seq: int64(len(of(list[:i], a.channel))), Kind: a.kind,
				Name: a.kind.String(), Type: a.typ, In: a.count, Out: a.count, Root: a.root,
				Sends: a.from == rank, Peer: a.from + a.to - rank}
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

// deviates returns the number of the first call of a channel in which a rank's lists differ, −1 for
// none.
func deviates(before, after []asked, in channel) int {
	a, b := of(before, in), of(after, in)
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// of returns the calls of a channel.
func of(list []asked, in channel) (some []asked) {
	for _, a := range list {
		if a.channel == in {
			some = append(some, a)
		}
	}
	return some
}

// names reports whether a meeting is that of a changed call, the first in which the lists of the
// rank differ, or one of equal calls between. Where two calls of several groups have changed
// places, it may be either.
func (m *mutation) names(at *calls.Meeting, before, after []asked) bool {
	in := channel{at.Group, at.From, at.To}
	if m.name == "swap" && before[m.at].channel != before[m.at+1].channel {
		for i, a := range before[m.at : m.at+2] {
			if in == a.channel && int(at.Seq) == len(of(before[:m.at+i], in)) {
				return true
			}
		}
		return false
	}
	until := deviates(before, after, in)
	return int(at.Seq) == until ||
		in == m.channel && m.call <= int(at.Seq) && (until < 0 || int(at.Seq) < until)
}

// TestJudge: of a program with one change, the diagnosis first names the rank and the call, or says
// that nothing hangs where nothing does. The log has all that ranks would call or, with states,
// what they have called when nothing moves any more.
func TestJudge(t *testing.T) {
	for seed := range tier.Of[uint64](3000, 40000) {
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
