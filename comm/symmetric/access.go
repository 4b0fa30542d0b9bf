package symmetric

import (
	"context"
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
)

// Put writes bytes into the memory of a rank, which may be this one.
func (b *Buffer) Put(to int, at int64, data []byte) error {
	if err := b.checkRank("put", to); err != nil {
		return err
	}
	return b.access("put", true, []int{to}, span{at, len(data)}, func(memory []byte) {
		copy(memory, data)
	})
}

// Get reads bytes from the memory of a rank, which may be this one.
func (b *Buffer) Get(from int, at int64, into []byte) error {
	if err := b.checkRank("get", from); err != nil {
		return err
	}
	return b.access("get", false, []int{from}, span{at, len(into)}, func(memory []byte) {
		copy(into, memory)
	})
}

// Store writes bytes into the memory of all ranks, as a switch multicasts a store.
func (b *Buffer) Store(at int64, data []byte) error {
	return b.access("store", true, b.all(), span{at, len(data)}, func(memory []byte) {
		copy(memory, data)
	})
}

// Reduce reads elements of all ranks, combined by sum, min or max, as a switch does it. They are
// combined in the order of the ranks, each result rounded to the type, as the interpreter executes
// a schedule's multimem. The order and the width in which a real switch adds are not published.
func Reduce[T dtype.Number](b *Buffer, op collective.Op, at int64, into []T) error {
	width := dtype.Of[T]().Width()
	combine, ok := map[collective.Op]func(dst, src []T){collective.Sum: dtype.Sum[T],
		collective.Min: dtype.Min[T], collective.Max: dtype.Max[T]}[op]
	switch {
	case !ok:
		return b.wrong("reduce: a switch does sum, min and max, not %q", op)
	case at%int64(width) != 0:
		return b.wrong("reduce: %d is no multiple of the %d bytes of an element", at, width)
	}
	first, next := true, make([]T, len(into))
	return b.access("reduce", false, b.all(), span{at, width * len(into)}, func(memory []byte) {
		if dtype.Get(next, memory); first {
			copy(into, next)
		} else {
			combine(into, next)
		}
		first = false
	})
}

// all lists the ranks that a switch reaches.
func (b *Buffer) all() []int {
	list := make([]int, b.member.Ranks)
	for i := range list {
		list[i] = i
	}
	return list
}

// span is a range of n bytes.
type span struct {
	at int64
	n  int
}

// access is an operation on bytes of a rank's memory. It is kept to be compared with later ones.
type access struct {
	Operation
	by       int   // rank in the group
	clock    int64 // of its rank, at that time
	from, to int64 // the bytes
	write    bool
}

// Operation is an operation of a rank.
type Operation struct {
	Rank int    // in the world
	Step int    // its index among the rank's operations in the group
	Name string // put, get, store, reduce
	Call string // the call that used the workspace then
}

// String returns such as "the put of rank 3 (step 5, in all_reduce)".
func (o Operation) String() string {
	text := fmt.Sprintf("the %s of rank %d (step %d", o.Name, o.Rank, o.Step)
	if o.Call != "" {
		text += ", in " + o.Call
	}
	return text + ")"
}

// Race reports two operations on the same bytes without an order, at least one a write: no signal
// sent after one was awaited before the other.
type Race struct {
	Group      string
	Owner      int          // rank whose memory it is, in the world
	From, To   int64        // the common bytes
	Operations [2]Operation // the lower rank's first
}

// Error names both operations.
func (r *Race) Error() string {
	return fmt.Sprintf("%s: race on bytes %d to %d of rank %d: %v and %v have no signal "+
		"or barrier between them", r.Group, r.From, r.To-1, r.Owner, &r.Operations[0], &r.Operations[1])
}

// access executes an operation on the memory of each owner in turn, after checking it for races.
func (b *Buffer) access(name string, write bool, owners []int, s span, do func([]byte)) error {
	if err := b.checkBytes(name, s.at, s.n); err != nil {
		return err
	}
	m, g := b.member, b.member.group
	if len(owners) > 1 && !mechanisms[g.mechanism].multicast {
		return b.wrong("%s: nothing multicasts over %v", name, g.mechanism)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := context.Cause(g.ended); err != nil {
		return err
	}
	a := access{Operation{m.self.Rank, m.steps, name, b.call}, m.Rank, g.clocks[m.Rank][m.Rank], s.at,
		s.at + int64(s.n), write}
	m.steps++
	for _, owner := range owners {
		if race := b.race(owner, &a); race != nil {
			g.fail(race)
			return race
		}
	}
	for _, owner := range owners {
		b.remember(owner, a)
		do(b.store.memory[owner][a.from:a.to])
	}
	return nil
}

// race returns the first race of an operation with earlier ones.
func (b *Buffer) race(owner int, a *access) error {
	g := b.member.group
	for i := range b.store.log[owner] {
		o := &b.store.log[owner][i]
		from, to := max(a.from, o.from), min(a.to, o.to)
		if from >= to || !a.write && !o.write || o.clock <= g.clocks[a.by][o.by] || o.by == a.by {
			continue
		}
		pair := [2]Operation{o.Operation, a.Operation}
		if o.Rank > a.Rank {
			slices.Reverse(pair[:])
		}
		return &Race{g.key, g.ranks[owner], from, to, pair}
	}
	return nil
}

// remember records an operation. It forgets those that cannot race with later ones: all ranks know
// of them, or the new one would race with the same operations.
func (b *Buffer) remember(owner int, a access) {
	log, g := b.store.log[owner], b.member.group
	log = slices.DeleteFunc(log, func(o access) bool {
		covered := o.by == a.by && o.from >= a.from && o.to <= a.to && (a.write || !o.write)
		return covered || !slices.ContainsFunc(g.clocks, func(clock []int64) bool {
			return clock[o.by] < o.clock
		})
	})
	if a.from < a.to {
		log = append(log, a)
	}
	b.store.log[owner] = log
}
