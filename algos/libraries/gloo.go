package libraries

import (
	"collsim/algos"
	"collsim/collective"
)

// gloo returns what Gloo does: it has no table, but one algorithm of each collective that is used
// where the caller names none (gloo/allreduce.cc and so on, commit cc44198). It cuts chunks into
// two segments, as here, and those of more than 2 MiB into more.
func gloo() library {
	kinds := func(k ...collective.Kind) []collective.Kind { return k }
	return library{
		name:   "gloo:auto",
		about:  "what Gloo does where the caller names no algorithm",
		when:   "as torch.distributed with the backend gloo",
		source: "Gloo cc44198 gloo/*.cc",
		rules: []rule{
			{kinds(collective.AllReduce), condition{}, "ring", "ring", glooRing,
				"in two segments a chunk"},
			{kinds(collective.AllGather), condition{}, "ring", "ring", halves, ""},
			{kinds(collective.AllGatherV), condition{}, "ring", "ring", nil, ""},
			{kinds(collective.Broadcast), condition{}, "binomial, nearest ranks first", "doubling", nil, ""},
			{kinds(collective.Reduce), condition{}, "ring reduce_scatter and linear gather", "ring",
				nil, ""},
			{kinds(collective.Gather), condition{}, "linear", "flat", nil, ""},
			{kinds(collective.Scatter), condition{}, "linear", "flat", nil, ""},
			{kinds(collective.AllToAll, collective.AllToAllV), condition{}, "linear", "direct", nil, ""},
			{kinds(collective.Barrier), condition{}, "dissemination", "dissemination", nil, ""},
		},
	}
}

// halves has every block in two parts.
func halves(_ collective.Spec, o *algos.Options) { o.Slices = 2 }

// glooRing has Gloo's order of additions, and its chunks of two segments.
func glooRing(_ collective.Spec, o *algos.Options) {
	o.Params, o.Slices = []algos.Param{{Name: "order", Value: "gloo"}}, 2
}
