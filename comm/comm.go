// Package comm posts communications and waits for them. It is for programs whose ranks use
// collectives; no command uses it. Every rank binds a collective.Communication to a name
// (World.Member), posts it with its tensors and gets a handle at once. When all ranks have posted,
// the world's executor executes the schedule of an algorithm, and the handles' Wait returns.
//
//	posts ─► buffers checked by role ─► group: all mean the same ─► schedule, proven ─► executor
//
// Mistakes that would hang or corrupt memory in a real library are errors here, before anything
// moves, and every rank that takes part gets the same error. The package names no executor and no
// algorithm, and knows no time.
//
// Package comm/group is the meeting alone; package comm/symmetric is memory that ranks share.
package comm

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"collsim/algos"
	"collsim/collective"
	"collsim/comm/group"
	"collsim/schedule"
)

// Execute executes a proven schedule on the inputs of all its ranks, little-endian, and returns
// their outputs. It changes no input. A World calls it from one goroutine at a time.
type Execute func(ctx context.Context, s *schedule.Schedule, inputs [][]byte) ([][]byte, error)

// Build makes the schedule of a collective.
type Build func(collective.Spec) (*schedule.Schedule, error)

// Algorithm returns the Build that uses one of our algorithms, by its name.
func Algorithm(name string) Build {
	return func(spec collective.Spec) (*schedule.Schedule, error) {
		a, err := algos.Find(spec.Kind, name)
		if err != nil {
			return nil, err
		}
		return a.Build(spec, algos.Options{})
	}
}

// First builds a schedule by the first of our algorithms that supports the collective.
func First(spec collective.Spec) (*schedule.Schedule, error) {
	err := fmt.Errorf("no algorithm does %v", spec.Kind)
	for _, a := range algos.ForKind(spec.Kind) {
		var s *schedule.Schedule
		if s, err = a.Build(spec, algos.Options{}); err == nil {
			return s, nil
		}
	}
	return nil, err
}

// World holds the ranks of a program that share an executor. Each may post from goroutines of its
// own.
type World struct {
	ranks   int
	execute Execute
	build   Build
	meets   group.Registry
	turn    chan struct{} // a semaphore of one: held during an execution

	mu     sync.Mutex
	posted map[memberKey]int     // number of posts of a rank under a name
	last   map[memberKey]*Handle // its latest post, until that is over
	known  map[string]*schedule.Schedule
}

// memberKey identifies a rank under a name.
type memberKey struct {
	rank int
	name string
}

// New returns a world of so many ranks. A nil build stands for First.
func New(ranks int, execute Execute, build Build) (*World, error) {
	if ranks < 1 || ranks > group.MaxSize {
		return nil, fmt.Errorf("%d ranks: 1 to %d are expected", ranks, group.MaxSize)
	}
	if execute == nil {
		return nil, fmt.Errorf("no executor")
	}
	if build == nil {
		build = First
	}
	return &World{ranks: ranks, execute: execute, build: build, turn: make(chan struct{}, 1),
		posted: map[memberKey]int{}, last: map[memberKey]*Handle{},
		known: map[string]*schedule.Schedule{}}, nil
}

// Member is a rank's part in a communication. Its posts are executed in order.
type Member struct {
	world *World
	rank  int
	name  string
	does  collective.Communication
}

// Member binds a communication to a rank and a name. Ranks meet by the name: the n-th post under it
// on one rank belongs to the n-th on each of the others. So teams that run concurrently need names
// of their own.
func (w *World) Member(rank int, name string, does collective.Communication) *Member {
	return &Member{world: w, rank: rank, name: name, does: does}
}

// Tensors are the buffers that a rank passes: a tensor for each source and destination of its role
// (see collective.Communication.Blocks), or one tensor for all of them, joined along the axis.
type Tensors struct{ In, Out []Tensor }

// Outcome is the result of a post.
type Outcome struct {
	Skipped bool // the communication is disabled: outputs are unchanged
	// Executed is the schedule that was executed; its name is that of the algorithm.
	Executed *schedule.Schedule
}

// Handle is a post in progress.
type Handle struct {
	once    sync.Once
	done    chan struct{} // closed once the outcome is known
	over    chan struct{} // closed once the group has the outcome: the next post may start
	outcome Outcome
	err     error
}

// Wait returns when the post has finished. Outputs are then written or, if there is an error,
// unchanged. All ranks of a communication have the same outcome, including those that post after it
// has failed. A disabled communication finishes as it is posted.
func (h *Handle) Wait() (Outcome, error) {
	<-h.done
	return h.outcome, h.err
}

// Done returns a channel that is closed once Wait returns at once.
func (h *Handle) Done() <-chan struct{} { return h.done }

func (h *Handle) finish(o Outcome, err error) {
	h.once.Do(func() {
		h.outcome, h.err = o, err
		close(h.done)
	})
}

// post is a member's contribution to a meeting.
type post struct {
	ctx     context.Context
	handle  *Handle
	spec    collective.Spec
	tensors Tensors
}

// Post starts the communication and returns at once. It checks types, shapes, sizes and places of
// the buffers. The caller must not touch them until Wait returns. The context bounds the whole
// post: when it ends, all ranks that have met get its error.
func (m *Member) Post(ctx context.Context, t Tensors) *Handle {
	w := m.world
	h := &Handle{done: make(chan struct{}), over: make(chan struct{})}
	p := &post{ctx: ctx, handle: h, tensors: t}
	position, size := place(&m.does, m.rank, w.ranks)
	if position < 0 { // there are no others to join
		_, err := m.does.Role(m.rank, w.ranks)
		h.finish(Outcome{}, m.wrong(err))
		return h
	}
	q := group.Request{Member: fmt.Sprintf("rank %d", m.rank), Rank: position, Size: size,
		Does: m.does, Note: p, Once: true}
	if m.does.Team != nil {
		q.Member += " of the world"
	}
	if m.does.Disabled {
		h.finish(Outcome{Skipped: true}, nil)
	} else if p.spec, q.Root, q.Err = m.check(t); q.Err != nil {
		h.finish(Outcome{}, m.wrong(q.Err))
	} else if own := m.does.Inputs(size)[position]; own != nil {
		q.Does.Shape = own // splits may make it differ from the others'
	}
	at := memberKey{m.rank, m.name}
	w.mu.Lock()
	before, number := w.last[at], w.posted[at]
	w.last[at], w.posted[at] = h, number+1
	w.mu.Unlock()
	go func() {
		defer w.end(at, h)
		if err := m.await(ctx, before, h); err != nil {
			q.Err = err
		}
		m.meet(ctx, fmt.Sprintf("%s#%d", m.name, number), q, h)
	}()
	return h
}

// end lets the next post of a rank under a name begin.
func (w *World) end(at memberKey, h *Handle) {
	close(h.over)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last[at] == h {
		delete(w.last, at)
	}
}

// wrong makes an error of this member.
func (m *Member) wrong(err error) error {
	return fmt.Errorf("%q: rank %d: %w", m.name, m.rank, err)
}

// place returns a rank's position in the team, −1 if it is not in it, and the size of the team.
func place(c *collective.Communication, rank, ranks int) (position, size int) {
	switch {
	case c.Team != nil:
		return slices.Index(c.Team, rank), len(c.Team)
	case rank < 0 || rank >= ranks:
		return -1, ranks
	}
	return rank, ranks
}
