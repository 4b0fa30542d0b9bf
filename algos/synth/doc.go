// Package synth makes schedules for a given network: for any links and switches, slow, absent and
// unequal ones included, at a rate near the best that the network allows.
//
// All_gather, reduce_scatter, all_reduce, broadcast and reduce send every block down spanning trees
// of its root. The steps, all in whole numbers:
//
//	network    the pairs of ranks whose route passes no third rank, and the links of each
//	rate       how many trees a root there are, and how much a link carries of them (maximum flows)
//	logical    how much of each link every such pair gets (edge splitting)
//	pack       the trees (Edmonds' branchings, by maximum flows)
//	shares     of an all_reduce: what each rank adds up, and how links are divided between the way
//	           up and the way down (a linear program in exact fractions, whose rows are found by
//	           maximum flows)
//	tiles      how many pieces of a block follow one another down the trees
//
// All_to_all divides the block of every pair of ranks into parts, and sends each by the path that
// is least loaded so far; ranks on a path store and forward.
//
// Sources: Zhao et al., "ForestColl: Throughput-Optimal Collective Communications on Heterogeneous
// Network Fabrics", arXiv:2402.06787; Bérczi and Frank, "Packing arborescences", 2010; Edmonds,
// "Edge-disjoint branchings", 1973; Aspnes et al., "On-line routing of virtual circuits with
// applications to load balancing and machine scheduling", J. ACM 44(3), 1997.
//
// The package knows links, rates and routes. It knows nothing of devices, and simulates nothing.
package synth
