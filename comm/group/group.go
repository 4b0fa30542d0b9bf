// Package group is how the ranks of a collective find each other: each joins under a name and says
// what it is about to do, and gets its rank, the root and the root's shape when all have come. What
// would be a hang or a wrong result in a real library is an error here that names two members and
// what each of them says. The package moves no data and knows no schedule.
package group

import (
	"context"
	"fmt"
	"sync"

	"collsim/collective"
)

// Assign as Request.Rank asks for a rank.
const Assign = -1

// MaxSize is the most members that a group may have.
const MaxSize = 1 << 20

// Request is what a member says of itself when it joins.
type Request struct {
	// Member tells the members apart, as a host and a device do. Members that ask for a rank get
	// the free ranks in the order of their names, whoever comes first.
	Member string
	Rank   int  // or Assign
	Size   int  // of the group
	Root   bool // this member is the root; of rooted kinds
	// Does is what the member is about to do. Every attribute must be that of the others, but for
	// shapes: in a broadcast or scatter the root alone needs to know its own, and those of
	// all_gatherv and all_to_allv may differ on the axis. Where ranks are assigned, Does.Root stays
	// 0: Root above says who it is.
	Does collective.Communication
	// Note is the member's own: the others find it in their Seat. The group does not look at it.
	Note any
	// Err, if not nil, is why the member cannot take part. All members are told.
	Err error
	// Once says that the name stands for this one meeting. Then whoever comes late to a group that
	// has failed is told, whatever it failed of, and it is forgotten when all of its size have come.
	Once bool
}

// Seat is what a member gets.
type Seat struct {
	Rank, Root int // Root is −1 if the kind has none
	// Shape is the root's in a broadcast or scatter, the member's own otherwise.
	Shape   collective.Shape
	Members []Request // in the order of their ranks; shared by all, not to be changed
}

// Registry holds groups by name. Its zero value is empty and ready; it may be shared.
type Registry struct {
	mu     sync.Mutex
	groups map[string]*group
}

// group is members until it is complete; done is closed when it is, or when it has failed.
type group struct {
	members []Request
	number  map[string]int // of members, by name
	ranks   map[int]int    // number of the member that has asked for a rank
	root    int            // number of the member that is, −1 if there is none yet
	shaped  int            // number of the first member with a shape, −1 if there is none yet
	seats   []Seat         // by number
	err     error
	done    chan struct{}
}

// Join adds a member to the group of a name and waits until all have come.
//
// What members say must fit together: one that contradicts another (a *Mismatch), or that cannot
// take part, is an error for all, at once, those who come later included. Such a group is forgotten
// when everybody has heard of it, and when one who has joins again, to try anew. A member whose
// context ends takes the group with it: the others hear who is missing, and the name is free at
// once (but see Request.Once). A request that names no place in a group (its size or rank is none)
// is refused to its member alone. Joining a complete group again with the same request returns the
// same seat.
func (r *Registry) Join(ctx context.Context, name string, q Request) (Seat, error) {
	ended := ctx.Done() // a context is foreign code: it is never called with the registry locked
	g, number, err := r.add(name, q)
	if err != nil {
		return Seat{}, err
	}
	left := fmt.Errorf("%s has panicked", q.Member)
	defer func() {
		if left != nil {
			r.leave(name, g, q.Once, left)
		}
	}()
	select {
	case <-g.done:
	case <-ended:
		left = context.Cause(ctx)
		r.leave(name, g, q.Once, left)
	}
	left = nil
	if g.err != nil {
		return Seat{}, g.err
	}
	return g.seats[number], nil
}

// Leave forgets a group, so that its name can be used anew. Members that still wait are told.
func (r *Registry) Leave(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g := r.groups[name]; g != nil {
		g.fail(fmt.Errorf("group %q: %s: it was left", name, g.missing()))
		delete(r.groups, name)
	}
}

// leave fails a group that is not complete, and forgets it if its name may be used again.
func (r *Registry) leave(name string, g *group, once bool, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !g.open() {
		return
	}
	g.fail(fmt.Errorf("group %q: %s: %w", name, g.missing(), why))
	if !once {
		delete(r.groups, name)
	}
}

// add puts a member to the group of a name, which may be complete or have failed by that.
func (r *Registry) add(name string, q Request) (g *group, number int, err error) {
	if err := q.place(); err != nil {
		return nil, 0, fmt.Errorf("group %q: %w", name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	g = r.groups[name]
	again := false
	if g != nil {
		number, again = g.number[q.Member]
	}
	if g == nil || again && g.err != nil && !q.Once { // who has been told of a failure tries anew
		g, again = newGroup(), false
		if r.groups == nil {
			r.groups = map[string]*group{}
		}
		r.groups[name] = g
	}
	if again {
		if err := g.members[number].same(&q); err != nil {
			err = fmt.Errorf("group %q: %w", name, err)
			if g.fail(err); g.seats != nil {
				return nil, 0, err
			}
		}
		return g, number, nil
	}
	if g.seats != nil {
		return nil, 0, fmt.Errorf("group %q: is complete with %s; %s is one too many", name, g.names(),
			q.Member)
	}
	if err := g.add(&q); err != nil {
		g.fail(fmt.Errorf("group %q: %w", name, err))
	}
	if told := g.err != nil || q.Once; told && len(g.members) >= g.size() {
		delete(r.groups, name)
	}
	return g, len(g.members) - 1, nil
}

func newGroup() *group {
	return &group{number: map[string]int{}, ranks: map[int]int{}, root: -1, shaped: -1,
		done: make(chan struct{})}
}

// open reports whether the group still waits for members.
func (g *group) open() bool { return g.err == nil && g.seats == nil }

// fail ends the group for all its members, once.
func (g *group) fail(err error) {
	if g.open() {
		g.err = err
		close(g.done)
	}
}

// size is that of the group, the largest that any member has given: so many may still come.
func (g *group) size() int {
	size := 0
	for i := range g.members {
		size = max(size, g.members[i].Size)
	}
	return size
}

// add takes a member in and says what is wrong with it, also if the group has failed before.
func (g *group) add(q *Request) error {
	err := q.validate()
	if err == nil && g.open() && len(g.members) > 0 {
		err = g.clash(q)
	}
	number := len(g.members)
	g.members = append(g.members, *q)
	g.number[q.Member] = number
	if err != nil || !g.open() {
		return err
	}
	if q.Rank != Assign {
		g.ranks[q.Rank] = number
	}
	if q.Root {
		g.root = number
	}
	if g.shaped < 0 && q.Does.Shape != nil {
		g.shaped = number
	}
	if len(g.members) < q.Size {
		return nil
	}
	return g.settle()
}
