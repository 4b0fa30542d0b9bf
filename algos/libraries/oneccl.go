package libraries

import (
	"collsim/algos"
	"collsim/collective"
)

// oneCCL returns the table of oneCCL on processors (src/coll/selection/selector_*.cpp without SYCL,
// commit 5f70104). Over OFI it has algorithms of its own. Over MPI, its default, nearly all is
// "direct": the MPI library's call, whatever that chooses. A nreduce of fewer elements than ranks
// is its fallback's ring. Its sizes are of a rank's vector, or of a rank's block.
func oneCCL() library {
	kinds := func(k ...collective.Kind) []collective.Kind { return k }
	all := append(kinds(collective.Broadcast, collective.AllReduce, collective.Reduce,
		collective.Barrier), kinds(collective.AllGather, collective.AllGatherV,
		collective.ReduceScatter)...)
	overMPI := condition{}
	overMPI.set.param, overMPI.set.value = "transport", "mpi"
	mediumOverMPI := overMPI
	mediumOverMPI.atMost, mediumOverMPI.of = 1<<20, block
	exchanges := kinds(collective.AllToAll, collective.AllToAllV)

	return library{
		name:   "oneccl:auto",
		about:  "what oneCCL chooses by itself on processors, by its tables of bytes",
		when:   "as oneCCL without SYCL over OFI where nobody tells it how",
		source: "oneCCL 5f70104 src/coll/selection",
		params: []algos.Param{{Name: "transport", Value: "ofi", Tries: []string{"ofi", "mpi"},
			About: "CCL_ATL_TRANSPORT: ofi or mpi; over mpi it calls the MPI library's collectives, " +
				"which are not here"}},
		rules: []rule{
			{all, overMPI, "direct", "", nil, ""},
			{exchanges, mediumOverMPI, "direct", "", nil, ""},

			{kinds(collective.Broadcast), condition{atMost: 8192, of: vector}, "double_tree",
				"double-binary-tree", nil, "its trees are NCCL's, in segments"},
			{kinds(collective.Broadcast), condition{}, "naive", "flat", nil, ""},

			{kinds(collective.AllReduce), condition{atMost: 8192, of: vector},
				"recursive_doubling", "recursive-doubling", nil, ""},
			{kinds(collective.AllReduce), condition{atMost: 1 << 20, of: vector, enough: true},
				"nreduce", "two-shot", nil,
				"each rank adds in rank order, and begins with its own in oneCCL"},
			{kinds(collective.AllReduce), condition{}, "ring", "ring",
				with(algos.Param{Name: "order", Value: "nccl"}), ""},

			{kinds(collective.AllGather, collective.AllGatherV), condition{atMost: 32768, of: block},
				"naive", "direct", nil, ""},
			{kinds(collective.AllGather, collective.AllGatherV), condition{}, "ring", "ring", nil, ""},
			{kinds(collective.Reduce), condition{}, "tree", "binomial", nil, ""},
			{kinds(collective.ReduceScatter), condition{}, "naive", "pairwise", nil, ""},
			{exchanges, condition{}, "scatter", "direct", nil, ""},
			{kinds(collective.Barrier), condition{}, "ring", "dissemination", nil, ""},
		},
	}
}
