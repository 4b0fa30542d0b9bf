package symmetric

import (
	"context"
	"fmt"
	"strconv"
	"sync"
)

// MaxSize is the most bytes of an allocation.
const MaxSize = 1 << 30

// alignment of allocations: what a multimem instruction moves at most at once.
const alignment = 16

// Allocation is a rank's own memory before the others know of it.
type Allocation struct {
	Offset, Size int64 // in bytes; the offset counts what this rank has allocated before

	member *Member
	memory []byte
	store  *store
}

// Alloc allocates memory, zeros, for a Rendezvous. No other rank takes part.
func (m *Member) Alloc(size int64) (*Allocation, error) {
	a, err := m.reserve(size)
	if err != nil {
		return nil, fmt.Errorf("symmetric: %s: rank %d: %w", m.group.key, m.self.Rank, err)
	}
	m.next = a.end()
	return a, nil
}

// reserve makes an allocation at the next offset, which it does not yet take.
func (m *Member) reserve(size int64) (*Allocation, error) {
	if size < 1 || size > MaxSize {
		return nil, fmt.Errorf("an allocation of %d bytes: 1 to %d are expected", size, MaxSize)
	}
	return &Allocation{Offset: m.next, Size: size, member: m, memory: make([]byte, size),
		store: &store{pads: map[padKey]chan []int64{}}}, nil
}

// end is the next offset.
func (a *Allocation) end() int64 {
	return a.Offset + (a.Size+alignment-1)/alignment*alignment
}

// note is what a rank says of an allocation that the others are to know.
func (a *Allocation) note(terms ...term) note {
	return note{store: a.store, memory: a.memory,
		terms: append(terms, term{"offset", strconv.FormatInt(a.Offset, 10)})}
}

// Rendezvous waits until all ranks of the group have come with an allocation of the same size at
// the same offset; else it is a *Mismatch for all of them. Whoever's context ends ends the group.
// It orders no operations: on a GPU it is the hosts that meet, and not the streams.
func (a *Allocation) Rendezvous(ctx context.Context) (*Buffer, error) {
	notes, err := a.member.meet(ctx, a.note(term{"call", "rendezvous"},
		term{"size", strconv.FormatInt(a.Size, 10)}))
	if err != nil {
		return nil, err
	}
	return a.buffer(notes, ""), nil
}

// Use is what a call wants of the group's workspace.
type Use struct {
	Size int64 // bytes, the same on all ranks
	// Call says what the workspace is for. All ranks must mean the same, so it best has all that is
	// to be alike, as the text of a collective.Communication has it.
	Call      string
	Capturing bool // the call is captured into a graph, in which nothing can be allocated
}

// Workspace is the group's one workspace, for one call. It has at least that size: it grows to the
// largest request, into fresh memory, and otherwise is the same memory with the same pads as
// before. The ranks meet at every call; those that differ in size or call are told so, all of them,
// and so are all where one would have it grow while it captures a graph. As a rendezvous, it orders
// nothing: what the call before still reads is not to be overwritten without a barrier.
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

// store is the memory of all ranks, and what is known of it.
type store struct {
	once   sync.Once
	memory [][]byte
	log    [][]access // by the rank whose memory it is
	pads   map[padKey]chan []int64
}

// Buffer is symmetric memory as one rank sees it. Ranks are those of the group, 0 to Ranks − 1;
// errors call them by their numbers in the world. An argument that is none is an error of its rank
// alone, and nothing has happened; all other errors are the end of the group, and of all ranks.
type Buffer struct {
	Size int64 // bytes on every rank

	member *Member
	store  *store
	call   string
}

// buffer is what a rank has after a meeting: the first rank's store stands for all.
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

// wrong is an argument that is none.
func (b *Buffer) wrong(format string, args ...any) error {
	return fmt.Errorf("symmetric: %s: rank %d: %w", b.member.group.key, b.member.self.Rank,
		fmt.Errorf(format, args...))
}

// checkRank says whether a rank is one of the group's.
func (b *Buffer) checkRank(name string, rank int) error {
	if rank < 0 || rank >= b.member.Ranks {
		return b.wrong("%s: rank %d is none of 0…%d", name, rank, b.member.Ranks-1)
	}
	return nil
}

// checkBytes says whether there are so many bytes.
func (b *Buffer) checkBytes(name string, at int64, n int) error {
	if at < 0 || at > b.Size || int64(n) > b.Size-at {
		return b.wrong("%s: %d bytes at %d: the buffer has %d", name, n, at, b.Size)
	}
	return nil
}
