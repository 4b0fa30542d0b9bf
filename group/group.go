// Package group is how the ranks of a collective find each other: each joins under a name and says
// what it is about to do, and gets its rank, the root and the root's shape when all have come. What
// would be a hang or a wrong result in a real library is an error here that names the ranks and
// both values. The package moves no data and knows no schedule.
package group

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"collsim/collective"
	"collsim/dtype"
)

// Assign as Request.Rank asks for a rank.
const Assign = -1

// Request is what a member says of itself when it joins.
type Request struct {
	// Member tells the members apart, as a host and a device do. Members that ask for a rank get
	// the free ranks in the order of their names, whoever comes first.
	Member string
	Rank   int // or Assign
	Size   int // of the group
	Kind   collective.Kind
	Type   dtype.Type
	Root   bool // this member is the root; of rooted kinds
	// Count is the number of elements, as in collective.Spec. In a broadcast or scatter only the
	// root knows it: the others pass −1.
	Count int64
	Shape collective.Shape // of the input, if there is one
}

// Seat is what a member gets.
type Seat struct {
	Rank, Root int // Root is −1 if the kind has none
	// Count and Shape are the root's in a broadcast or scatter, the member's own otherwise.
	Count int64
	Shape collective.Shape
}

// Registry holds groups by name. Its zero value is empty and ready; it may be shared.
type Registry struct {
	mu     sync.Mutex
	groups map[string]*group
}

// group is members until it is complete; done is closed when it is, or when it has failed.
type group struct {
	name    string
	members []Request
	seats   []Seat
	err     error
	done    chan struct{}
}

// Join adds a member to the group of a name and waits until all have come. The wait ends with the
// context: then the error names who is missing, and the group is no more. A member that contradicts
// the others (another kind, size, type or count, a rank twice, a second root) is an error for all
// of them, at once. Joining again under the same name with the same request returns the same seat.
func (r *Registry) Join(ctx context.Context, name string, q Request) (Seat, error) {
	g, err := r.add(name, q)
	if err != nil {
		return Seat{}, err
	}
	select {
	case <-g.done:
	case <-ctx.Done():
		r.mu.Lock()
		g.fail(fmt.Errorf("group %q: %s: %w", name, g.missing(), context.Cause(ctx)))
		r.mu.Unlock()
		<-g.done
	}
	if g.err != nil {
		return Seat{}, g.err
	}
	return g.seats[g.index(q.Member)], nil
}

// Leave forgets a group, complete or failed, so that its name can be used anew.
func (r *Registry) Leave(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.groups, name)
}

func (r *Registry) add(name string, q Request) (*group, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.groups[name]
	if g == nil {
		if r.groups == nil {
			r.groups = map[string]*group{}
		}
		g = &group{name: name, done: make(chan struct{})}
		r.groups[name] = g
	}
	if i := g.index(q.Member); i >= 0 {
		if g.members[i].differs(q) {
			return nil, fmt.Errorf("group %q: member %s joins again, with another request", name, q.Member)
		}
		return g, nil
	}
	if g.seats != nil {
		return nil, fmt.Errorf("group %q: is complete with %s; %s is one too many", name, g.names(),
			q.Member)
	}
	if g.err == nil {
		err := q.validate()
		if err == nil {
			err = g.clash(q)
		}
		if err != nil {
			g.fail(fmt.Errorf("group %q: %w", name, err))
		}
	}
	g.members = append(g.members, q)
	if g.err == nil && len(g.members) == q.Size {
		if err := g.settle(); err != nil {
			g.fail(fmt.Errorf("group %q: %w", name, err))
		} else {
			close(g.done)
		}
	}
	return g, nil
}

// fail ends the group for all its members, once.
func (g *group) fail(err error) {
	if g.err == nil && g.seats == nil {
		g.err = err
		close(g.done)
	}
}

func (g *group) index(member string) int {
	return slices.IndexFunc(g.members, func(m Request) bool { return m.Member == member })
}

func (g *group) names() string {
	names := make([]string, len(g.members))
	for i, m := range g.members {
		names[i] = m.Member
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (q Request) differs(o Request) bool {
	same := q.Member == o.Member && q.Rank == o.Rank && q.Size == o.Size && q.Kind == o.Kind &&
		q.Type == o.Type && q.Root == o.Root && q.Count == o.Count && slices.Equal(q.Shape, o.Shape)
	return !same
}

// validate checks a request by itself.
func (q Request) validate() error {
	switch {
	case q.Kind < collective.AllReduce || q.Kind > collective.Barrier:
		return fmt.Errorf("%s: kind %v is none", q.Member, q.Kind)
	case q.Size < 1:
		return fmt.Errorf("%s: a group of %d", q.Member, q.Size)
	case q.Rank != Assign && (q.Rank < 0 || q.Rank >= q.Size):
		return fmt.Errorf("%s: rank %d is none of 0…%d", q.Member, q.Rank, q.Size-1)
	case q.Root && !q.Kind.Rooted():
		return fmt.Errorf("%s is root, but %v has none", q.Member, q.Kind)
	case q.Count < 0 && !q.follows():
		return fmt.Errorf("%s: count %d", q.Member, q.Count)
	}
	return nil
}

// follows reports whether the member learns count and shape from the root.
func (q Request) follows() bool {
	return !q.Root && (q.Kind == collective.Broadcast || q.Kind == collective.Scatter)
}

// clash says where a new member contradicts one that has joined.
func (g *group) clash(q Request) error {
	for _, m := range g.members {
		who := fmt.Sprintf("%s and %s", m.title(), q.title())
		switch {
		case m.Kind != q.Kind:
			return fmt.Errorf("%s want different kinds: %v and %v", who, m.Kind, q.Kind)
		case m.Size != q.Size:
			return fmt.Errorf("%s want groups of different sizes: %d and %d", who, m.Size, q.Size)
		case m.Type != q.Type:
			return fmt.Errorf("%s have different types: %v and %v", who, m.Type, q.Type)
		case m.Rank == q.Rank && q.Rank != Assign:
			return fmt.Errorf("%s are both rank %d", who, q.Rank)
		case m.Root && q.Root:
			return fmt.Errorf("%s are both root", who)
		case m.Count != q.Count && m.Count >= 0 && q.Count >= 0:
			return fmt.Errorf("%s have different counts: %d and %d", who, m.Count, q.Count)
		}
	}
	return nil
}

// title is the member with its rank, if it knows it.
func (q Request) title() string {
	if q.Rank == Assign {
		return q.Member
	}
	return fmt.Sprintf("%s (rank %d)", q.Member, q.Rank)
}

// settle gives every member its seat. REQUIRES: all have come.
func (g *group) settle() error {
	root := slices.IndexFunc(g.members, func(m Request) bool { return m.Root })
	if root < 0 && g.members[0].Kind.Rooted() {
		return fmt.Errorf("%v of %s has no root", g.members[0].Kind, g.names())
	}
	ranks := g.assign()
	seats := make([]Seat, len(g.members))
	for i, m := range g.members {
		seats[i] = Seat{Rank: ranks[i], Root: -1, Count: m.Count, Shape: m.Shape}
		if root >= 0 {
			seats[i].Root = ranks[root]
		}
		if m.follows() {
			seats[i].Count, seats[i].Shape = g.members[root].Count, g.members[root].Shape
		}
	}
	g.seats = seats
	return nil
}

// assign is the rank of every member: its own, or the next free one in the order of names.
func (g *group) assign() []int {
	taken := make([]bool, len(g.members))
	ranks := make([]int, len(g.members))
	var asking []int
	for i, m := range g.members {
		if ranks[i] = m.Rank; m.Rank == Assign {
			asking = append(asking, i)
		} else {
			taken[m.Rank] = true
		}
	}
	slices.SortFunc(asking, func(a, b int) int {
		return strings.Compare(g.members[a].Member, g.members[b].Member)
	})
	next := 0
	for _, i := range asking {
		for taken[next] {
			next++
		}
		ranks[i], taken[next] = next, true
	}
	return ranks
}

// missing says who has not come.
func (g *group) missing() string {
	size := g.members[0].Size
	there := make([]bool, size)
	asking := 0
	for _, m := range g.members {
		if m.Rank == Assign {
			asking++
		} else if m.Rank < size {
			there[m.Rank] = true
		}
	}
	var absent []string
	for rank, here := range there {
		if !here {
			absent = append(absent, fmt.Sprint(rank))
		}
	}
	text := fmt.Sprintf("%d of %d members have joined (%s)", len(g.members), size, g.names())
	if asking == 0 {
		return text + "; missing rank " + strings.Join(absent, ", ")
	}
	return text
}
