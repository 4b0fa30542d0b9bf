package algos

import (
	"fmt"
	"strings"

	"collsim/collective"
	"collsim/schedule"
)

// Algorithm turns a collective into a schedule. Functions that are nil stand for what most need.
type Algorithm struct {
	Name   string            // kebab-case, unique among the algorithms of a kind
	Kinds  []collective.Kind // what it computes
	About  string            // one sentence
	Source string            // where it was published
	Params []Param           // what may be set, with its default as the value

	// Group translates rank 0's program to the other ranks; nil is a program for every rank.
	Group func(ranks int) schedule.Group
	// Chunks is the number of blocks of the vector, for kinds whose input and output are one vector;
	// nil is 1.
	Chunks func(ranks int) int
	// Lanes is the number of lanes of a channel; nil is 1.
	Lanes func(ranks int) int
	// Scratch is the number of blocks of scratch, each of the size of the largest block; nil is 0.
	Scratch func(spec collective.Spec) int
	// Lane says what one lane of one rank does. It must be a pure function.
	Lane func(*Lane)
	// Cost is the published cost for 2 ranks or more, each block in so many tiles.
	Cost func(ranks, tiles int) Cost
}

// Lane is what an algorithm is written on: schedule's lane, which names all the steps, and the
// collective, for what must be done differently in place.
type Lane struct {
	*schedule.Lane
	Spec collective.Spec
}

// Param is a parameter of an algorithm by name, as in "chain(segment=512KiB)".
type Param struct {
	Name, Value string
	About       string // what it means and in which unit; not needed to set one
}

// Options modify how an algorithm is applied; the zero value is the usual way.
type Options struct {
	Channels int     // parallel instances over a part of the data each; 1 if 0
	Slices   int     // pipelined parts of every block; 1 if 0
	Slots    int     // what a connection holds; 0 leaves it to the environment
	Params   []Param // in any order; those that are not given have their defaults
}

// MaxCopies bounds channels and slices.
const MaxCopies = 4096

// Does reports whether the algorithm computes a kind of collective.
func (a Algorithm) Does(k collective.Kind) bool {
	for _, kind := range a.Kinds {
		if kind == k {
			return true
		}
	}
	return false
}

// Build applies the algorithm to a collective of any number of ranks. Errors say which option,
// parameter or property of the collective is out of range, or where the algorithm misuses its lane.
func (a Algorithm) Build(spec collective.Spec, o Options) (*schedule.Schedule, error) {
	plan, err := a.plan(spec, o)
	if err != nil {
		return nil, err
	}
	s, err := schedule.Build(plan)
	if err != nil {
		return nil, fmt.Errorf("algos: %w", err)
	}
	return s, nil
}

func (a Algorithm) plan(spec collective.Spec, o Options) (schedule.Plan, error) {
	none := schedule.Plan{}
	if err := a.check(spec, o); err != nil {
		return none, err
	}
	segment, err := a.segment(spec, o)
	if err != nil {
		return none, err
	}
	p := schedule.Plan{Name: a.Name, Spec: spec, Chunks: count(a.Chunks, spec.Ranks),
		Segment: segment, Lanes: count(a.Lanes, spec.Ranks), Channels: max(o.Channels, 1),
		Slices: max(o.Slices, 1), Slots: o.Slots}
	if a.Group != nil {
		p.Group = a.Group(spec.Ranks)
	}
	if a.Scratch != nil {
		p.Scratch = a.Scratch(spec)
	}
	p.Lane = func(l *schedule.Lane) { a.Lane(&Lane{l, spec}) }
	return p, nil
}

// check says what is wrong with what is asked, parameters apart.
func (a Algorithm) check(spec collective.Spec, o Options) error {
	if err := spec.Validate(); err != nil {
		return fmt.Errorf("algos: %s: %w", a.Name, err)
	}
	if !a.Does(spec.Kind) {
		return fmt.Errorf("algos: %s does %s, not %v", a.Name, kindsText(a.Kinds), spec.Kind)
	}
	for _, option := range []struct {
		name string
		n    int
	}{{"channels", o.Channels}, {"slices", o.Slices}} {
		if option.n < 0 || option.n > MaxCopies {
			return fmt.Errorf("algos: %s: %d %s; 1 to %d are possible, 0 is 1",
				a.Name, option.n, option.name, MaxCopies)
		}
	}
	if o.Slots < 0 {
		return fmt.Errorf("algos: %s: %d slots; 1 or more are possible, 0 leaves them open",
			a.Name, o.Slots)
	}
	return nil
}

func kindsText(kinds []collective.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return strings.Join(names, " and ")
}

// count is what an optional function gives, 1 without it.
func count(f func(ranks int) int, ranks int) int {
	if f == nil {
		return 1
	}
	return f(ranks)
}
