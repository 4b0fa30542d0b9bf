package cuda

import (
	"context"
	"fmt"
	"strings"
	"time"

	"collsim/hw"
)

// finish waits until all issued work has completed.
func (p *execution) finish() error {
	left := p.lanes
	return p.await(func() (all, moved bool, err error) {
		var still []*lane
		for _, l := range left {
			over := int(l.over.Load())
			for ; over < len(l.steps); over++ {
				come, err := p.come(l.steps[over].end)
				if err != nil {
					return false, false, p.broken(err)
				}
				if !come {
					break
				}
				l.over.Add(1)
				p.moved.Add(1)
				moved = true
			}
			if over < len(l.steps) {
				still = append(still, l)
			}
		}
		if left = still; len(left) > 0 {
			return false, moved, nil
		}
		all, _, err = p.begun() // also of GPUs without work
		return all, moved, err
	})
}

// await polls until look reports the end. If nothing moves for the timeout on a single machine, it
// returns the wait-for chain. With several machines the coordinator watches.
func (p *execution) await(look func() (all, moved bool, err error)) error {
	const longest = time.Millisecond
	since, pause := time.Now(), 10*time.Microsecond
	for {
		all, moved, err := look()
		if all || err != nil {
			return err
		}
		if err := context.Cause(p.ctx); err != nil {
			return err
		}
		if moved {
			since, pause = time.Now(), 10*time.Microsecond
		}
		if p.places.count == 1 && time.Since(since) > p.env.Timeout {
			return p.hung()
		}
		time.Sleep(pause)
		pause = min(2*pause, longest)
	}
}

// ended reports whether all sub-steps of a lane are known to have ended.
func (l *lane) ended() bool { return int(l.over.Load()) == len(l.steps) }

// named returns a lane's current sub-step, with its name and chunk in the schedule.
func (p *execution) named(l *lane) (at *subStep, name string, chunk int) {
	at = &l.steps[l.over.Load()]
	cursor := l.program.Walk(l.index)
	for !cursor.Done() && cursor.Step != at.step {
		cursor.Next(l.slices)
	}
	l.program.Load(&cursor, &p.step)
	name = p.step.Name()
	if g := p.events[at.end].in; g != nil {
		name += fmt.Sprintf(" in graph %d", g.number)
	}
	return at, name, p.step.Chunk()
}

// broken adds the positions of all unfinished lanes to an asynchronous error, which may concern any
// of them.
func (p *execution) broken(err error) error {
	e, ok := err.(*hw.Error)
	if !ok {
		return err
	}
	var where []string
	for _, l := range p.lanes {
		if l.ended() {
			continue
		}
		at, name, _ := p.named(l)
		where = append(where, fmt.Sprintf("rank %d lane %d step %d (%s)", l.rank.number, l.index,
			at.step, name))
	}
	e.Text += "; not over, when that was found: " + some(where)
	return e
}

// some joins the first eight texts of a list.
func some(list []string) string {
	const most = 8
	if len(list) > most {
		list = append(list[:most:most], fmt.Sprintf("%d more", len(list)-most))
	}
	return strings.Join(list, ", ")
}

// hung returns the error of a run without progress: which lanes wait for which, and which only for
// the device.
func (p *execution) hung() error {
	e := &hw.Error{Call: "wait", Code: "timeout", Rank: -1, Lane: -1, Step: -1,
		Text: fmt.Sprintf("no progress for %v", p.env.Timeout)}
	come, _, err := p.begun()
	if err != nil {
		return p.broken(err)
	}
	if !come {
		e.Text += ": the device has not taken the inputs"
		return e
	}
	var waits []string
	for _, l := range p.lanes {
		if l.ended() {
			continue
		}
		at, name, chunk := p.named(l)
		if chunk >= 0 {
			name += fmt.Sprintf(" chunk %d", chunk)
		}
		on, err := p.pending(at)
		if err != nil {
			return p.broken(err)
		}
		if on != nil {
			waits = append(waits, fmt.Sprintf("rank %d lane %d step %d (%s) waits for %s from rank %d "+
				"lane %d", l.rank.number, l.index, at.step, name, on.what, on.rank, on.lane))
		} else if e.Rank < 0 {
			e.Rank, e.Lane, e.Step = l.rank.number, l.index, int(at.step)
			e.Text += fmt.Sprintf(": the device has not ended it (%s), and it waits for nothing else",
				name)
		}
	}
	if len(waits) > 0 {
		e.Text += "; " + some(waits)
	}
	return e
}

// pending returns the first dependency of a sub-step that has not completed, nil if all have.
func (p *execution) pending(at *subStep) (*depended, error) {
	for i := range at.deps {
		if at.deps[i].crossing != 0 {
			continue // the coordinator reports those
		}
		come, err := p.come(at.deps[i].event)
		if err != nil {
			return nil, err
		}
		if !come {
			return &at.deps[i], nil
		}
	}
	return nil, nil
}
