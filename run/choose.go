package run

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"collsim/algos"
	"collsim/algos/libraries"
	"collsim/algos/nccl"
	"collsim/algos/openmpi"
	"collsim/algos/synth"
	"collsim/collective"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/unit"
)

// Names in a scenario that are no algorithm's.
const (
	fastestName = "fastest" // by simulation
)

// Candidate is an algorithm that "fastest" looked at.
type Candidate struct {
	Algorithm scenarios.Algorithm
	Time      unit.Time // −1 where it was left out
	Why       string    // it was left out; else empty
	AtLeast   unit.Time // what it takes at least, where it was left out as slower; else 0
}

// Skip is an algorithm that "all" stands for and that cannot do what a point asks.
type Skip struct {
	Point *scenarios.Point
	Why   string
}

// Algorithms lists the algorithms that a scenario may name: ours, and then those of libraries,
// which begin with the library's name and a colon. "all" and "fastest" stand for those that are no
// library's and are not made for a network.
func Algorithms() []algos.Algorithm {
	return slices.Clone(algorithms())
}

// algorithms is the table of Algorithms, which nobody changes.
var algorithms = sync.OnceValue(func() []algos.Algorithm {
	return slices.Concat(ours(), nccl.Table(), openmpi.Table(), libraries.Table())
})

// ours is the table of those of Algorithms that are no library's, which nobody changes.
var ours = sync.OnceValue(func() []algos.Algorithm {
	return slices.Concat(algos.Table(), algos.Further(), synth.Table())
})

// find returns the algorithm of a kind by its name: ours, or a library's where the name has a
// prefix.
func find(kind collective.Kind, name string) (algos.Algorithm, error) {
	if !strings.Contains(name, ":") {
		return algos.FindIn(ours(), kind, name)
	}
	return algos.FindIn(algorithms(), kind, name)
}

// standsFor lists the algorithms that a point may be carried out by, in the order of the table: its
// own, or for "fastest" all of the kind, and the machine's library. What "fastest" and "all" stand
// for comes with the values of its parameter that are worth comparing, its own value first.
func standsFor(p *scenarios.Point) []scenarios.Algorithm {
	switch {
	case p.Algorithm.Every:
		return variants(p, p.Algorithm)
	case p.Algorithm.Name != fastestName:
		return []scenarios.Algorithm{p.Algorithm}
	}
	var list []scenarios.Algorithm
	for _, name := range names().Algorithms[p.Spec.Kind] {
		a := p.Algorithm
		a.Name = name
		list = append(list, variants(p, a)...)
	}
	return append(list, libraryCandidates(p)...)
}

// choose makes the schedule of a point. "fastest" is the algorithm that takes the least time in
// simulation, of those of the kind; of equally fast ones the first of the table. So is a parameter
// of what "all" stands for.
func (r *runner) choose(result *Result) (*made, error) {
	p := result.Point
	list := standsFor(p)
	if len(list) == 1 && p.Algorithm.Name != fastestName {
		var err error
		m := r.known[p]
		if m == nil {
			m, err = r.s.make(p, list[0])
		}
		if err == nil {
			result.Algorithm = m.algorithm
			result.Picked = pickedBy(r.s, p, m)
		}
		return m, err
	}
	best, candidates, err := r.compare(p, list)
	switch {
	case err != nil:
		return nil, err
	case p.Algorithm.Name == fastestName:
		result.Candidates = candidates
	}
	if best == nil && p.Algorithm.Every {
		return r.s.make(p, list[0]) // and says why not
	}
	if best == nil {
		return nil, errors.New(noneOf(candidates))
	}
	result.Algorithm = best.algorithm
	return best, nil
}

// pickedBy returns what a library's algorithm comes to in the schedule of the first team.
func pickedBy(s *Scenario, p *scenarios.Point, m *made) algos.Pick {
	if m.algorithm.FromFile() || len(m.members) == 0 {
		return algos.Pick{}
	}
	spec := m.members[0].schedule.Spec
	a, err := find(spec.Kind, m.algorithm.Name)
	if err != nil {
		return algos.Pick{}
	}
	o := optionsOn(p, m.algorithm, a)
	if o.Network, err = networkOf(s, p, spec.Ranks, a); err != nil {
		return algos.Pick{}
	}
	return a.Picked(spec, o)
}

// leavesOut reports whether an error says that an algorithm does not fit: it cannot do what is
// asked, stalls with so few slots, or takes too much memory.
func leavesOut(err error) bool {
	var cannot *illegal
	var stall *schedule.StallError
	var large *tooLarge
	return errors.As(err, &cannot) || errors.As(err, &stall) || errors.As(err, &large)
}

// noneOf says why no algorithm is the fastest.
func noneOf(candidates []Candidate) string {
	if len(candidates) == 0 {
		return "there is no algorithm for this kind yet"
	}
	text := "no algorithm can do this"
	for i, c := range candidates {
		if i == MaxWrong {
			return text + "; …"
		}
		text += "; " + c.Algorithm.String() + ": " + c.Why
	}
	return text
}

// MaxWrong bounds how many errors of a sort are printed.
const MaxWrong = 5
