package libraries

import (
	"strconv"

	"collsim/algos"
	"collsim/collective"
)

// ucc returns the table of UCC's TL UCP for memory of the host (src/components/tl/ucp, commit
// 8263de4: *_DEFAULT_ALG_SELECT_STR; where two ranges meet, the size belongs to the upper one). A
// radix that is "auto" is 4, as on several ranks of a node that are not bound to sockets. On GPUs
// UCC prefers other layers (NCCL, CUDA): not modelled.
func ucc() library {
	kinds := func(k ...collective.Kind) []collective.Kind { return k }
	allReduce, broadcast := kinds(collective.AllReduce), kinds(collective.Broadcast)
	reduce, allToAllV := kinds(collective.Reduce), kinds(collective.AllToAllV)
	scatters := kinds(collective.ReduceScatter, collective.ReduceScatterV)
	allGather, allToAll := kinds(collective.AllGather), kinds(collective.AllToAll)
	allGatherV, gathers := kinds(collective.AllGatherV), append(allGather, collective.AllGatherV)
	const unlike = "knomial of 4 on no power of 4" // it has a last round of fewer; ours folds

	return library{
		name:   "ucc:auto",
		about:  "what UCC chooses by itself over UCX for memory of the host",
		when:   "as UCC's TL UCP where nobody tells it how",
		source: "UCC 8263de4 src/components/tl/ucp",
		rules: []rule{
			{allReduce, condition{pow4: true, atMost: 4095, of: vector}, "knomial of 4",
				"recursive-multiplying", radix4, ""},
			{allReduce, condition{atMost: 4095, of: vector}, unlike, "", nil, ""},
			{allReduce, condition{pow4: true}, "sra_knomial of 4", "k-nomial", radix4, ""},
			{allReduce, condition{}, "sra_" + unlike, "", nil, ""},

			{gathers, condition{pow4: true, atMost: 4095, of: vector}, "knomial of 4",
				"recursive-multiplying", radix4, ""},
			{gathers, condition{atMost: 4095, of: vector}, unlike, "", nil, ""},
			{allGather, condition{even: true}, "neighbor", "neighbor-exchange", nil, ""},
			{allGather, condition{}, "ring", "ring", nil, ""},
			{allGatherV, condition{}, "ring", "ring", nil, ""},

			{broadcast, condition{fewerRanks: 3}, "knomial of 4", "k-nomial", radix4, ""},
			{broadcast, condition{atMost: 32767, of: vector}, "knomial of 4", "k-nomial", radix4, ""},
			{broadcast, condition{}, "sag_knomial of 4", "", nil, ""},
			{reduce, condition{atMost: 32767, of: vector}, "knomial of 4", "k-nomial", radix4, ""},
			{reduce, condition{}, "srg_knomial of 4", "", nil, ""},

			{kinds(collective.Gather), condition{}, "knomial of 4", "k-nomial", radix4, ""},
			{kinds(collective.Scatter), condition{}, "knomial of 4", "k-nomial", radix4, ""},
			{scatters, condition{}, "ring, two of them both ways", "ring", bothWays, ""},

			{allToAll, condition{atMost: 128, of: block}, "bruck", "bruck", nil, ""},
			{allToAll, condition{moreRanks: 32, moreThan: 66000, of: vector}, "pairwise, one by one",
				"pairwise", nil, ""},
			{allToAll, condition{}, "pairwise, all at once", "direct", nil, ""},
			{allToAllV, condition{moreRanks: 32}, "pairwise, one by one", "pairwise", nil, ""},
			{allToAllV, condition{}, "pairwise, all at once", "direct", nil, ""},

			{kinds(collective.Barrier), condition{}, "knomial of 8", "", nil, ""},
		},
	}
}

// radix4 sets a radix of 4, or the number of ranks where that is less.
func radix4(spec collective.Spec, o *algos.Options) {
	o.Params = []algos.Param{{Name: "radix", Value: strconv.Itoa(max(2, min(4, spec.Ranks)))}}
}

// bothWays has two channels, round the ranks in opposite directions.
func bothWays(spec collective.Spec, o *algos.Options) {
	if spec.Ranks < 3 {
		return
	}
	o.Channels, o.Rings = 2, [][]int32{make([]int32, spec.Ranks), make([]int32, spec.Ranks)}
	for i := range spec.Ranks {
		o.Rings[0][i], o.Rings[1][i] = int32(i), int32(spec.Ranks-1-i)
	}
}
