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
	Skipped         string // why the point will be skipped; empty if it will be run
	Algorithms      int    // that will be simulated: several for "fastest", else 1
	Steps, Messages int64  // of all of them; slices one by one
	Seconds         float64
	Memory          unit.Bytes
}

// What things take on one core of a server of the 2020s, as measured with rings, trees and
// all-to-alls of 8 to 1024 ranks. Most runs are within a factor of three; fluid sharing of links
// that hundreds of messages cross at once takes longer (sim.CostError says so), and so do steps of
// many blocks.
const (
	simSeconds    = 0.6e-6 // a message
	proofSeconds  = 0.5e-6 // a step
	numberSeconds = 1.5e-6 // a step,
	byteSeconds   = 0.5e-9 // and each byte that it sends
	linkBytes     = 200    // of a network
	laneBytes     = 1000   // of a simulation, with what is in flight
)

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
	e.Memory += unit.Bytes(linkBytes * len(g.Links))
	return e, nil
}

// add counts one algorithm. Checks are made of one alone.
func (e *Estimate) add(m *made) {
	e.Algorithms++
	check := e.Point.Check
	var all work
	buffers := unit.Bytes(0)
	for _, member := range m.members {
		w := workOf(member.schedule).times(int64(member.teams))
		all.steps, all.messages = all.steps+w.steps, all.messages+w.messages
		all.bytes, all.lanes = all.bytes+w.bytes, all.lanes+w.lanes
		buffers = max(buffers, held(member.schedule))
	}
	e.Steps, e.Messages = e.Steps+all.steps, e.Messages+all.messages
	e.Seconds += float64(simSeconds * float64(all.messages))
	e.Memory = max(e.Memory, unit.Bytes(laneBytes*all.lanes)+min(buffers, check.Memory))
	if e.Algorithms > 1 {
		return
	}
	if check.Proof {
		e.Seconds += float64(proofSeconds * float64(all.steps))
	}
	if check.Numbers {
		share := min(1, float64(check.Memory)/float64(max(buffers, 1))) // the rest is not checked
		e.Seconds += float64(numberSeconds*float64(all.steps)) +
			float64(byteSeconds*share*float64(all.bytes))
	}
}

// work is what there is to do in a schedule.
type work struct{ steps, messages, bytes, lanes int64 }

func (w work) times(n int64) work {
	return work{w.steps * n, w.messages * n, w.bytes * n, w.lanes * n}
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
			}
		}
	}
	return all.times(alike)
}

// held is what all buffers of a schedule take.
func held(s *schedule.Schedule) unit.Bytes {
	elements := int64(0)
	for rank := range s.Spec.Ranks {
		for b := schedule.Input; b <= schedule.Scratch; b++ {
			elements += s.Len(b, rank)
		}
	}
	return unit.Bytes(elements * int64(s.Spec.Type.Width()))
}

// steps counts those of all ranks.
func Steps(s *schedule.Schedule) int64 { return workOf(s).steps }
