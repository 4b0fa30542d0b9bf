package group

import (
	"cmp"
	"fmt"
	"slices"

	"collsim/collective"
)

// Mismatch is a contradiction between two members.
type Mismatch struct {
	What    string // as in collective.Communication.Difference; or "size", "rank", "root"
	Members [2]string
	Values  [2]string // the statement of each
}

// Error names both members and both values.
func (m *Mismatch) Error() string {
	return fmt.Sprintf("%s and %s differ in %s: %s and %s", m.Members[0], m.Members[1], m.What,
		m.Values[0], m.Values[1])
}

// place checks the size and the rank of a request.
func (q *Request) place() error {
	switch {
	case q.Size < 1 || q.Size > MaxSize:
		return fmt.Errorf("%s: a group of %d: 1 to %d members are expected", q.Member, q.Size, MaxSize)
	case q.Rank != Assign && (q.Rank < 0 || q.Rank >= q.Size):
		return fmt.Errorf("%s: rank %d is none of 0…%d", q.Member, q.Rank, q.Size-1)
	}
	return nil
}

// validate checks a request by itself.
func (q *Request) validate() error {
	d := &q.Does
	if q.Err != nil {
		return fmt.Errorf("%s cannot take part: %w", q.title(), q.Err)
	}
	if err := d.Validate(q.Size); err != nil {
		return fmt.Errorf("%s: %w", q.title(), err)
	}
	switch {
	case q.Root && !d.Kind.Rooted():
		return fmt.Errorf("%s is root, but %v has none", q.title(), d.Kind)
	case d.Shape == nil && !q.follows() && d.Kind != collective.Barrier:
		return fmt.Errorf("%s passes no shape for %v", q.title(), d.Kind)
	}
	return nil
}

// follows reports whether the member gets the shape from the root.
func (q *Request) follows() bool {
	return !q.Root && (q.Does.Kind == collective.Broadcast || q.Does.Kind == collective.Scatter)
}

// title returns the member's name, with its rank if that is known and not already the name.
func (q *Request) title() string {
	rank := fmt.Sprintf("rank %d", q.Rank)
	if q.Rank == Assign || q.Member == rank {
		return q.Member
	}
	return q.Member + " (" + rank + ")"
}

// against makes a mismatch of two members. The lower rank is named first, whatever the order in
// which they came.
func (q *Request) against(o *Request, what, ours, theirs string) error {
	if after(q, o) {
		q, o, ours, theirs = o, q, theirs, ours
	}
	return &Mismatch{what, [2]string{q.title(), o.title()}, [2]string{ours, theirs}}
}

// both makes the error of two members that claim a role of one.
func both(q, o *Request, what string) error {
	if after(q, o) {
		q, o = o, q
	}
	return fmt.Errorf("%s and %s are both %s", q.title(), o.title(), what)
}

// after reports whether a member is named after another.
func after(q, o *Request) bool {
	return cmp.Or(cmp.Compare(q.Rank, o.Rank), cmp.Compare(q.Member, o.Member)) > 0
}

// same compares a request with that of an earlier join of the same member.
func (q *Request) same(o *Request) error {
	again := func(what, was, is any) error {
		return fmt.Errorf("%s joins again with another %s: %v and %v", q.Member, what, was, is)
	}
	switch {
	case q.Rank != o.Rank:
		return again("rank", q.Rank, o.Rank)
	case q.Size != o.Size:
		return again("size", q.Size, o.Size)
	case q.Root != o.Root:
		return again("root", q.Root, o.Root)
	case o.Err != nil:
		return o.validate()
	}
	if what, was, is := q.Does.Difference(&o.Does); what != "" {
		return again(what, was, is)
	}
	return nil
}

// clash reports a contradiction of a new member with those that have joined. As these agree, the
// first stands for all.
func (g *group) clash(q *Request) error {
	first := &g.members[0]
	if first.Size != q.Size {
		return first.against(q, "size", fmt.Sprint(first.Size), fmt.Sprint(q.Size))
	}
	ours, theirs := first.Does, q.Does
	ours.Shape, theirs.Shape = nil, nil
	if what, a, b := ours.Difference(&theirs); what != "" {
		return first.against(q, what, a, b)
	}
	if other, taken := g.ranks[q.Rank]; taken {
		return both(&g.members[other], q, fmt.Sprintf("rank %d", q.Rank))
	}
	if q.Root && g.root >= 0 {
		return both(&g.members[g.root], q, "root")
	}
	if g.shaped < 0 || q.Does.Shape == nil {
		return nil
	}
	m := &g.members[g.shaped]
	if !slices.Equal(m.common(), q.common()) {
		return m.against(q, "shape", m.Does.Shape.String(), q.Does.Shape.String())
	}
	return nil
}

// common returns the part of a member's shape that must equal that of the others: all axes but the
// one on which kinds with splits may differ.
func (q *Request) common() collective.Shape {
	d := &q.Does
	if loose := d.Kind == collective.AllGatherV || d.Kind == collective.AllToAllV; !loose ||
		d.Axis >= len(d.Shape) {
		return d.Shape
	}
	shape := slices.Clone(d.Shape)
	shape[d.Axis] = 0
	return shape
}
