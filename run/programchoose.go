package run

import (
	"errors"
	"fmt"
	"slices"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/program"
	"collsim/scenarios"
)

// chooser makes the schedules of a program's calls, as of collectives on their own: one that names
// no algorithm is done as the machine's library does it, if it has one. Else, and by "fastest", it
// is done by what takes the least time if it has the machine for itself.
func (r *runner) chooser(p *scenarios.ProgramPoint,
	by map[string]scenarios.Algorithm) program.Choose {
	made := map[string]program.Chosen{}
	return func(spec collective.Spec, name string, team []int,
		symmetric bool) (program.Chosen, error) {
		key := fmt.Sprint(spec.Key(), name, team, symmetric)
		if c, ok := made[key]; ok {
			return c, nil
		}
		algorithm := scenarios.Algorithm{Name: fastestName, Slices: 1}
		if name != "" {
			algorithm.Name = name // a pass's, unless an op names it, or it has been chosen before
			if before, ok := by[name]; ok {
				algorithm = before
			}
			i := slices.IndexFunc(p.Ops, func(o scenarios.ProgramOp) bool {
				return o.Algorithm.String() == name
			})
			if i >= 0 {
				algorithm = p.Ops[i].Algorithm
			}
		}
		alone := *p.Point
		alone.Spec, alone.Algorithm, alone.Asked = spec, algorithm, spec.Bytes()
		if team != nil {
			alone.Teams = [][]int{team}
		}
		list, choose := private(&alone, standsFor(&alone), symmetric), r.compare
		switch {
		case r.candidates != nil:
			choose = r.consider
		case len(list) == 1:
			choose = onlyOne(r.s)
		}
		if r.candidates == nil {
			if err := r.enter(&alone); err != nil {
				return program.Chosen{}, err
			}
		}
		m, candidates, err := choose(&alone, list)
		if err != nil {
			return program.Chosen{}, err
		}
		if name == "" {
			if own := r.byLibrary(&alone, candidates, symmetric); own != nil {
				m = own
			}
		}
		if m == nil {
			return program.Chosen{}, errors.New(noneOf(candidates))
		}
		c := program.Chosen{Schedule: m.members[0].schedule, Name: m.algorithm.String()}
		made[key], by[c.Name] = c, m.algorithm
		return c, nil
	}
}

// private lists what is left of algorithms on memory that is not symmetric: those that read and
// write it one-sided copy an input first, and NCCL's leave out NVLS, whose schedules read the
// operands by multimem. (NCCL itself copies what is not registered into buffers of its own.)
func private(p *scenarios.Point, list []scenarios.Algorithm, symmetric bool) (
	left []scenarios.Algorithm) {
	if symmetric {
		return list
	}
	for _, a := range list {
		found, err := find(p.Spec.Kind, a.Name)
		has := func(name string) bool {
			given := slices.ContainsFunc(a.Params, func(p scenarios.Param) bool { return p.Name == name })
			return err == nil && !given && slices.ContainsFunc(found.Params, func(p algos.Param) bool {
				return p.Name == name
			})
		}
		switch {
		case a.Name == nccl.Prefix+"nvls" || a.Name == nccl.Prefix+"nvlstree":
			if len(list) > 1 { // nobody has asked for it
				continue
			}
		case has("nvls") && multicasts(p):
			a = with(a, "nvls", "false")
		case has("symmetric"):
			a = with(a, "symmetric", "false")
		}
		left = append(left, a)
	}
	return left
}

// onlyOne returns a function that makes a schedule by the one algorithm of a list. Nothing is to be
// compared, so nothing is simulated.
func onlyOne(s *Scenario) func(*scenarios.Point, []scenarios.Algorithm) (*made, []Candidate,
	error) {
	return func(p *scenarios.Point, list []scenarios.Algorithm) (*made, []Candidate, error) {
		m, err := s.make(p, list[0])
		if err == nil {
			err = s.fits(p, m, simulates)
		}
		switch {
		case err == nil:
			return m, nil, nil
		case leavesOut(err):
			return nil, []Candidate{{Algorithm: list[0], Time: -1, Why: reason(err)}}, nil
		}
		return nil, nil, err
	}
}
