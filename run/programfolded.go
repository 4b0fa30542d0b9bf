package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"collsim/program"
	"collsim/proof"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/symmetry"
)

// A program is folded where many ranks do the same: it is lowered, proven and simulated on one rank
// of each class of equal ones (program.Guide.Alike). The times are those of all ranks.

// Programs on more ranks than wholeUpTo are folded if they can be. Numbers of a folded program are
// computed on all of its ranks, and only where there are not more than computedFolded.
const (
	wholeUpTo      = 64
	computedFolded = 256
)

// mostSymmetries bounds the symmetries that are tried.
const mostSymmetries = 32

// lowerOnce does what lowerFolded does, unless that was done when the program was estimated.
func lowerOnce(r *runner, p *scenarios.ProgramPoint) (*program.Lowered,
	map[string]scenarios.Algorithm, error) {
	m := r.known[p.Point]
	if m == nil || m.program == nil || r.options.Trace || r.options.Links {
		return lowerFolded(r, p)
	}
	delete(r.known, p.Point) // so that it takes no memory behind its end
	return m.program.Lowered, m.program.chosen, nil
}

// lowerFolded lowers a program on as few ranks as a symmetry of network and program allows; on all
// of them if there is none, or if what is asked for is of single ranks.
func lowerFolded(r *runner, p *scenarios.ProgramPoint) (*program.Lowered,
	map[string]scenarios.Algorithm, error) {
	ranks := p.Topology.Ranks
	if ranks <= wholeUpTo || r.options.Trace || r.options.Links || len(p.Faults) > 0 ||
		p.HasData() || p.Sim.Engine != scenarios.BestEngine {
		return r.lower(p, nil)
	}
	if err := r.enter(p.Point); err != nil {
		return nil, nil, err
	}
	digits, of := digitsOf(p), programOf(p, r.s.Name)
	env := envOf(p.Point, r.network.graph)
	moves := func(t symmetry.Translation) bool { return of.IsMoved(t) && env.Graph.MovesBut(t) }
	for _, steps := range symmetry.Subgroups(digits, mostSymmetries, ranks/2, moves) {
		alike := symmetry.NewSubgroup(digits, steps)
		env := envOf(p.Point, r.network.graph)
		if sim.FoldedEnv(&env, alike) != nil {
			continue
		}
		low, chosen, err := lowerBy(r, p, nil, of, alike)
		var cannot *schedule.NotFolded
		var refused *scenarios.Refusal
		switch {
		case errors.As(err, &refused) && refused.Key == "program.tensor": // as many on all ranks
			return nil, nil, err
		case err == nil && sim.Foldable(low.Schedule, env) == nil:
			return low, chosen, nil
		case err != nil && !errors.As(err, &cannot): // it is of all ranks
			return r.lower(p, nil)
		}
	}
	return r.lower(p, nil)
}

// digitsOf returns the digits of ranks by which the teams of a program's groups differ: of nodes of
// 8 with a group a node and one a rail, the node and the rank in it. Teams whose ranks are not
// evenly apart have none. A digit of a larger team is not divided for a smaller one.
func digitsOf(p *scenarios.ProgramPoint) symmetry.Group {
	ranks := p.Topology.Ranks
	type row struct{ apart, size int }
	var rows []row
	if n := p.Topology.Nodes; n > 0 && ranks%n == 0 {
		rows = append(rows, row{1, ranks / n})
	}
	for _, g := range p.Groups {
		for _, team := range g.Teams {
			if apart := evenlyApart(team); apart > 0 {
				rows = append(rows, row{apart, len(team)})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.size, a.size) })
	borders := []int{1, ranks}
	var whole []row
	for _, r := range slices.Compact(rows) {
		for _, b := range []int{r.apart, r.apart * r.size} {
			divides := func(w row) bool { return w.apart < b && b < w.apart*w.size }
			if !slices.ContainsFunc(whole, divides) {
				borders = append(borders, b)
			}
		}
		whole = append(whole, r)
	}
	slices.Sort(borders)
	var digits symmetry.Group
	last := 1
	for _, b := range borders {
		if b > last && b%last == 0 && ranks%b == 0 {
			digits, last = append(digits, int32(b/last)), b
		}
	}
	slices.Reverse(digits)
	return digits
}

// evenlyApart returns how far apart the ranks of a team are; 0 if they are not evenly so.
func evenlyApart(team []int) (apart int) {
	if len(team) < 2 {
		return 0
	}
	apart = team[1] - team[0]
	for i := range team[1:] {
		if team[i+1]-team[i] != apart {
			return 0
		}
	}
	return max(apart, 0)
}

// standsFor returns how many ranks each rank that is lowered stands for, itself included.
func (result *ProgramResult) standsFor() int {
	if alike := result.Lowered.Schedule.Alike; alike != nil {
		return len(alike.Elements)
	}
	return 1
}

// unfoldRanks numbers the ranks of a folded program as among all.
func (result *ProgramResult) unfoldRanks() {
	alike := result.Lowered.Schedule.Alike
	if alike == nil {
		return
	}
	result.Rank = int(alike.Reps[result.Rank])
	for i := range result.Waits {
		if w := &result.Waits[i]; w.Peer >= 0 {
			w.Peer = alike.Reps[w.Peer]
		}
	}
}

// unfolded returns the schedule of all ranks of a program; nil if it is folded and has more than
// are computed.
func unfolded(r *runner, result *ProgramResult) (*schedule.Schedule, error) {
	ranks := result.Point.Topology.Ranks
	switch {
	case result.Classes == 0:
		return result.Lowered.Schedule, nil
	case ranks > computedFolded:
		result.NumbersOff = fmt.Sprintf("those of up to %d ranks are computed, not of %d",
			computedFolded, ranks)
		return nil, nil
	}
	low, _, err := r.lower(result.Point, result)
	if err != nil {
		return nil, err
	}
	return low.Schedule, nil
}

// proveFolded verifies a folded program. What is not proven so is proven, or refuted, on all ranks.
func proveFolded(r *runner, result *ProgramResult) error {
	p := result.Point
	if proof.VerifyFolded(result.Lowered.Schedule, p.Sim.Slots) {
		result.Proof = Proved
		return nil
	}
	whole := &runner{s: r.s}
	low, _, err := whole.lower(p, nil)
	if err != nil {
		return err
	}
	result.prove(low.Schedule, p.Sim.Slots)
	return nil
}
