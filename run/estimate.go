package run

import (
	"errors"

	"collsim/internal/prose"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// Estimate is what a point will cost, worked out from its schedule without running it.
type Estimate struct {
	Point           *scenarios.Point
	Skipped         string  // why the point will be skipped; empty if it will be run
	Algorithms      int     // that will be simulated: several for "fastest", else 1
	Steps, Messages int64   // of all of them; slices one by one
	Seconds         float64 // on one core
	NumberSeconds   float64 // of them those that the check of numbers takes
	Memory          unit.Bytes
}

// Estimate builds the schedule of a point, or of every algorithm that may turn out the fastest, and
// counts its steps.
func (s *Scenario) Estimate(p *scenarios.Point) (_ *Estimate, err error) {
	defer func() { err = s.located(err) }()
	e := &Estimate{Point: p}
	algorithms := standsFor(p)
	var why error
	for _, a := range algorithms {
		m, err := s.make(p, a)
		var cannot *illegal
		if errors.As(err, &cannot) && (s.mayLeaveOut(p) || len(algorithms) > 1) {
			why = err
			continue
		}
		if err != nil {
			return nil, p.Refuse("collective.algorithm", prose.Unprefixed(err), "")
		}
		e.add(m)
	}
	if e.Algorithms == 0 {
		e.Skipped = prose.Unprefixed(why)
		return e, nil
	}
	g, err := p.Topology.Graph()
	if err != nil {
		return nil, p.Refuse("topology", prose.Unprefixed(err), "")
	}
	e.Memory += unit.Bytes(programBytes + linkBytes*len(g.Links))
	return e, nil
}

// add counts one algorithm. Checks are made of one alone.
func (e *Estimate) add(m *made) {
	e.Algorithms++
	var all cost
	for _, member := range m.members {
		w := workOf(member.schedule)
		all = all.plus(costOf(member.schedule, e.Point, w, member.teams))
		n := int64(member.teams)
		e.Steps, e.Messages = e.Steps+n*w.steps, e.Messages+n*w.messages
	}
	e.Seconds += all.build + all.simulate
	memory := all.programs + all.simulation
	if e.Algorithms == 1 {
		e.NumberSeconds = all.numbers
		e.Seconds += all.prove + all.numbers
		memory = all.programs + max(all.simulation, all.proof, all.check)
	}
	e.Memory = max(e.Memory, unit.Bytes(memory))
}

// work is what there is to do in a schedule. bytes are of messages whose size their step names, and
// blocks those that the steps name.
type work struct{ steps, messages, bytes, lanes, blocks int64 }

func (w work) times(n int64) work {
	return work{w.steps * n, w.messages * n, w.bytes * n, w.lanes * n, w.blocks * n}
}

// workOf walks the lanes of every rank, or of one where all do as much.
func workOf(s *schedule.Schedule) (all work) {
	ranks := s.Alike()
	alike := int64(s.Spec.Ranks / ranks)
	var step schedule.Step
	slices := int32(max(s.Slices, 1))
	for rank := range ranks {
		p := s.Program(rank)
		all.lanes += int64(p.Lanes())
		for lane := range p.Lanes() {
			spot := schedule.Spot{Rank: rank, Channel: p.Channel(lane)}
			for c := p.Walk(lane); !c.Done(); c.Next(slices) {
				p.Load(&c, &step)
				spot.Slice = int(c.Slice())
				n, _ := s.Size(spot, &step)
				all.steps++
				all.messages += int64(len(step.Send))
				all.bytes += int64(len(step.Send)) * n * int64(s.Spec.Type.Width())
				all.blocks += blocksOf(&step)
			}
		}
	}
	return all.times(alike)
}

// blocksOf is how many blocks a step names.
func blocksOf(step *schedule.Step) (n int64) {
	for i := range step.From {
		if f := &step.From[i]; f.Kind != schedule.Message {
			n += blocksIn(&f.Region)
		}
	}
	for i := range step.To {
		n += blocksIn(&step.To[i])
	}
	return n
}

func blocksIn(r *schedule.Region) int64 {
	if r.List != nil {
		return int64(len(r.List))
	}
	return int64(r.Run) * int64(r.Times)
}

// held is what the buffers take that a check of numbers holds: inputs are made when they are read,
// unless outputs lie in them.
func held(s *schedule.Schedule) unit.Bytes {
	elements := int64(0)
	for rank := range s.Spec.Ranks {
		for b := schedule.Input; b <= schedule.Scratch; b++ {
			if b != schedule.Input || s.Spec.InPlace {
				elements += s.Len(b, rank)
			}
		}
	}
	return unit.Bytes(elements * int64(s.Spec.Type.Width()))
}

// Steps counts those of all ranks.
func Steps(s *schedule.Schedule) int64 { return workOf(s).steps }
