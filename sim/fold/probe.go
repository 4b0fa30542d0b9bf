package fold

import (
	"cmp"
	"math"
	"slices"

	"collsim/schedule"
	"collsim/sim/model"
	"collsim/unit"
)

// MostRecords bounds the sub-steps that are written down.
const MostRecords = 1 << 22

// probe writes the log of a run: of the representatives, for pictures. Nil writes nothing.
type probe struct {
	e    *engine
	log  *model.Log
	now  unit.Time // no repetition is left out before
	step schedule.Step
	last []begun // the sub-steps that may begin later than now, and more
	kept []ahead // as of the state that steady keeps
}

// begun is a sub-step that has been written down, and where its lane was in its program.
type begun struct {
	record int32
	cursor schedule.Cursor
}

// ahead is a sub-step that had begun, in the order of the run, before a state was written, and
// begins at the time of that state or later.
type ahead struct {
	lane, place, slice int32
	in                 unit.Time // from the state's time
}

// Record simulates a schedule as Run does, and logs the steps of the representatives. It notes the
// repetitions that were skipped. The log must be empty.
func Record(s *schedule.Schedule, env *model.Env, log *model.Log) (*model.Totals, error) {
	if s.HasRoles() {
		return nil, &NotFolded{Why: "of a schedule whose ranks have roles no step is written down"}
	}
	e, err := simulate(s, env, log, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	return e.finished(), nil
}

// watch has the engine write a log, in place of what another run has written there.
func (e *engine) watch(log *model.Log) {
	*log = model.Log{Details: []model.Detail{}, Alike: int32(len(e.sym.Elements))}
	for i := range e.lanes {
		l := &e.lanes[i]
		log.Lanes = append(log.Lanes, model.LaneRecord{Rank: e.sym.Reps[l.class], Lane: l.index,
			Begin: l.end.T, End: l.end.T, Last: -1})
	}
	e.probe = &probe{e: e, log: log}
}

// stepBegins writes down the sub-step of a lane that starts; D is the lane's until.
func (p *probe) stepBegins(i int32, start unit.Time, n unit.Bytes) {
	if p == nil {
		return
	}
	l, log := &p.e.lanes[i], p.log
	if len(log.Steps) == MostRecords {
		p.e.refuse("the ranks that stand for all have too many steps to write down")
		return
	}
	if len(p.last) > 4*len(p.e.lanes) {
		p.last = slices.DeleteFunc(p.last, func(b begun) bool {
			return log.Steps[b.record].Start < p.now
		})
	}
	p.last = append(p.last, begun{int32(len(log.Steps)), l.cursor})
	log.Lanes[i].Last = int32(len(log.Steps))
	log.Steps = append(log.Steps, model.StepRecord{Start: start, Done: l.until.T, Bytes: n, Lane: i,
		By: -1, Held: -1})
	log.Details = append(log.Details, model.Detail{})
	p.describe(log.Lanes[i].Last, &l.cursor)
}

// describe writes down what a sub-step does. An engine's action is that of any iteration.
func (p *probe) describe(record int32, c *schedule.Cursor) {
	s := &p.log.Steps[record]
	p.e.programs[p.e.lanes[s.Lane].class].Load(c, &p.step)
	s.Step, s.Sources = c.Step, int32(len(p.step.From))
	p.log.Details[record] = model.DetailOf(&p.step, c)
}

// comesTo notes that nothing happens any more before a time.
func (p *probe) comesTo(now unit.Time) {
	if p != nil {
		p.now = now
	}
}

// ahead appends those of a state, lane by lane.
func (p *probe) ahead(list []ahead, now unit.Time) []ahead {
	for _, b := range p.last {
		if s := &p.log.Steps[b.record]; s.Start >= now {
			list = append(list, ahead{s.Lane, b.cursor.Place(), b.cursor.Slice(), s.Start - now})
		}
	}
	slices.SortStableFunc(list, func(a, b ahead) int { return cmp.Compare(a.lane, b.lane) })
	return list
}

// keeps notes the logged steps that start no sooner than the state that the engine keeps to compare
// with.
func (p *probe) keeps(now unit.Time) {
	if p != nil {
		p.kept = p.ahead(p.kept[:0], now)
	}
}

// canLeaveOut reports whether the log from the kept state to now holds exactly the repetition that
// the engine found. It does not if steps that take no time fall on the time of a state, and come
// before one of the two states but after the other.
func (p *probe) canLeaveOut(now unit.Time) bool {
	return p == nil || slices.Equal(p.kept, p.ahead(nil, now))
}

// stepEnds writes down E of a lane's present sub-step.
func (p *probe) stepEnds(i int32, at unit.Time) {
	if p == nil {
		return
	}
	lane := &p.log.Lanes[i]
	p.log.Steps[lane.Last].End, lane.End = at, at
}

// leftOut writes down that what has happened since the kept state is left out so many times. What
// is known already of what comes after now is that of the last of them.
func (p *probe) leftOut(now, period unit.Time, times int64) {
	if p == nil || period == 0 {
		return
	}
	later := period * unit.Time(times)
	p.log.Repeats = append(p.log.Repeats, model.RepeatRecord{At: now, Period: period, Times: times})
	moved := func(at unit.Time) unit.Time {
		if at > now {
			at += later
		}
		return at
	}
	for i := range p.log.Steps {
		switch s := &p.log.Steps[i]; {
		case p.e.lanes[s.Lane].isOver():
		case s.Start >= now:
			s.Start, s.Done, s.End = s.Start+later, s.Done+later, s.End+later
		default:
			s.Done, s.End = moved(s.Done), moved(s.End)
		}
	}
	p.last = slices.DeleteFunc(p.last, func(b begun) bool { return p.log.Steps[b.record].Start < now })
	for k := range p.last {
		b := &p.last[k]
		i := p.log.Steps[b.record].Lane
		c, was := &p.e.lanes[i].cursor, p.e.kept.lanes[i]
		if c.Step != was.steps {
			b.cursor.Skip(int32(times)*(c.Iteration()-was.iteration), int32(times)*(c.Step-was.steps))
			p.describe(b.record, &b.cursor)
		}
	}
	for i := range p.log.Lanes {
		l := &p.log.Lanes[i]
		if p.e.lanes[i].isOver() {
			continue
		}
		l.Begin, l.End = moved(l.Begin), moved(l.End)
	}
}
