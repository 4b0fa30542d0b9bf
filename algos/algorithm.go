package algos

import (
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/schedule"
)

// An Algorithm turns a collective into a schedule. A nil function means the usual default.
type Algorithm struct {
	Name   string            // kebab-case, unique among the algorithms of a kind
	Kinds  []collective.Kind // what it computes
	About  string            // what it does, in a sentence
	When   string            // when to use it, one sentence
	Source string            // where it was published
	// Formula is Cost for people, exact at powers of two at least. It has p ranks, n bytes
	// (collective.Spec.Bytes), k = ⌈log₂ p⌉, and q, the largest power of two that is at most p. f
	// is 0 if q = p, else 1; m is the number of segments of a block; parameters appear by name.
	Formula string
	// Ports is Formula for a switch (PerRank): all messages that a rank sends at once share one
	// wire, and all that it receives another. It is empty where that makes no difference.
	Ports  string
	Params []Param // what may be set, with its default as the value

	// Of is the algorithm that this one runs backwards (schedule.Transpose): Kinds[i] is the
	// transpose of Of's Kinds[i]. Everything below follows from it and stays nil.
	Of *Algorithm
	// Bind completes an algorithm whose functions below depend on its parameters. It returns a with
	// these functions, for the values that param gives. For one rank it only validates the values.
	Bind func(a Algorithm, ranks int, param func(name string) string) (Algorithm, error)

	// Ranks says which numbers of ranks the algorithm is for: it returns what is expected in place of
	// another number, as "an even number", or "". nil allows all. A transpose has its original's.
	// One rank alone is always allowed.
	Ranks func(ranks int) (expected string)

	// Group translates rank 0's program to the other ranks; nil means a program for every rank.
	Group func(ranks int) schedule.Group
	// Mirrored translates rank g's chunks by g with its digits in the opposite order.
	Mirrored bool
	// Roles gives the ranks that do the same relative to their peers, where no group does; nil:
	// none.
	Roles func(spec collective.Spec) schedule.Roles
	// Even says that, without a group, every rank does as much as rank 0: see schedule.Plan.
	Even   bool
	Timing func(ranks int) schedule.Group // like Group, for time alone: schedule.Plan.Timing
	// Turns allows every channel an order of the ranks of its own (schedule.Plan.PerNode) where
	// ranks fill nodes. Without it, all messages between nodes would use one NIC of each.
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
	// Lane writes what one lane of one rank does. It must be a pure function.
	Lane func(*Lane)
	// Cost is the published cost for at least 2 ranks, with each block in so many tiles; nil where
	// none is published.
	Cost func(ranks, tiles int) Cost

	// Plan writes the plan of an algorithm whose cuts, lanes or steps depend on more than the
	// number of ranks: on the size, the root, or the place. It gets a plan with the collective, and
	// the values of the parameters. It replaces Bind and everything after it except Cost. Its error
	// says why the algorithm does not fit this collective (an Unfit). It has neither channels nor
	// slices.
	Plan func(p *schedule.Plan, param func(name string) string) error
	// Make makes a schedule for a network (Options.Network), and says what it has chosen, in place of
	// Bind and all after it. For one rank, without a network, it may only validate parameters.
	Make func(spec collective.Spec, o Options, param func(name string) string) (*schedule.Schedule,
		Pick, error)
	// Grouped marks a call as a group of sends and receives, which the host issues one by one.
	Grouped  bool
	Multimem bool // needs a switch that multicasts and reduces
	Ordered  bool // Plan uses Options.Rings, as Orders of the plan that it gets
	// Chooses returns the algorithm that carries out a collective in place of this one, with the
	// options to apply it with; it gets the options and the values of this one's parameters. It
	// replaces everything else but Picks. Its error says why there is none (an Unfit). It has
	// neither channels nor slices of its own.
	Chooses func(spec collective.Spec, o Options, param func(name string) string) (
		Algorithm, Options, error)
	// Picks returns the choice that the algorithm makes for a collective; nil if it never chooses.
	Picks func(spec collective.Spec, param func(name string) string) Pick
}

// An Unfit error says why an algorithm with these parameters does not fit the ranks, or a
// collective of its kinds. What tries all algorithms leaves it out then.
type Unfit struct{ Algorithm, Why string }

// Error formats the error in one line.
func (e *Unfit) Error() string { return e.Algorithm + ": " + e.Why }

// A Lane is what an algorithm writes on: schedule's lane with all its steps, and the collective,
// for what must be done differently in place.
type Lane struct {
	*schedule.Lane
	Spec collective.Spec
}

// A Param is a parameter of an algorithm by name, as in "chain(segment=512KiB)".
type Param struct {
	Name, Value string
	About       string // meaning and unit; not needed to set one
	// Tries are the values to compare where none was chosen.
	Tries []string
}

// Options modify how an algorithm is applied; the zero value is the usual choice.
type Options struct {
	Channels int // parallel instances over a part of the data each; 1 if 0
	Slices   int // pipelined parts of every block; 1 if 0
	Slots    int // of a connection, in messages; 0 leaves it to the environment
	PerNode  int // ranks of every node, filled one after the other; 0 if they are not
	// Nodes has the number of ranks of each node, where nodes differ and are filled one after the
	// other.
	Nodes []int
	// Rings are orders of the ranks of a node, by channel (topology.Graph.Rings). Their length
	// divides the number of ranks. They are nil where the links of a node prefer none.
	Rings         [][]int32
	NoMulticast   bool   // no switch of a node multicasts and reduces
	NoAggregation bool   // no switch between nodes does
	Shape         string // of the torus that the ranks are, as in 8x4, first that of neighbours
	// Network holds the links that the collective is done on; nil if unknown.
	Network *Network
	// Machine describes the nodes as a library sees them, in the notation of the library's
	// algorithms (nccl.Facts); empty if unknown.
	Machine string
	// Environment has the environment variables that a library reads, as a shell prints them.
	Environment string
	// Version of a library; empty means the newest known.
	Version string
	// Tuner is the text of the file that a library's tuner plugin reads; empty where there is no
	// plugin.
	Tuner  string
	Params []Param // in any order; others have their defaults
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
	if a.Make != nil {
		s, _, err := a.make(spec, o)
		return s, err
	}
	if a.Chooses != nil {
		return a.buildChosen(spec, o)
	}
	_, plan, err := a.plan(spec, o)
	if err != nil {
		return nil, err
	}
	if a.Of != nil && !idle(spec) {
		return a.transpose(spec, o)
	}
	s, err := schedule.Build(plan)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// transpose builds the schedule of Of and runs it backwards. In place makes no difference to the
// steps, so it is set afterwards.
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
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	s.Name, s.Spec = a.Name, spec
	return s, nil
}

// Bound returns the algorithm for a number of ranks, with the options' parameters bound, here and
// in the algorithm that it runs backwards.
func (a Algorithm) Bound(ranks int, o Options) (Algorithm, error) {
	if err := a.checkParams(o); err != nil {
		return a, err
	}
	if a.Of != nil && a.Of.Bind != nil {
		of, err := a.Of.Bound(ranks, o)
		a.Of = &of
		return a, err
	}
	if err := a.checkRanks(ranks); err != nil || a.Bind == nil {
		return a, err
	}
	b, err := a.Bind(a, ranks, func(name string) string { return a.Param(name, o) })
	if err != nil {
		return a, &Unfit{a.Name, err.Error()}
	}
	b.Bind = nil
	return b, nil
}

// checkRanks returns an Unfit if the algorithm is not for that number of ranks.
func (a Algorithm) checkRanks(ranks int) error {
	limit := a.Ranks
	if a.Of != nil {
		limit = a.Of.Ranks
	}
	if limit == nil || ranks == 1 {
		return nil
	}
	if expected := limit(ranks); expected != "" {
		return &Unfit{a.Name, fmt.Sprintf("%d ranks: %s is expected", ranks, expected)}
	}
	return nil
}

// plan returns the bound algorithm and its plan. The plan of a transpose has no Lane.
func (a Algorithm) plan(spec collective.Spec, o Options) (Algorithm, schedule.Plan, error) {
	none := schedule.Plan{}
	if a.Chooses != nil {
		chosen, o, err := a.chosen(spec, o)
		if err != nil {
			return a, none, err
		}
		return chosen.plan(spec, o)
	}
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
	if a.Timing != nil {
		p.Timing = schedule.AllOf(a.Timing(spec.Ranks))
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

// turn gives the channels of a plan orders of their own, where ranks fill nodes. If nodes are
// equal, it keeps a ring's group as a group of nodes and places in them.
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

// Turned reports whether the algorithm, or the one that it runs backwards, has Turns.
func (a Algorithm) Turned() bool { return a.Turns || a.Of != nil && a.Of.Turns }

// written returns the plan that Plan writes.
func (a Algorithm) written(spec collective.Spec, o Options) (schedule.Plan, error) {
	if err := a.refuseCopies(o); err != nil {
		return schedule.Plan{}, err
	}
	p := schedule.Plan{Name: a.Name, Spec: spec, Slots: o.Slots}
	if a.Ordered {
		p.Orders = o.Rings
	}
	if err := a.Plan(&p, func(name string) string { return a.Param(name, o) }); err != nil {
		return schedule.Plan{}, &Unfit{a.Name, err.Error()}
	}
	return p, nil
}

// refuseCopies returns an Unfit for channels and slices of an algorithm that has none.
func (a Algorithm) refuseCopies(o Options) error {
	if o.Channels <= 1 && o.Slices <= 1 {
		return nil
	}
	text := "it has neither channels nor slices"
	channels := func(p Param) bool { return p.Name == "nchannels" }
	if o.Slices <= 1 && slices.ContainsFunc(a.Params, channels) {
		text = "it takes no channels; its number of channels is nchannels"
	}
	return &Unfit{a.Name, text}
}

// backwards returns the cost of the transpose: the rounds in the opposite order. Messages that a
// rank sent to several now come to it at once. If the kind reduces, each round adds all that comes,
// except for blocks that were handed over.
func (a *Algorithm) backwards(kind collective.Kind) func(ranks, tiles int) Cost {
	return func(ranks, tiles int) Cost {
		c := a.Cost(ranks, tiles)
		c.Rounds = slices.Clone(c.Rounds)
		slices.Reverse(c.Rounds)
		for i := range c.Rounds {
			r := &c.Rounds[i]
			r.Fan, r.Burst, r.Sums = max(r.Fan, r.Burst), 0, 0
			if kind.Reduces() && !r.Handed {
				r.Sums = max(r.Fan, 1)
			}
		}
		return c
	}
}

// check validates the collective and the options, except for parameters.
func (a Algorithm) check(spec collective.Spec, o Options) error {
	if err := spec.Validate(); err != nil {
		return fmt.Errorf("%s: %w", a.Name, err)
	}
	if !a.Does(spec.Kind) {
		return fmt.Errorf("%s does %s, not %v", a.Name, kindsText(a.Kinds), spec.Kind)
	}
	for _, option := range []struct {
		name string
		n    int
	}{{"channels", o.Channels}, {"slices", o.Slices}} {
		if option.n < 0 || option.n > MaxCopies {
			return fmt.Errorf("%s: %d %s; 1 to %d are possible, 0 is 1",
				a.Name, option.n, option.name, MaxCopies)
		}
	}
	if o.Slots < 0 {
		return fmt.Errorf("%s: %d slots; 1 or more are possible, 0 leaves them open",
			a.Name, o.Slots)
	}
	return nil
}

// count returns the value of an optional function, 1 without it.
func count(f func(ranks int) int, ranks int) int {
	if f == nil {
		return 1
	}
	return f(ranks)
}
