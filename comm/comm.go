// Package comm posts communications and waits for them. It is for programs whose ranks use
// collectives; no command reaches it. Every rank binds a collective.Communication to a name
// (World.Member), posts it with its tensors and gets a handle at once. When all ranks have posted,
// the executor of the world executes the schedule of an algorithm, and the handles' Wait returns.
//
//	posts ─► buffers checked by role ─► group: all mean the same ─► schedule, proven ─► executor
//
// What would hang or corrupt memory in a real library is an error here, before anything moves, and
// every rank that takes part gets the same error. The package names no executor and no algorithm,
// and knows no time.
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

// Play carries a proven schedule out on the inputs of all its ranks, little-endian, and returns
// their outputs. It changes no input. A World calls it from one goroutine at a time.
type Play func(ctx context.Context, s *schedule.Schedule, inputs [][]byte) ([][]byte, error)

// Build makes the schedule of a collective.
type Build func(collective.Spec) (*schedule.Schedule, error)

// Algorithm is the Build that uses one of our algorithms, by its name.
func Algorithm(name string) Build {
	return func(spec collective.Spec) (*schedule.Schedule, error) {
		a, err := algos.Find(spec.Kind, name)
		if err != nil {
			return nil, err
		}
		return a.Build(spec, algos.Options{})
	}
}

// First is the Build that uses the first of our algorithms that can do it.
func First(spec collective.Spec) (*schedule.Schedule, error) {
	err := fmt.Errorf("comm: no algorithm does %v", spec.Kind)
	for _, a := range algos.ForKind(spec.Kind) {
		var s *schedule.Schedule
		if s, err = a.Build(spec, algos.Options{}); err == nil {
			return s, nil
		}
	}
	return nil, err
}

// World is the ranks of a program that share an executor. Each may post from goroutines of its own.
type World struct {
	ranks int
	play  Play
	build Build
	meets group.Registry
	turn  chan struct{} // holds one: whoever plays

	mu     sync.Mutex
	posted map[seat]int     // how often a rank has posted under a name
	last   map[seat]*Handle // its latest post, if that is not over
	known  map[string]*schedule.Schedule
}

// seat is a rank under a name.
type seat struct {
	rank int
	name string
}

// New returns a world of so many ranks. Without a build it is First.
func New(ranks int, play Play, build Build) (*World, error) {
	if ranks < 1 || ranks > group.MaxSize {
		return nil, fmt.Errorf("comm: %d ranks: 1 to %d are expected", ranks, group.MaxSize)
	}
	if play == nil {
		return nil, fmt.Errorf("comm: no executor")
	}
	if build == nil {
		build = First
	}
	return &World{ranks: ranks, play: play, build: build, turn: make(chan struct{}, 1),
		posted: map[seat]int{}, last: map[seat]*Handle{}, known: map[string]*schedule.Schedule{}}, nil
}

// Member is a rank's part in a communication. Its posts are carried out in their order.
type Member struct {
	world *World
	rank  int
	name  string
	does  collective.Communication
}

// Member binds a communication to a rank and a name. Ranks meet by the name: the n-th post under
// it on one rank belongs to the n-th on each of the others. So teams that do the same side by side
// have names of their own.
func (w *World) Member(rank int, name string, does collective.Communication) *Member {
	return &Member{world: w, rank: rank, name: name, does: does}
}

// Tensors are what a rank passes: a tensor for each source and destination of its role (see
// collective.Communication.Blocks), or one tensor for all of them, joined along the axis.
type Tensors struct{ In, Out []Tensor }

// Outcome is what came of a post.
type Outcome struct {
	Skipped bool // the communication is disabled: outputs are as they were
	// Played is the schedule that was carried out; its name is that of the algorithm.
	Played *schedule.Schedule
}

// Handle is a post on its way.
type Handle struct {
	once    sync.Once
	done    chan struct{} // the outcome is known
	over    chan struct{} // the group has heard of it: the next post may come
	outcome Outcome
	err     error
}

// Wait returns when the post has come to its end: outputs are written then, or, if there is an
// error, are as they were. All ranks of a communication have the same outcome, those that post
// after it has failed included. A disabled one has come to its end when it is posted.
func (h *Handle) Wait() (Outcome, error) {
	<-h.done
	return h.outcome, h.err
}

// Done is closed when Wait returns at once.
func (h *Handle) Done() <-chan struct{} { return h.done }

func (h *Handle) finish(o Outcome, err error) {
	h.once.Do(func() {
		h.outcome, h.err = o, err
		close(h.done)
	})
}

// post is what a member brings to a meeting.
type post struct {
	ctx     context.Context
	handle  *Handle
	spec    collective.Spec
	tensors Tensors
}

// Post starts the communication and returns at once. Types, shapes, sizes and places of the buffers
// are checked first; until Wait returns they are not to be touched. The context bounds all of it:
// when it ends, all ranks that have met are told.
func (m *Member) Post(ctx context.Context, t Tensors) *Handle {
	w := m.world
	h := &Handle{done: make(chan struct{}), over: make(chan struct{})}
	p := &post{ctx: ctx, handle: h, tensors: t}
	position, size := place(&m.does, m.rank, w.ranks)
	if position < 0 { // nor is there a place at which others could be told
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
		q.Does.Shape = own // which splits may make another than that of the others
	}
	at := seat{m.rank, m.name}
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
func (w *World) end(at seat, h *Handle) {
	close(h.over)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last[at] == h {
		delete(w.last, at)
	}
}

// wrong is an error of this member.
func (m *Member) wrong(err error) error {
	return fmt.Errorf("comm: %q: rank %d: %w", m.name, m.rank, err)
}

// place is where a rank stands in the team, −1 if it is none of it, and how many take part.
func place(c *collective.Communication, rank, ranks int) (position, size int) {
	switch {
	case c.Team != nil:
		return slices.Index(c.Team, rank), len(c.Team)
	case rank < 0 || rank >= ranks:
		return -1, ranks
	}
	return rank, ranks
}
