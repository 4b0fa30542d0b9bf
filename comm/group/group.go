// Package group lets the ranks of a collective find each other. Each joins under a name and states
// what it is about to do. When all have come, it gets its rank, the root and the root's shape. A
// mistake that would be a hang or a wrong result in a real library is an error here. It names two
// members and the statement of each. The package moves no data and knows no schedule.
package group

import (
	"context"
	"fmt"
	"sync"

	"collsim/collective"
)

// Assign in Request.Rank asks for any rank.
const Assign = -1

// MaxSize is the most members of a group.
const MaxSize = 1 << 20

// Request is a member's statement when it joins.
type Request struct {
	// Member identifies the member, such as a host and a device. Members that ask for a rank get
	// the free ranks in the order of their names, whatever the order in which they come.
	Member string
	Rank   int  // or Assign
	Size   int  // of the group
	Root   bool // this member is the root; of rooted kinds
	// Does is the communication that the member is about to do. Every attribute must equal that of
	// the others, except shapes. In a broadcast or scatter the root alone needs to know its own,
	// and those of all_gatherv and all_to_allv may differ on the axis. If ranks are assigned,
	// Does.Root stays 0: Root above marks the root.
	Does collective.Communication
	// Note is the member's own data, which the others find in their Seat. The group does not look
	// at it.
	Note any
	// Err, if not nil, is the reason why the member cannot take part. All members get it.
	Err error
	// Once says that the name stands for this one meeting. Then a member that comes late to a
	// failed group gets the failure, whatever it was. The group is forgotten when all of its
	// members have come.
	Once bool
}

// Seat is the place that a member gets in the complete group.
type Seat struct {
	Rank, Root int // Root is −1 if the kind has none
	// Shape is the root's in a broadcast or scatter, otherwise the member's own.
	Shape   collective.Shape
	Members []Request // in the order of their ranks; shared, not to be changed
}

// Registry holds groups by name. Its zero value is ready to use; it is safe for concurrent use.
type Registry struct {
	mu     sync.Mutex
	groups map[string]*group
}

// group holds the members until it is complete. done is closed when it is, or when it has failed.
type group struct {
	members []Request
	number  map[string]int // by name: index of the member
	ranks   map[int]int    // by requested rank: index of the member
	root    int            // index of the root, −1 if it has not come
	shaped  int            // index of the first member with a shape, −1 if none has come
	seats   []Seat         // by index of the member
	err     error
	done    chan struct{}
}

// Join adds a member to the group with a name and waits until all have come.
//
// Statements must be consistent. A member that contradicts another (a *Mismatch), or that cannot
// take part, is an error for all, at once, including those who come later. Such a group is
// forgotten when all have got the error, and when a member that got it joins again, to retry. A
// member whose context ends fails the group: the others get the names of the missing ones, and the
// name is free at once (but see Request.Once). A request without a valid size or rank fails for its
// member alone. Joining a complete group again with the same request returns the same seat.
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

// Leave forgets a group, so that its name can be used anew. Members that still wait get an error.
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

// add adds a member to the group with a name. That may complete the group, or make it fail.
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
	if g == nil || again && g.err != nil && !q.Once { // a member that got the failure retries
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

// size returns the largest size that any member has stated: so many may still come.
func (g *group) size() int {
	size := 0
	for i := range g.members {
		size = max(size, g.members[i].Size)
	}
	return size
}

// add adds a member and returns its error, also if the group has failed before.
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
