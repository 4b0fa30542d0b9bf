package symmetric

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/comm/group"
)

// note is a rank's contribution to a meeting.
type note struct {
	terms  []term // that must be equal for all; the first names the call
	err    error  // the reason why it cannot take part
	group  *common
	store  *store
	memory []byte
	next   int64 // offset of the rank's next allocation
}

type term struct{ what, value string }

// meeting is a rank's side of a meeting.
type meeting struct {
	key   string
	ranks []int
	at    int
	note  note
}

// Mismatch reports a term on which the ranks of a group do not agree.
type Mismatch struct {
	Group  string
	What   string
	Values []string // distinct values, in the order of the first rank with each
	Ranks  [][]int  // the ranks with each, in the world
}

// Error names all values and all ranks.
func (m *Mismatch) Error() string {
	text := fmt.Sprintf("%s: ranks differ in %s:", m.Group, m.What)
	for i, v := range m.Values {
		if i > 0 {
			text += ";"
		}
		text += fmt.Sprintf(" %s of %s", v, listed(m.Ranks[i]))
	}
	return text
}

// meet waits for all ranks at the meeting with that name and returns their notes, in their order.
// All of them get the same error if they differ, if one cannot take part, or if one's context ends.
// If they differ they still get each other's notes.
func (w *World) meet(ctx context.Context, name string, m *meeting) ([]note, error) {
	q := group.Request{Member: fmt.Sprintf("rank %d", m.ranks[m.at]), Rank: m.at, Size: len(m.ranks),
		Does: collective.Communication{Kind: collective.Barrier}, Note: m.note, Err: m.note.err,
		Once: true}
	if m.ranks[len(m.ranks)-1] >= len(m.ranks) {
		q.Member, q.Does.Team = q.Member+" of the world", m.ranks
	}
	s, err := w.meets.Join(ctx, name, q)
	if err != nil {
		return nil, err
	}
	notes := make([]note, len(s.Members))
	for i := range s.Members {
		notes[i] = s.Members[i].Note.(note)
	}
	for i := range m.note.terms {
		if x := differ(notes, i, m.ranks); len(x.Values) > 1 {
			x.Group = m.key
			return notes, x
		}
	}
	return notes, nil
}

// differ groups the ranks by their value of a term. REQUIRES: they agree on those before it.
func differ(notes []note, i int, ranks []int) *Mismatch {
	x := &Mismatch{What: notes[0].terms[i].what}
	for rank, n := range notes {
		at := slices.Index(x.Values, n.terms[i].value)
		if at < 0 {
			at = len(x.Values)
			x.Values, x.Ranks = append(x.Values, n.terms[i].value), append(x.Ranks, nil)
		}
		x.Ranks[at] = append(x.Ranks[at], ranks[rank])
	}
	return x
}

// meet runs the member's next meeting. It ends with the context, which also ends the group, or with
// the group. After a mismatch, ranks continue to allocate after the largest offset of any of them.
func (m *Member) meet(ctx context.Context, n note) ([]note, error) {
	g := m.group
	if err := context.Cause(g.ended); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(g.ended, func() { stop(context.Cause(g.ended)) })()
	name := fmt.Sprintf("%s#%d.%d", g.key, g.number, m.meetings)
	m.meetings++
	n.next = m.next
	notes, err := m.world.meet(ctx, name, &meeting{g.key, g.ranks, m.Rank, n})
	if err == nil {
		return notes, nil
	}
	if notes == nil && ctx.Err() != nil {
		g.fail(err)
		return nil, context.Cause(g.ended)
	}
	for i := range notes {
		m.next = max(m.next, notes[i].next)
	}
	return nil, err
}

// listed formats sorted ranks in words: "rank 3", "ranks 0…3, 8".
func listed(ranks []int) string {
	var runs []string
	for i := 0; i < len(ranks); {
		j := i + 1
		for j < len(ranks) && ranks[j] == ranks[j-1]+1 {
			j++
		}
		run := fmt.Sprint(ranks[i])
		switch {
		case j-i > 2:
			run += fmt.Sprintf("…%d", ranks[j-1])
		case j-i == 2:
			run += fmt.Sprintf(", %d", ranks[j-1])
		}
		runs = append(runs, run)
		i = j
	}
	if len(ranks) == 1 {
		return "rank " + runs[0]
	}
	return "ranks " + strings.Join(runs, ", ")
}
