package openmpi

import (
	"slices"

	"collsim/collective"
)

// A decision is the library's choice of algorithms for one of its functions.
type decision struct {
	function string
	sizes    []bySize
}

// bySize is the library's choice for communicators of fewer than so many ranks; 0 is any number.
type bySize struct {
	ranks  int
	limits []upTo
}

// upTo is the number of the algorithm for messages of fewer than so many bytes; 0 is any number.
type upTo struct {
	bytes     int64
	algorithm int
}

// Decided returns what the library executes for a choice: the algorithm of the function, and one
// for each function that this algorithm calls, in the order of the calls. If Inner is given, it is
// taken with all that it forces. Otherwise the component "tuned" decides, as on a single host.
// Components for hierarchies of hosts are not modelled.
func (c Choice) Decided(spec collective.Spec) []Choice {
	if _, err := FunctionOf(c.Function); err != nil {
		return []Choice{c} // an invalid choice
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

// forced returns what the variables of a choice with Inner force an inner function to do.
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

// Limits returns the sizes in bytes at which the library's decisions change, in any function and at
// any number of ranks, ascending.
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

// decided returns the choice of the library's decision function for a function. It sets no
// segments, and one chain.
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
