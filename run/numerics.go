package run

import (
	"collsim/collective"
	"collsim/proof"
	"collsim/reference"
	"collsim/scenarios"
	"collsim/schedule"
)

// Numerics holds facts about an algorithm's rounding, besides the errors that a Result has.
type Numerics struct {
	Data       string // that it was found on: "normal", "uniform", or a file
	Accumulate string // "native" or "float32"
	Order      *Order // nil for kinds that do not reduce
}

// Order says what the order of additions depends on: found by comparing, element by element, the
// trees of additions of schedules that differ in one thing. a+b and b+a are the same tree.
type Order struct {
	// DependsOn lists what changes the tree of some element: "bytes" (other counts), "channels"
	// (1, 2, 4), "ranks" (the same data on ranks of other numbers: turned by one, reversed, two
	// exchanged).
	DependsOn []string
	Unknown   []string // of these, what could not be tried: a file has its own channels, say
	RankOrder bool     // the operands of every sum stand in rank order
	SameTree  bool     // all ranks evaluate the same tree for each element
	Ranks     int      // on which it was found: fewer than the collective has where those are many
}

// maxOrderRanks is on how many ranks orders are compared at most.
const maxOrderRanks = 128

// numerics finds out what --numerics adds to a result whose numbers were checked.
func (r *runner) numerics(m *made, result *Result) {
	p := result.Point
	if !r.options.Numerics || result.Numbers == Off {
		return
	}
	result.Numerics = &Numerics{Data: result.Data, Accumulate: p.Accumulate.String()}
	if p.Spec.Kind.Reduces() && p.Spec.Ranks > 0 {
		result.Numerics.Order = r.order(m, p)
	}
}

// order compares orders of additions; nil if the schedule cannot be carried out.
func (r *runner) order(m *made, p *scenarios.Point) *Order {
	spec := m.members[0].schedule.Spec
	for spec.Ranks > maxOrderRanks && !m.algorithm.FromFile() && !spec.Kind.Splits() {
		if spec.Ranks%2 != 0 {
			spec.Ranks = maxOrderRanks - 1 // as odd
			break
		}
		spec.Ranks /= 2
	}
	spec.Root = min(spec.Root, spec.Ranks-1)
	base, err := r.rebuild(m, p, spec)
	if err != nil { // an algorithm for certain numbers of ranks
		base, spec = m.members[0].schedule, m.members[0].schedule.Spec
	}
	o := &Order{Ranks: spec.Ranks, DependsOn: []string{}}
	orders, err := proof.OrdersOf(base, nil)
	if err != nil {
		return nil
	}
	o.RankOrder, o.SameTree = orders.InRankOrder, orders.SameTree
	o.note("bytes", r.otherCounts(m, p, spec), orders)
	o.note("channels", r.otherChannels(m, p, spec), orders)
	for _, labels := range relabelled(spec.Ranks) {
		other, err := proof.OrdersOf(base, labels)
		if err == nil && !orders.Same(other) {
			o.DependsOn = append(o.DependsOn, "ranks")
			break
		}
	}
	return o
}

// note compares orders of additions with those of other schedules, which differ in one property,
// named by what. It adds the name to DependsOn if an order differs, and to Unknown if no schedule
// could be compared.
func (o *Order) note(what string, others []*schedule.Schedule, orders *proof.Orders) {
	tried := 0
	for _, s := range others {
		other, err := proof.OrdersOf(s, nil)
		if err != nil {
			continue
		}
		if tried++; !orders.Same(other) {
			o.DependsOn = append(o.DependsOn, what)
			return
		}
	}
	if tried == 0 {
		o.Unknown = append(o.Unknown, what)
	}
}

// otherCounts returns schedules of the same collective for other counts, as far as they can be
// built.
func (r *runner) otherCounts(m *made, p *scenarios.Point,
	spec collective.Spec) (list []*schedule.Schedule) {
	if spec.Kind.Splits() {
		return nil
	}
	count := spec.Count
	for _, spec.Count = range []int64{count / 2, count + 1, 2 * count, 3*count + 1} {
		if spec.Count < 1 || spec.Count == count {
			continue
		}
		if s, err := r.rebuild(m, p, spec); err == nil {
			list = append(list, s)
		}
	}
	return list
}

// otherChannels returns schedules with other numbers of channels, as far as they can be built.
func (r *runner) otherChannels(m *made, p *scenarios.Point,
	spec collective.Spec) (list []*schedule.Schedule) {
	if m.algorithm.FromFile() || m.another != nil {
		return nil
	}
	other := *m
	for _, other.algorithm.Channels = range []int{1, 2, 4} {
		if other.algorithm.Channels == m.algorithm.Channels {
			continue
		}
		if s, err := r.rebuild(&other, p, spec); err == nil {
			list = append(list, s)
		}
	}
	return list
}

// relabelled returns permutations of ranks: turned by one, reversed, the first and the last
// exchanged.
func relabelled(ranks int) [][]int {
	turned, reversed, exchanged := make([]int, ranks), make([]int, ranks), make([]int, ranks)
	for i := range ranks {
		turned[i], reversed[i], exchanged[i] = (i+1)%ranks, ranks-1-i, i
	}
	exchanged[0], exchanged[ranks-1] = ranks-1, 0
	return [][]int{turned, reversed, exchanged}
}

// dataOf returns the kind of numbers on which a point is checked.
func dataOf(p *scenarios.Point, numerics bool) reference.Data {
	switch {
	case p.Check.Data == scenarios.NormalData:
		return reference.Normal
	case p.Check.Data == scenarios.UniformData:
		return reference.Uniform
	case numerics && !p.Data.Any():
		return reference.Normal // of exact data the error is always 0
	}
	return reference.Exact
}

// sumsOf returns the format in which the steps of a point add.
func sumsOf(p *scenarios.Point) reference.Accumulate {
	if p.Accumulate == scenarios.Float32 {
		return reference.InFloat32
	}
	return reference.Native
}
