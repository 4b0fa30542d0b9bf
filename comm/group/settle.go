package group

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// settle gives every member its seat, or returns the error that keeps them from working together.
// REQUIRES: all have come, and none contradicts another.
func (g *group) settle() error {
	does := &g.members[0].Does
	if g.root < 0 && does.Kind.Rooted() {
		return fmt.Errorf("%v of %s has no root", does.Kind, g.names())
	}
	ranks := g.assign()
	root, rootRank := (*Request)(nil), -1
	if g.root >= 0 {
		root, rootRank = &g.members[g.root], ranks[g.root]
	}
	inOrder := make([]Request, len(g.members))
	shapes := make([]collective.Shape, len(g.members))
	for i, m := range g.members {
		inOrder[ranks[i]], shapes[ranks[i]] = m, m.Does.Shape
	}
	if err := fits(*does, rootRank, shapes); err != nil {
		return err
	}
	seats := make([]Seat, len(g.members))
	for i, m := range g.members {
		seats[i] = Seat{Rank: ranks[i], Root: rootRank, Shape: m.Does.Shape, Members: inOrder}
		if m.follows() {
			seats[i].Shape = root.Does.Shape
		}
	}
	g.seats = seats
	close(g.done)
	return nil
}

// fits checks that the shapes of all members make a collective: axes exist, lengths are divisible,
// splits add up.
func fits(does collective.Communication, root int, shapes []collective.Shape) error {
	does.Team, does.Root = nil, max(root, 0)
	for rank := range shapes {
		if (does.Kind == collective.Broadcast || does.Kind == collective.Scatter) && rank != root {
			shapes[rank] = nil
		}
	}
	_, err := does.Shapes(shapes)
	return err
}

// assign returns the rank of every member: its own, or the next free one in the order of names.
func (g *group) assign() []int {
	ranks := make([]int, len(g.members))
	var asking []int
	for i := range g.members {
		if ranks[i] = g.members[i].Rank; ranks[i] == Assign {
			asking = append(asking, i)
		}
	}
	slices.SortFunc(asking, func(a, b int) int {
		return strings.Compare(g.members[a].Member, g.members[b].Member)
	})
	next := 0
	for _, i := range asking {
		for g.taken(next) {
			next++
		}
		ranks[i] = next
		next++
	}
	return ranks
}

func (g *group) taken(rank int) bool {
	_, there := g.ranks[rank]
	return there
}

// most is the most members that an error names.
const most = 8

// names lists the members' names in order, of many the first.
func (g *group) names() string {
	names := make([]string, len(g.members))
	for i := range g.members {
		names[i] = g.members[i].Member
	}
	slices.Sort(names)
	return few(names, len(names))
}

// few joins the first names of a list of n.
func few(names []string, n int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if n > most {
		text += fmt.Sprintf(" and %d more", n-most)
	}
	return text
}

// missing names the members that have not come.
func (g *group) missing() string {
	size := g.members[0].Size
	text := fmt.Sprintf("%d of %d members have joined (%s)", len(g.members), size, g.names())
	if len(g.ranks) < len(g.members) {
		return text // any rank may be assigned
	}
	var absent []string
	team := g.members[0].Does.Team
	for rank := 0; len(absent) < most && rank < size; rank++ {
		switch {
		case g.taken(rank):
		case rank < len(team):
			absent = append(absent, fmt.Sprint(team[rank]))
		default:
			absent = append(absent, fmt.Sprint(rank))
		}
	}
	text += "; missing rank " + few(absent, size-len(g.members))
	if team != nil {
		text += " of the world"
	}
	return text
}
