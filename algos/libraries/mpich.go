package libraries

import (
	"collsim/algos"
	"collsim/collective"
)

// mpich returns the table of MPICH (maint/tuning/coll/mpir/generic.json, commit 6a79bf6), for
// intracommunicators and operators that commute and are built in. "<" of a whole number is "at
// most" one less. Devices may compose collectives of several nodes otherwise
// (coll/ch4/generic.json): not modelled.
func mpich() library {
	kinds := func(k ...collective.Kind) []collective.Kind { return k }
	gathers := kinds(collective.AllGather, collective.AllGatherV)
	scatters := kinds(collective.ReduceScatter, collective.ReduceScatterV)
	broadcast, reduce := kinds(collective.Broadcast), kinds(collective.Reduce)
	allReduce, allToAll := kinds(collective.AllReduce), kinds(collective.AllToAll)
	allToAllV, barrier := kinds(collective.AllToAllV), kinds(collective.Barrier)
	throttle := with(algos.Param{Name: "batch", Value: "32"}) // MPIR_CVAR_ALLTOALL_THROTTLE

	return library{
		name:   "mpich:auto",
		about:  "what MPICH chooses by itself, by its table of ranks and bytes",
		when:   "as MPICH where nobody tells it how",
		source: "MPICH 6a79bf6 maint/tuning/coll/mpir/generic.json",
		params: []algos.Param{perNode()},
		rules: []rule{
			{broadcast, condition{fewerRanks: 8}, "binomial", "binomial", nil, ""},
			{broadcast, condition{atMost: 12288, of: vector}, "binomial", "binomial", nil, ""},
			{broadcast, condition{pow2: true, atMost: 524288, of: vector},
				"scatter_recursive_doubling_allgather", "scatter-doubling", nil, ""},
			{broadcast, condition{}, "scatter_ring_allgather", "scatter-allgather", nil, ""},

			{allReduce, condition{atMost: 8, of: vector}, "recursive_doubling",
				"recursive-doubling", nil, ""},
			{allReduce, condition{fewer: true}, "recursive_doubling", "recursive-doubling", nil, ""},
			{allReduce, condition{}, "reduce_scatter_allgather", "rabenseifner", nil, ""},

			{gathers, condition{pow2: true, atMost: 524287, of: vector}, "recursive_doubling",
				"recursive-doubling", nil, ""},
			{gathers, condition{pow2: true}, "ring", "ring", nil, ""},
			{gathers, condition{atMost: 81919, of: vector}, "brucks", "bruck", nil, ""},
			{gathers, condition{}, "ring", "ring", nil, ""},

			{reduce, condition{atMost: 2048, of: vector}, "binomial", "binomial", nil, ""},
			{reduce, condition{fewer: true}, "binomial", "binomial", nil, ""},
			{reduce, condition{}, "reduce_scatter_gather", "rabenseifner", nil, ""},

			{scatters, condition{atMost: 524287, of: vector}, "recursive_halving",
				"recursive-halving", nil, ""},
			{scatters, condition{}, "pairwise", "pairwise", nil, ""},

			{kinds(collective.Gather), condition{}, "binomial", "binomial", nil, ""},
			{kinds(collective.Scatter), condition{}, "binomial", "binomial", nil, ""},

			{kinds(collective.AllToAll, collective.AllToAllV), condition{inPlace: true},
				"pairwise_sendrecv_replace", "", nil, ""},
			{allToAll, condition{fewerRanks: 8, atMost: 32768, of: block}, "scattered",
				"scattered", throttle, ""},
			{allToAll, condition{fewerRanks: 8}, "pairwise", "pairwise", nil, ""},
			{allToAll, condition{atMost: 256, of: block}, "brucks", "bruck", nil, ""},
			{allToAll, condition{atMost: 32768, of: block}, "scattered", "scattered", throttle, ""},
			{allToAll, condition{}, "pairwise", "pairwise", nil, ""},
			{allToAllV, condition{}, "scattered", "scattered", throttle, ""},

			{barrier, condition{nodes: true}, "smp", "", nil, ""},
			{barrier, condition{}, "k_dissemination of 2", "dissemination", nil, ""},
		},
	}
}
