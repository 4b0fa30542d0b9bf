package algos

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/internal/prose"
	"collsim/schedule"
)

// Algorithm turns a collective into a schedule. Functions that are nil stand for what most need.
type Algorithm struct {
	Name   string            // kebab-case, unique among the algorithms of a kind
	Kinds  []collective.Kind // what it computes
	About  string            // what it does, one sentence
	When   string            // when to use it, one sentence
	Source string            // where it was published
	// Formula is Cost for people, at powers of two at least: of p ranks, n bytes (as
	// collective.Spec.Bytes counts them), k = ⌈log₂ p⌉, q the largest power of two that is at most p,
	// f = 0 if that is p, else 1, m segments of a block, and parameters by name.
	Formula string
	// Ports is Formula where all messages that a rank sends at once share one wire, and all that it
	// receives another, as on a switch (PerRank); empty where that makes no difference.
	Ports  string
	Params []Param // what may be set, with its default as the value

	// Of is the algorithm that this one is, run backwards (schedule.Transpose): Kinds[i] is the
	// transpose of Of's Kinds[i]. All below follows from it and stays nil.
	Of *Algorithm
	// Bind completes an algorithm whose functions below depend on its parameters: it returns a with
	// these functions, for the values that param gives. For one rank it only judges the values.
	Bind func(a Algorithm, ranks int, param func(name string) string) (Algorithm, error)

	// Group translates rank 0's program to the other ranks; nil is a program for every rank.
	Group func(ranks int) schedule.Group
	// Mirrored says that rank g's program has chunks translated by g with its digits in the opposite
	// order.
	Mirrored bool
	// Roles says which ranks do the same as seen from their peers, where no group does; nil: none.
	Roles func(spec collective.Spec) schedule.Roles
	// Even says that without a group every rank does as much as rank 0: see schedule.Plan.
	Even bool
	// Turns says that every channel may have an order of the ranks of its own (schedule.Plan.PerNode),
	// where ranks fill nodes: an algorithm whose messages between nodes would else take one NIC each.
	Turns bool
	// Chunks is the number of blocks of the vector, for kinds whose input and output are one vector;
	// nil is 1.
	Chunks func(ranks int) int
	// Align makes chunks equal but for the last ones, as schedule.Plan has it.
	Align int64
	// Lanes is the number of lanes of a channel; nil is 1.
	Lanes func(ranks int) int
	// Scratch is the number of blocks of scratch, each of the size of the largest block; nil is 0.
	Scratch func(spec collective.Spec) int
	// Lane says what one lane of one rank does. It must be a pure function.
	Lane func(*Lane)
	// Cost is the published cost for 2 ranks or more, each block in so many tiles; nil where none is
	// published.
	Cost func(ranks, tiles int) Cost

	// Plan writes the plan of an algorithm whose cuts, lanes or steps depend on more of a collective
	// than its number of ranks: of its size, its root, its place. It is given the plan with the
	// collective in it and the values of the parameters, and stands for Bind and all after it but
	// Cost. Its error says why the algorithm is not for this collective (an Unfit). It has neither
	// channels nor slices.
	Plan func(p *schedule.Plan, param func(name string) string) error
	// Grouped says that a call is a group of sends and receives, which the host issues one by one.
	Grouped bool
	// Ordered says that Plan takes Options.Rings, as the Orders of the plan that it is given.
	Ordered bool
	// Picks says what the algorithm comes to for a collective, where it chooses by its size. Nil of
	// algorithms that never choose.
	Picks func(spec collective.Spec, param func(name string) string) Pick
}

// Unfit is a collective that an algorithm is not for, though it is of its kinds.
type Unfit struct{ Algorithm, Why string }

// Error is one line.
func (e *Unfit) Error() string { return "algos: " + e.Algorithm + ": " + e.Why }

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
	// Tries are the values to compare where nobody has chosen one: those that the time depends on.
	Tries []string
}

// Options modify how an algorithm is applied; the zero value is the usual way.
type Options struct {
	Channels int // parallel instances over a part of the data each; 1 if 0
	Slices   int // pipelined parts of every block; 1 if 0
	Slots    int // what a connection holds; 0 leaves it to the environment
	PerNode  int // ranks of every node, filled one after the other; 0 where it is not so
	// Nodes are the ranks of each node, where they differ and are filled one after the other.
	Nodes []int
	// Rings are orders of the ranks of a node, which divide all ranks, by channel
	// (topology.Graph.Rings); nil where the links of a node prefer none.
	Rings [][]int32
	// NoMulticast says that no switch of a node multicasts and reduces.
	NoMulticast bool
	// Machine says what a library sees of the nodes, in the words of the library's algorithms
	// (nccl.Facts); empty where nobody says.
	Machine string
	// Environment has the variables that a library reads, as a shell has them.
	Environment string
	// Version is that of a library; empty is the newest that its algorithms know.
	Version string
	// Tuner has the lines of the file that a library's tuner plugin reads, each with its end; empty
	// where there is no plugin.
	Tuner  string
	Params []Param // in any order; those that are not given have their defaults
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
	_, plan, err := a.plan(spec, o)
	if err != nil {
		return nil, err
	}
	if a.Of != nil && !idle(spec) {
		return a.transpose(spec, o)
	}
	s, err := schedule.Build(plan)
	if err != nil {
		return nil, fmt.Errorf("algos: %w", err)
	}
	return s, nil
}

// transpose builds the schedule of Of and runs it backwards. Place is no matter of the way: what
// is proven with two buffers is built, and then said to be in place.
func (a Algorithm) transpose(spec collective.Spec, o Options) (*schedule.Schedule, error) {
	original := spec
	original.Kind = a.Of.Kinds[slices.Index(a.Kinds, spec.Kind)]
	original.Op, original.Avg, original.Factor, original.InPlace = 0, 0, 0, false
	if original.Kind.Reduces() {
		original.Op = collective.Sum
	}
	s, err := a.Of.Build(original, o)
	if err != nil {
		return nil, err
	}
	s.Spec.Avg, s.Spec.Factor = spec.Avg, spec.Factor
	if s, err = schedule.Transpose(s, spec.Op); err != nil {
		return nil, fmt.Errorf("algos: %s: %w", a.Name, err)
	}
	s.Name, s.Spec = a.Name, spec
	return s, nil
}

// Bound is the algorithm for a number of ranks with the options' parameters bound: what Build
// makes a schedule of.
func (a Algorithm) Bound(ranks int, o Options) (Algorithm, error) {
	if err := a.checkParams(o); err != nil || a.Bind == nil {
		return a, err
	}
	b, err := a.Bind(a, ranks, func(name string) string { return a.Param(name, o) })
	if err != nil {
		return a, fmt.Errorf("algos: %s: %w", a.Name, err)
	}
	b.Bind = nil
	return b, nil
}

// plan is the algorithm bound, and its plan. That of a transpose has all but what a lane does.
func (a Algorithm) plan(spec collective.Spec, o Options) (Algorithm, schedule.Plan, error) {
	none := schedule.Plan{}
	if err := a.check(spec, o); err != nil {
		return a, none, err
	}
	a, err := a.Bound(spec.Ranks, o)
	if err != nil {
		return a, none, err
	}
	if a.Plan != nil {
		p, err := a.written(spec, o)
		return a, p, err
	}
	segment, err := a.segment(spec, o)
	if err != nil {
		return a, none, err
	}
	if a.Of != nil {
		a.Chunks, a.Cost = a.Of.Chunks, a.Of.backwards(spec.Kind)
	}
	p := schedule.Plan{Name: a.Name, Spec: spec, Chunks: count(a.Chunks, spec.Ranks),
		Align:   a.Align,
		Segment: segment, Lanes: count(a.Lanes, spec.Ranks), Channels: max(o.Channels, 1),
		Slices: max(o.Slices, 1), Slots: o.Slots, Even: a.Even, Mirrored: a.Mirrored}
	if a.Group != nil {
		p.Group = a.Group(spec.Ranks)
	}
	if a.Roles != nil {
		p.Roles = a.Roles(spec)
	}
	if a.Scratch != nil {
		p.Scratch = a.Scratch(spec)
	}
	a.turn(&p, o)
	p.Lane = func(l *schedule.Lane) { a.Lane(&Lane{l, spec}) }
	return a, p, nil
}

// turn gives the channels of a plan orders of their own, where ranks fill nodes. It keeps a group
// that is one only of nodes and places in them, if there is one and nodes are alike: a ring's.
func (a Algorithm) turn(p *schedule.Plan, o Options) {
	ranks, perNode := p.Spec.Ranks, o.PerNode
	if a.Turned() && len(o.Rings) >= p.Channels && ranks > 1 && ranks%len(o.Rings[0]) == 0 {
		p.PerNode, p.Orders = len(o.Rings[0]), o.Rings
		p.Even = p.Even || p.Group != nil
		p.Group, p.Roles = nil, nil
		return
	}
	if !a.Turned() || p.Channels <= 1 {
		return
	}
	if len(o.Nodes) > 1 {
		p.Nodes, p.Even = o.Nodes, p.Even || p.Group != nil
		p.Group, p.Roles = nil, nil
		return
	}
	if perNode <= 1 || perNode >= ranks || ranks%perNode != 0 {
		return
	}
	p.PerNode, p.Roles = perNode, nil
	switch {
	case p.Group == nil:
	case p.Channels%perNode == 0 && p.Lanes == 1 && p.Align == 0 && p.Segment == 0 &&
		!p.Spec.Kind.Splits():
		p.Group = schedule.Group{int32(ranks / perNode), int32(perNode)}
	default:
		p.Group, p.Even = nil, true
	}
}

// Turned reports whether the algorithm, or the one that it is backwards, says Turns.
func (a Algorithm) Turned() bool { return a.Turns || a.Of != nil && a.Of.Turns }

// written is the plan that Plan writes.
func (a Algorithm) written(spec collective.Spec, o Options) (schedule.Plan, error) {
	if o.Channels > 1 || o.Slices > 1 {
		return schedule.Plan{}, &Unfit{a.Name, "it has neither channels nor slices"}
	}
	p := schedule.Plan{Name: a.Name, Spec: spec, Slots: o.Slots}
	if a.Ordered {
		p.Orders = o.Rings
	}
	if err := a.Plan(&p, func(name string) string { return a.Param(name, o) }); err != nil {
		return schedule.Plan{}, &Unfit{a.Name, prose.Unprefixed(err)}
	}
	return p, nil
}

// backwards is the cost of the transpose: the rounds in the opposite order, each with an addition
// of all that it transfers if the kind reduces, but for what was handed over.
func (a *Algorithm) backwards(kind collective.Kind) func(ranks, tiles int) Cost {
	return func(ranks, tiles int) Cost {
		c := a.Cost(ranks, tiles)
		c.Rounds = slices.Clone(c.Rounds)
		slices.Reverse(c.Rounds)
		for i := range c.Rounds {
			c.Rounds[i].Sums = 0
			if kind.Reduces() && !c.Rounds[i].Handed {
				c.Rounds[i].Sums = 1
			}
		}
		return c
	}
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
