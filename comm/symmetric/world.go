// Package symmetric provides memory that the ranks of a group share. Every rank allocates the same
// size at the same offset, and they meet to exchange the addresses. From then on each of them reads
// and writes that of the others without their help, and signal pads order these accesses.
//
//	Enable ─► Alloc ─► Rendezvous ─┐
//	       └► Workspace ───────────┴─► Buffer: Put, Get, Reduce, Store · Signal, Wait, Barrier
//
// Ranks are goroutines and the memory is real, but every access is checked: two operations on the
// same bytes that no signal orders are a Race, which names both. A hang is an error of all ranks
// that says which ranks wait for which. The package follows torch's symmetric memory
// (torch/csrc/distributed/c10d/symm_mem). It knows no collective and no schedule; the same steps in
// a schedule are those of schedule.Lane: Get, Put, Store, Pads, LoadReduce, Multicast.
package symmetric

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"collsim/comm/group"
)

// Mechanism selects how ranks access each other's memory.
type Mechanism uint8

// The mechanisms.
const (
	// PeerMapping maps the memory of other GPUs of one host by file descriptors
	// (CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR).
	PeerMapping Mechanism = iota
	// Fabric maps the memory of GPUs of one NVLink domain, which may span several hosts
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

// String returns the mechanism's name.
func (m Mechanism) String() string {
	if int(m) >= len(mechanisms) {
		return fmt.Sprintf("Mechanism(%d)", m)
	}
	return mechanisms[m].name
}

// Self is a rank's description of itself.
type Self struct {
	Rank      int // in the world
	Host      string
	Mechanism Mechanism
}

// World enables groups. Its zero value is ready to use; all ranks share it.
type World struct {
	meets group.Registry

	mu      sync.Mutex
	members map[memberKey]*Member // that are enabled, or were when their group failed
	enabled map[memberKey]int     // number of times that a rank has met others to enable a group
}

// memberKey identifies a rank in a group.
type memberKey struct {
	key  string
	rank int
}

// MaxRanks is the most ranks of a group: a pad has a word for each of them on channel 0.
const MaxRanks = padWords

// Member is a rank's part in a group. It is one stream: its operations happen in order, and only
// one goroutine at a time may use it and its buffers.
type Member struct {
	Rank, Ranks int // in the group, in the order of the ranks of the world

	world     *World
	group     *common
	self      Self
	meetings  int
	next      int64 // offset of the next allocation
	workspace *Allocation
	steps     int // number of its operations; guarded by the group's lock
}

// common is the part of a group that its members share.
type common struct {
	key       string
	number    int // counts the enablings of its key
	ranks     []int
	mechanism Mechanism
	ended     context.Context // its cause is the reason why the group has failed
	fail      context.CancelCauseFunc

	mu     sync.Mutex // guards clocks, all memory, and the records of it
	clocks [][]int64
}

// Enable joins the group with this name and these ranks, which include self, and waits for the
// others. A group is identified by its name and the set of its ranks: the same name with other
// ranks is another group. A rank that is already enabled gets the same member at once. All ranks
// must give the same mechanism and, if that needs it, the same host: else all get a *Mismatch. A
// failed group is enabled anew, without its allocations.
func (w *World) Enable(ctx context.Context, name string, ranks []int, self Self) (*Member, error) {
	ranks = slices.Sorted(slices.Values(ranks))
	at, err := place(name, ranks, self.Rank)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s of %s", name, listed(ranks))
	s := memberKey{key, self.Rank}
	w.mu.Lock()
	m, number := w.members[s], w.enabled[s]
	if m != nil && m.group.ended.Err() == nil {
		defer w.mu.Unlock()
		if m.self != self {
			return nil, fmt.Errorf("%s: rank %d is enabled as %+v, and not as %+v", key,
				self.Rank, m.self, self)
		}
		return m, nil
	}
	if w.members == nil {
		w.members, w.enabled = map[memberKey]*Member{}, map[memberKey]int{}
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

// place returns a rank's index among sorted ranks.
func place(name string, ranks []int, rank int) (int, error) {
	at, ok := slices.BinarySearch(ranks, rank)
	refuse := func(format string, args ...any) (int, error) {
		return 0, fmt.Errorf("group %q: "+format, append([]any{name}, args...)...)
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
