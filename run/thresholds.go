package run

import (
	"fmt"
	"strings"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/scenarios"
	"collsim/unit"
)

// Thresholds are the sizes from which on NCCL does a collective of a point otherwise.
type Thresholds struct {
	Point     *scenarios.Point // of whatever size
	Algorithm scenarios.Algorithm
	From      []Threshold
}

// Threshold is one of them.
type Threshold struct {
	Bytes unit.Bytes // as tables have the size
	nccl.Threshold
}

// Thresholds finds them for all collectives of a scenario that NCCL chooses an algorithm for: by
// the algorithm of the point where that is NCCL's, else by NCCL's choice on the machine.
func (s *Scenario) Thresholds() (list []Thresholds, err error) {
	defer func() { err = s.located(err) }()
	calls, err := s.libraryCalls(func(p *scenarios.Point) scenarios.Algorithm {
		a := p.Algorithm
		if !ofNCCL(a.Name) {
			a, _ = libraryOf(p)
		}
		return a
	})
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		p := c.points[0]
		found, err := nccl.Thresholds(c.row, c.spec, optionsOn(p, c.algorithm, c.row))
		if err != nil {
			return nil, p.Refuse("collective.algorithm", reason(err), "")
		}
		one, spec := Thresholds{Point: p, Algorithm: c.algorithm}, c.spec
		for _, t := range found {
			spec.Count = t.Count
			one.From = append(one.From, Threshold{spec.Bytes(), t})
		}
		list = append(list, one)
	}
	return list, nil
}

// libraryCall is a collective that NCCL chooses an algorithm for, at all sizes that a scenario has.
type libraryCall struct {
	points    []*scenarios.Point
	algorithm scenarios.Algorithm
	row       algos.Algorithm
	spec      collective.Spec // of the first team, of no size
}

// libraryCalls lists them, each by the algorithm that a function says, if it has one. Points that
// differ in nothing but size or an algorithm that is not NCCL's are one.
func (s *Scenario) libraryCalls(by func(*scenarios.Point) scenarios.Algorithm) (
	list []libraryCall, err error) {
	place := map[string]int{}
	for _, p := range s.Points {
		a := by(p)
		row, err := find(p.Spec.Kind, a.Name)
		if err != nil || p.Spec.Kind == collective.AllToAll || a.Name == nccl.Prefix+"p2p" {
			continue
		}
		spec := specOf(p)
		if spec.Ranks == 1 {
			continue
		}
		spec.Count = 0
		key := fmt.Sprint(spec.Key(), a, p.Collective, p.Topology.Ranks)
		for _, axis := range p.Axes {
			if word := axis.Path[strings.LastIndex(axis.Path, ".")+1:]; word != "bytes" &&
				word != "count" && word != "algorithm" {
				key += fmt.Sprintf(" %s=%s", axis.Path, axis.Text)
			}
		}
		if at, seen := place[key]; seen {
			list[at].points = append(list[at].points, p)
			continue
		}
		if why := noLibrary(p, a); why != "" {
			return nil, p.Refuse("collective.algorithm", why, "")
		}
		place[key] = len(list)
		list = append(list, libraryCall{[]*scenarios.Point{p}, a, row, spec})
	}
	return list, nil
}

// ncclCosts returns NCCL's table of costs for the call of a point's first team. It is nil where
// the algorithm is not NCCL's, or has no choice.
func ncclCosts(p *scenarios.Point, m *made) *nccl.Costs {
	if !ofNCCL(m.algorithm.Name) || len(m.members) == 0 {
		return nil
	}
	spec := m.members[0].schedule.Spec
	a, err := find(spec.Kind, m.algorithm.Name)
	if err != nil || spec.Ranks == 1 || spec.Empty() {
		return nil
	}
	costs, err := nccl.CostsOf(a, spec, optionsOn(p, m.algorithm, a))
	if err != nil {
		return nil
	}
	return costs
}
