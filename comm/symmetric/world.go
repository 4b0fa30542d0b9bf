// Package symmetric is the memory that the ranks of a group have in common: every rank allocates
// the same size at the same offset, they meet to exchange where it lies, and from then on each of
// them reads and writes that of the others without their help, with signal pads to say when.
//
//	Enable ─► Alloc ─► Rendezvous ─┐
//	       └► Workspace ───────────┴─► Buffer: Put, Get, Reduce, Store · Signal, Wait, Barrier
//
// Ranks are goroutines and the memory is real, but none of it is touched without being checked: two
// operations on the same bytes that no signal orders are a Race, which names both. What would hang
// is an error of all ranks that says who waits for whom. The package follows torch's symmetric
// memory (torch/csrc/distributed/c10d/symm_mem). It knows no collective and no schedule; the same
// steps in a schedule are those of schedule.Lane: Get, Put, Store, Pads, LoadReduce, Multicast.
package symmetric

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"collsim/comm/group"
)

// Mechanism is how ranks reach each other's memory.
type Mechanism uint8

// The mechanisms.
const (
	// PeerMapping maps the memory of other GPUs of one host by file descriptors
	// (CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR).
	PeerMapping Mechanism = iota
	// Fabric maps the memory of GPUs of one NVLink domain, which may be of several hosts
	// (CU_MEM_HANDLE_TYPE_FABRIC).
	Fabric
	// Network reads and writes over a network, as NVSHMEM does; no switch multicasts.
	Network
)

var mechanisms = [...]struct {
	name               string
	oneHost, multicast bool
}{
	PeerMapping: {"peer-mapping", true, true},
	Fabric:      {"fabric", false, true},
	Network:     {"network", false, false},
}

// String is the mechanism's name.
func (m Mechanism) String() string {
	if int(m) >= len(mechanisms) {
		return fmt.Sprintf("Mechanism(%d)", m)
	}
	return mechanisms[m].name
}

// Self is what a rank says of itself.
type Self struct {
	Rank      int // of the world
	Host      string
	Mechanism Mechanism
}

// World is where groups are enabled. Its zero value is ready; it is shared by all ranks.
type World struct {
	meets group.Registry

	mu      sync.Mutex
	members map[seat]*Member // that are enabled, or were when their group failed
	enabled map[seat]int     // how often a rank has met others to enable a group
}

// seat is a rank in a group.
type seat struct {
	key  string
	rank int
}

// MaxRanks is the most ranks that a group may have: each has a signal pad of all on channel 0.
const MaxRanks = padWords

// Member is a rank's part in a group. It is one stream: its operations happen in their order, and
// one goroutine at a time uses it and its buffers.
type Member struct {
	Rank, Ranks int // in the group, in the order of the ranks of the world

	world     *World
	group     *common
	self      Self
	meetings  int
	next      int64 // offset of the next allocation
	workspace *Allocation
	steps     int // that it has taken; under the group's lock
}

// common is a group, shared by its members.
type common struct {
	key       string
	number    int // of this enabling, among those of its key
	ranks     []int
	mechanism Mechanism
	ended     context.Context // its cause is why the group has failed
	fail      context.CancelCauseFunc

	mu     sync.Mutex // of clocks, of all memory, and of what is known of it
	clocks [][]int64
}

// Enable joins the group of this name and these ranks, of which self is one, and waits for the
// others. The group is its name and the set of its ranks: the same name with other ranks is another
// group. Whoever is enabled already gets the same member at once. All ranks must give the same
// mechanism and, where that needs it, the same host: else it is a *Mismatch for all. A group that
// has failed is enabled anew, without what it had allocated.
func (w *World) Enable(ctx context.Context, name string, ranks []int, self Self) (*Member, error) {
	ranks = slices.Sorted(slices.Values(ranks))
	at, err := place(name, ranks, self.Rank)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s of %s", name, listed(ranks))
	s := seat{key, self.Rank}
	w.mu.Lock()
	m, number := w.members[s], w.enabled[s]
	if m != nil && m.group.ended.Err() == nil {
		defer w.mu.Unlock()
		if m.self != self {
			return nil, fmt.Errorf("symmetric: %s: rank %d is enabled as %+v, and not as %+v", key,
				self.Rank, m.self, self)
		}
		return m, nil
	}
	if w.members == nil {
		w.members, w.enabled = map[seat]*Member{}, map[seat]int{}
	}
	w.enabled[s]++
	w.mu.Unlock()

	g := &common{key: key, number: number, ranks: ranks, mechanism: self.Mechanism,
		clocks: newClocks(len(ranks))}
	g.ended, g.fail = context.WithCancelCause(context.Background())
	n := note{group: g, terms: []term{{"call", "enable"}, {"mechanism", self.Mechanism.String()}}}
	switch m := int(self.Mechanism); {
	case m >= len(mechanisms):
		n.err = fmt.Errorf("%v is none", self.Mechanism)
	case mechanisms[m].oneHost:
		what := fmt.Sprintf("host, where %v needs one", self.Mechanism)
		n.terms = append(n.terms, term{what, fmt.Sprintf("%q", self.Host)})
	}
	notes, err := w.meet(ctx, fmt.Sprintf("%s#%d", key, number), &meeting{key, ranks, at, n})
	if err != nil {
		return nil, err
	}
	m = &Member{Rank: at, Ranks: len(ranks), world: w, group: notes[0].group, self: self}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.members[s] = m
	return m, nil
}

// place is where a rank stands among sorted ranks.
func place(name string, ranks []int, rank int) (int, error) {
	at, ok := slices.BinarySearch(ranks, rank)
	refuse := func(format string, args ...any) (int, error) {
		return 0, fmt.Errorf("symmetric: group %q: "+format, append([]any{name}, args...)...)
	}
	switch {
	case name == "":
		return refuse("a name is expected")
	case len(ranks) < 1 || len(ranks) > MaxRanks:
		return refuse("%d ranks: 1 to %d are expected", len(ranks), MaxRanks)
	case ranks[0] < 0:
		return refuse("rank %d is none", ranks[0])
	case !ok:
		return refuse("rank %d is none of %s", rank, listed(ranks))
	}
	for i := range ranks[1:] {
		if ranks[i] == ranks[i+1] {
			return refuse("rank %d is named twice", ranks[i])
		}
	}
	return at, nil
}
