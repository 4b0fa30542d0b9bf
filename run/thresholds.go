package run

import (
	"fmt"
	"strings"

	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/internal/prose"
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
// the algorithm of the point where that is NCCL's, else by NCCL's choice on the machine. Points
// that differ in nothing but size or an algorithm that is not NCCL's are one.
func (s *Scenario) Thresholds() (list []Thresholds, err error) {
	defer func() { err = s.located(err) }()
	seen := map[string]bool{}
	for _, p := range s.Points {
		a := p.Algorithm
		if !ofNCCL(a.Name) {
			var ok bool
			if a, ok = libraryOf(p); !ok {
				continue
			}
		}
		row, err := find(p.Spec.Kind, a.Name)
		if err != nil || p.Spec.Kind == collective.AllToAll || a.Name == nccl.Prefix+"p2p" {
			continue
		}
		spec := p.Spec
		if p.Teams != nil {
			spec = p.TeamSpec(len(p.Teams[0]))
		}
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
		if seen[key] {
			continue
		}
		seen[key] = true
		if why := noLibrary(p, a); why != "" {
			return nil, p.Refuse("collective.algorithm", why, "")
		}
		found, err := nccl.Thresholds(row, spec, optionsOn(p, a, row))
		if err != nil {
			return nil, p.Refuse("collective.algorithm", prose.Unprefixed(err), "")
		}
		one := Thresholds{Point: p, Algorithm: a}
		for _, t := range found {
			spec.Count = t.Count
			one.From = append(one.From, Threshold{spec.Bytes(), t})
		}
		list = append(list, one)
	}
	return list, nil
}

// ncclCosts is NCCL's table of the call that a schedule of a point's first team is; nil where the
// algorithm is not NCCL's, or has no choice.
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
