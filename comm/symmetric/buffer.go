package symmetric

import (
	"context"
	"fmt"
	"strconv"
	"sync"
)

// MaxSize is the most bytes of an allocation.
const MaxSize = 1 << 30

// alignment is the alignment of allocations: the largest access of a multimem instruction.
const alignment = 16

// Allocation is memory of one rank before the others know of it.
type Allocation struct {
	Offset, Size int64 // in bytes; the offset is that after this rank's earlier allocations

	member *Member
	memory []byte
	store  *store
}

// Alloc allocates memory, zeroed, for a Rendezvous. No other rank takes part.
func (m *Member) Alloc(size int64) (*Allocation, error) {
	a, err := m.reserve(size)
	if err != nil {
		return nil, fmt.Errorf("%s: rank %d: %w", m.group.key, m.self.Rank, err)
	}
	m.next = a.end()
	return a, nil
}

// reserve makes an allocation at the next offset, and does not advance that yet.
func (m *Member) reserve(size int64) (*Allocation, error) {
	if size < 1 || size > MaxSize {
		return nil, fmt.Errorf("an allocation of %d bytes: 1 to %d are expected", size, MaxSize)
	}
	return &Allocation{Offset: m.next, Size: size, member: m, memory: make([]byte, size),
		store: &store{pads: map[padKey]chan []int64{}}}, nil
}

// end returns the next offset.
func (a *Allocation) end() int64 {
	return a.Offset + (a.Size+alignment-1)/alignment*alignment
}

// note makes the part of an allocation that the others need to know.
func (a *Allocation) note(terms ...term) note {
	return note{store: a.store, memory: a.memory,
		terms: append(terms, term{"offset", strconv.FormatInt(a.Offset, 10)})}
}

// Rendezvous waits until all ranks of the group have come with an allocation of the same size at
// the same offset; else all get a *Mismatch. A rank whose context ends fails the group. It orders
// no operations: on a GPU the hosts meet, and not the streams.
func (a *Allocation) Rendezvous(ctx context.Context) (*Buffer, error) {
	notes, err := a.member.meet(ctx, a.note(term{"call", "rendezvous"},
		term{"size", strconv.FormatInt(a.Size, 10)}))
	if err != nil {
		return nil, err
	}
	return a.buffer(notes, ""), nil
}

// Use describes a call's use of the group's workspace.
type Use struct {
	Size int64 // bytes, the same on all ranks
	// Call names the purpose. All ranks must state the same, so it should contain everything that
	// must agree, such as the text of a collective.Communication.
	Call      string
	Capturing bool // the call is captured into a graph, which cannot allocate
}

// Workspace returns the group's one workspace, for one call, with at least the requested size. It
// grows to the largest request, into fresh memory; otherwise it is the same memory with the same
// pads as before. The ranks meet at every call. If they differ in size or call, or if it would grow
// while one captures a graph, all get an error. Like a rendezvous, it orders nothing: without a
// barrier a call must not overwrite data that the call before may still read.
func (m *Member) Workspace(ctx context.Context, u Use) (*Buffer, error) {
	a, err := m.workspace, error(nil)
	had := int64(0)
	if a != nil {
		had = a.Size
	}
	switch {
	case u.Size > had && u.Capturing:
		err = fmt.Errorf("the workspace has %d bytes, and cannot grow to %d while a graph is captured: "+
			"ask for them before", had, u.Size)
	case u.Size > had || u.Size < 1:
		a, err = m.reserve(u.Size)
	}
	n := note{err: err}
	if err == nil {
		n = a.note(term{"call", "workspace"}, term{"what it is for", strconv.Quote(u.Call)},
			term{"size", strconv.FormatInt(u.Size, 10)})
	}
	notes, err := m.meet(ctx, n)
	if err != nil {
		return nil, err
	}
	if a != m.workspace {
		m.workspace, m.next = a, a.end()
	}
	return a.buffer(notes, u.Call), nil
}

// store holds the memory of all ranks, and the operations on it.
type store struct {
	once   sync.Once
	memory [][]byte
	log    [][]access // by owner of the memory
	pads   map[padKey]chan []int64
}

// Buffer is symmetric memory as one rank sees it. Ranks are those of the group, 0 to Ranks − 1;
// errors name them by their numbers in the world. An invalid argument is an error of its rank
// alone, and has no effect; any other error ends the group, and all ranks get it.
type Buffer struct {
	Size int64 // bytes on every rank

	member *Member
	store  *store
	call   string
}

// buffer returns a rank's buffer after a meeting. All share the first rank's store.
func (a *Allocation) buffer(notes []note, call string) *Buffer {
	s := notes[0].store
	s.once.Do(func() {
		for _, n := range notes {
			s.memory = append(s.memory, n.memory)
		}
		s.log = make([][]access, len(notes))
	})
	return &Buffer{Size: a.Size, member: a.member, store: s, call: call}
}

// wrong makes the error of an invalid argument.
func (b *Buffer) wrong(format string, args ...any) error {
	return fmt.Errorf("%s: rank %d: %w", b.member.group.key, b.member.self.Rank,
		fmt.Errorf(format, args...))
}

// checkRank checks that a rank is in the group.
func (b *Buffer) checkRank(name string, rank int) error {
	if rank < 0 || rank >= b.member.Ranks {
		return b.wrong("%s: rank %d is none of 0…%d", name, rank, b.member.Ranks-1)
	}
	return nil
}

// checkBytes checks that a range is within the buffer.
func (b *Buffer) checkBytes(name string, at int64, n int) error {
	if at < 0 || at > b.Size || int64(n) > b.Size-at {
		return b.wrong("%s: %d bytes at %d: the buffer has %d", name, n, at, b.Size)
	}
	return nil
}
