package comm

import (
	"context"
	"fmt"

	"collsim/collective"
	"collsim/comm/group"
	"collsim/proof"
	"collsim/schedule"
)

// await waits until the previous post has met. If the context ends first, the handle gets its
// error.
func (m *Member) await(ctx context.Context, before, h *Handle) (err error) {
	defer func() {
		if p := recover(); p != nil { // of a context from outside
			err = fmt.Errorf("panic: %v", p)
			h.finish(Outcome{}, m.wrong(err))
		}
	}()
	if before == nil {
		return nil
	}
	select {
	case <-before.over:
	case <-ctx.Done():
		err = fmt.Errorf("an earlier post is not over: %w", context.Cause(ctx))
		h.finish(Outcome{}, m.wrong(err))
		<-before.over
	}
	return err
}

// meet joins the other members, and the first of the team executes. A member that is disabled or
// wrong joins, too, so that the others get its error, whatever happens to its context.
func (m *Member) meet(ctx context.Context, name string, q group.Request, h *Handle) {
	if q.Does.Disabled || q.Err != nil {
		ctx = context.Background()
	}
	seat, panicked, err := m.join(ctx, name, q)
	if panicked {
		q.Err = err
		_, _, err = m.join(context.Background(), name, q)
	}
	switch {
	case err != nil:
		h.finish(Outcome{}, err)
	case seat.Rank == 0:
		m.lead(seat.Members)
	default:
		<-h.done
	}
}

// join joins a group; a panic, which a context from outside may cause, becomes an error.
func (m *Member) join(ctx context.Context, name string, q group.Request) (seat group.Seat,
	panicked bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err, panicked = fmt.Errorf("panic: %v", p), true
		}
	}()
	seat, err = m.world.meets.Join(ctx, name, q)
	return seat, false, err
}

// lead executes for all members, and gives all the outcome.
func (m *Member) lead(members []group.Request) {
	posts := make([]*post, len(members))
	for i := range members {
		posts[i] = members[i].Note.(*post)
	}
	outcome, err := Outcome{}, error(nil)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%q: panic: %v", m.name, p)
		}
		for _, p := range posts {
			p.handle.finish(outcome, err)
		}
	}()
	if m.does.Disabled {
		return
	}
	outcome.Executed, err = m.execute(posts)
}

// execute executes the communication and writes all outputs.
func (m *Member) execute(posts []*post) (*schedule.Schedule, error) {
	w := m.world
	if err := disjoint(posts); err != nil {
		return nil, fmt.Errorf("%q: %w", m.name, err)
	}
	s, err := w.schedule(&m.does, posts[0].spec)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", m.name, err)
	}
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	for _, p := range posts {
		defer context.AfterFunc(p.ctx, func() { end(context.Cause(p.ctx)) })()
	}
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%q: %w", m.name, context.Cause(ctx))
	}
	inputs := make([][]byte, len(posts))
	for i, p := range posts {
		inputs[i] = pack(&m.does, i, w.ranks, p)
	}
	outputs, err := w.execute(ctx, s, inputs)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", m.name, err)
	}
	if err := complete(&posts[0].spec, outputs); err != nil {
		return nil, fmt.Errorf("%q: %w", m.name, err)
	}
	for i, p := range posts {
		unpack(&m.does, i, w.ranks, p, outputs[i])
	}
	return s, nil
}

// complete checks that an executor has returned all outputs.
func complete(spec *collective.Spec, outputs [][]byte) error {
	if len(outputs) != spec.Ranks {
		return fmt.Errorf("the executor returns outputs of %d ranks: %d are expected", len(outputs),
			spec.Ranks)
	}
	for i, out := range outputs {
		if want := spec.Out(i) * int64(spec.Type.Width()); int64(len(out)) != want {
			return fmt.Errorf("the executor returns %d bytes of output for the rank at place %d: %d are "+
				"expected", len(out), i, want)
		}
	}
	return nil
}

// most is the most schedules that a world keeps.
const most = 256

// schedule returns the schedule of a communication, which is proven before its first execution.
func (w *World) schedule(c *collective.Communication, spec collective.Spec) (*schedule.Schedule,
	error) {
	key := c.String()
	w.mu.Lock()
	s := w.known[key]
	w.mu.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := w.build(spec)
	if err != nil {
		return nil, err
	}
	if _, found := proof.Verify(s, proof.Options{Iterations: 1}); len(found) > 0 {
		return nil, fmt.Errorf("the schedule of %s is wrong, and is not executed: %w", s.Name, found[0])
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.known) >= most {
		clear(w.known)
	}
	w.known[key] = s
	return s, nil
}
