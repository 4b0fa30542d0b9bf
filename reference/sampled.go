package reference

import (
	"errors"
	"math"
	"slices"

	"collsim/dtype"
	"collsim/schedule"
)

// An output is an output element.
type output struct {
	rank int
	at   int64
}

// sampleOutputs chooses output elements; where all ranks have the same, each on two ranks.
func sampleOutputs(s *schedule.Schedule, n int, seed uint64) (list []output) {
	spec := &s.Spec
	random := scramble(seed + golden)
	next := func(n int64) int64 {
		random += golden
		return int64(scramble(random) % uint64(n))
	}
	for i := range n {
		o := output{rank: int(next(int64(spec.Ranks)))}
		length := s.Len(schedule.Output, o.rank)
		if length == 0 {
			continue
		}
		if o.at = next(length); spec.Kind.Shared() && i%2 == 1 {
			o.at = list[i-1].at
		}
		list = append(list, o)
	}
	return list
}

// checkSample checks some output elements of a schedule, and nothing else.
func checkSample[T dtype.Number](s *schedule.Schedule, o *CheckOptions) (Report, error) {
	g := newGenerator[T](&s.Spec, o.Data, o.Seed)
	list, got, v, err := sampleOf(s, o, g.fill)
	var large *errLarge
	if errors.As(err, &large) {
		return Report{Numbers: NumbersOff, Why: large.text}, nil
	}
	if err != nil {
		return Report{}, err
	}
	c := newComparison(newDefinition(&s.Spec, g.another().fill, g.simple()), rounding{
		n: s.Spec.Ranks, height: v.height, widens: v.wide})
	for i, out := range list {
		origin := c.d.origin(out.rank, out.at)
		origin.n = 1
		c.elements(out.rank, out.at, got[i:i+1], origin)
	}
	r := together([]*comparison[T]{c})
	r.Sampled, r.Checked = len(list), min(int64(len(list)), countOf(&s.Spec))
	return r, nil
}

// sampleOf computes the requested number of output elements, or fewer if they take more than
// SampleSteps.
func sampleOf[T dtype.Number](s *schedule.Schedule, o *CheckOptions, fill source[T]) ([]output, []T,
	*sampled[T], error) {
	f, why := frameOf(s)
	if why != "" {
		return nil, nil, nil, &errLarge{why}
	}
	p := &sample{frame: f}
	if err := p.walk(o.Slots); err != nil {
		return nil, nil, nil, err
	}
	list := sampleOutputs(s, o.Sample, o.Seed)
	if err := p.plan(list[:1]); err != nil {
		return nil, nil, nil, err
	}
	if most := max(1, SampleSteps/int(max(p.nodes, 1))); most > 1 && len(list) > 1 {
		list = list[:min(len(list), most)]
		if err := p.plan(list); err != nil {
			return nil, nil, nil, err
		}
	} else {
		list = list[:1]
	}
	v := &sampled[T]{sample: p, fill: fill, values: make([]T, p.nodes),
		heights: make([]uint16, p.nodes), wide: o.Accumulate.widens(s.Spec.Type)}
	got := v.outputs(len(list))
	return list, got, v, nil
}

// sampled is the values of a sample.
type sampled[T dtype.Number] struct {
	*sample
	fill    source[T]
	values  []T
	heights []uint16 // largest number of roundings of each
	height  int      // the largest of outputs
	wide    bool
}

// outputs computes n outputs.
func (v *sampled[T]) outputs(n int) []T {
	for i := len(v.computed) - 1; i >= 0; i-- {
		v.compute(&v.computed[i])
	}
	got, heights := make([]T, n), make([]uint16, n)
	v.read(got, heights, 0, 1)
	v.height = int(slices.Max(heights))
	return got
}

// read returns the values of slots slot, slot + every, slot + 2·every, …
func (v *sampled[T]) read(values []T, heights []uint16, slot, every int) {
	for i := range values {
		n := v.slots[slot+i*every]
		if n >= 0 {
			values[i], heights[i] = v.values[n], v.heights[n]
			continue
		}
		heights[i] = 0
		v.untouched(values[i:i+1], &v.needs[^n])
	}
}

// untouched returns an element that no step has written before: an input, or unwritten memory.
func (v *sampled[T]) untouched(value []T, n *need) {
	value[0] = unwritten[T]()
	home, base := v.s.Home(schedule.Input, int(n.rank))
	x := v.moved(home, n.at, n.rank, false) - base
	if n.memory == home && x >= 0 && x < v.s.Len(schedule.Input, int(n.rank)) {
		v.fill(value, int(n.rank), x)
	}
}

// compute computes one action's values.
func (v *sampled[T]) compute(c *computed) {
	a := &v.actions[c.action]
	n, every := int(c.count), int(a.sources[1]-a.sources[0])
	values, heights := make([][]T, every), make([][]uint16, every)
	var list []operand
	scales, height := a.scale, v.heights[c.first:][:n]
	for k := range every {
		values[k], heights[k] = make([]T, n), make([]uint16, n)
		v.read(values[k], heights[k], int(c.slots)+k, every)
		scales = scales || v.sources[int(a.sources[0])+k].scale
	}
	for k := range every {
		list = append(list, operand{[][]byte{put(values[k])}, v.sources[int(a.sources[0])+k].scale})
		for i, h := range heights[k] {
			height[i] = max(height[i], h)
			if k > 0 && !v.wide && height[i] < math.MaxUint16 {
				height[i]++
			}
		}
	}
	if every == 1 && !scales {
		copy(v.values[c.first:], values[0])
		return
	}
	if v.wide {
		for i := range height {
			height[i] += min(1, math.MaxUint16-height[i])
		}
	}
	if a.scale {
		list = append(list, operand{scale: true})
	}
	copy(v.values[c.first:], v.combined(list))
	if a.ranked {
		v.exchange(c, list)
	}
}

// combined combines operands as a step does.
func (v *sampled[T]) combined(list []operand) []T {
	spec := &v.s.Spec
	return getAll[T](typeOf(spec.Type).combined(spec, list, v.wide))
}

// exchange swaps the two ranked operands on ranks where the message comes from a lower rank. On
// rank 0, which stands for all, no message does.
func (v *sampled[T]) exchange(c *computed, list []operand) {
	list[0], list[1] = list[1], list[0]
	exchanged := v.combined(list)
	first := v.actions[c.action].sources[0]
	far := max(v.sources[first].far, v.sources[first+1].far)
	for i, rank := range v.ranks[c.first:][:c.count] {
		if v.s.Group.Add(rank, far) < rank {
			v.values[int(c.first)+i] = exchanged[i]
		}
	}
}
