package openmpi

import (
	"slices"

	"collsim/collective"
)

// decision is what the library chooses for one of its functions where nobody forces an algorithm.
type decision struct {
	function string
	sizes    []bySize
}

// bySize is what it chooses for communicators of fewer ranks; 0 is any number.
type bySize struct {
	ranks  int
	limits []upTo
}

// upTo is the number of the algorithm for messages of fewer bytes; 0 is any number.
type upTo struct {
	bytes     int64
	algorithm int
}

// Decided is what a choice comes to: the algorithm of the function, which the library decides if it
// is open; and of an algorithm that is made of other functions, a choice for each of these, in the
// order of the calls. Inner, if given, and what it brings with it is taken; else it is what the
// component "tuned" decides, as on a single host; components for hierarchies of hosts are not
// known.
func (c Choice) Decided(spec collective.Spec) []Choice {
	if _, err := FunctionOf(c.Function); err != nil {
		return []Choice{c} // which is no choice
	}
	width := int64(spec.Type.Width())
	block, all := spec.Count*width, spec.Count*width*int64(spec.Ranks)
	if c.Algorithm == "" {
		bytes := block // of a vector, or of a rank's block of one
		if c.Function == "reduce_scatter" {
			bytes = all
		}
		c = decided(c.Function, spec.Ranks, bytes)
	}
	inner := func(function string, bytes int64) Choice {
		if c.Inner == "" {
			return decided(function, spec.Ranks, bytes)
		}
		return c.forced(function)
	}
	switch {
	case c.Function == "allreduce" && c.Algorithm == "nonoverlapping":
		return []Choice{c, inner("reduce", block), inner("bcast", block)}
	case c.Function == "allgather" && c.Algorithm == "linear":
		return []Choice{c, inner("gather", block), inner("bcast", all)}
	case c.Algorithm == "non-overlapping": // its scatterv is linear, in the component "basic"
		return []Choice{c, inner("reduce", all), {Function: "scatter", Algorithm: "basic_linear"}}
	case c.Composed():
		return []Choice{c, inner("reduce", all), inner("scatter", block)}
	}
	return []Choice{c}
}

// forced is what the variables of a choice with Inner make an inner function do (variables, after).
func (c Choice) forced(function string) Choice {
	switch function {
	case "reduce":
		return Choice{Function: function, Algorithm: c.Inner, Segment: c.Segment, Fanout: c.Fanout}
	case "bcast":
		if c.Inner == "linear" {
			c.Segment = 0
		}
		return Choice{Function: function, Algorithm: "binomial", Segment: c.Segment}
	}
	return Choice{Function: function, Algorithm: "basic_linear"}
}

// Limits are the sizes in bytes at which the library's decisions change, in any function and at any
// number of ranks, in rising order.
func Limits() (all []int64) {
	for _, d := range decisions() {
		for _, s := range d.sizes {
			for _, l := range s.limits {
				all = append(all, l.bytes)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// decided is the choice that the decision function of a function there is makes. It gives no
// segments, and no number of chains, which is one chain then.
func decided(name string, ranks int, bytes int64) Choice {
	f, _ := FunctionOf(name)
	all := decisions()
	d := all[slices.IndexFunc(all, func(d decision) bool { return d.function == name })]
	size := slices.IndexFunc(d.sizes, func(s bySize) bool { return s.ranks == 0 || ranks < s.ranks })
	limits := d.sizes[size].limits
	limit := slices.IndexFunc(limits, func(l upTo) bool { return l.bytes == 0 || bytes < l.bytes })
	c := Choice{Function: name, Algorithm: f.Algorithms[limits[limit].algorithm-1].Name}
	if c.Algorithm == "chain" {
		c.Fanout = 1
	}
	return c
}
