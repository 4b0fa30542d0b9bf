// Package algos is the collection of collective algorithms: one small file each, in plain Go that
// writes what one rank does, with its source and its published cost. Table lists them, Find looks
// one up, and Algorithm.Build applies one to a collective, which makes a schedule.
//
// An Algorithm is data and pure functions. Lane writes what each lane of a rank does. Group
// translates ranks, where every rank does the same relative to itself. An algorithm that is another
// one run backwards only names it (Of): a reduce_scatter its all_gather, a reduce its broadcast.
// Bind makes functions that depend on parameters. Channels and slices are modifiers of any
// algorithm and not in these files. Peers and blocks are counted modulo their number, and Build
// handles one rank or no data, so the files have no special cases.
//
// Cost is the closed form from the literature; ClosedForm converts it to picoseconds. Nothing is
// simulated here: the package knows nothing of links, devices or data, and package proof makes the
// proofs. Package algostest is the conformance suite that all algorithms pass.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	algorithms: algorithm.go param.go pick.go
//	costs: cost.go closedform.go
//	ranks: common.go fold.go tree.go
//	moves: all_gather_bruck.go all_gather_direct.go all_gather_pairwise.go
//	  all_gather_recursive_doubling.go all_gather_ring.go broadcast_chain.go broadcast_flat.go
//	  scatter_flat.go gather_flat.go send_recv_direct.go barrier_dissemination.go
//	exchanges: all_to_all_bruck.go all_to_all_direct.go all_to_all_pairwise.go
//	  all_to_all_ring.go
//	reductions: reduce_flat.go reduce_linear.go reduce_scatter_direct.go
//	  reduce_scatter_pairwise.go all_reduce_binomial.go all_reduce_double_binary_tree.go
//	  all_reduce_one_shot.go all_reduce_rabenseifner.go all_reduce_recursive_doubling.go
//	  all_reduce_ring.go all_reduce_two_shot.go all_reduce_hierarchical.go low_contention.go
//	derived: broadcast_binomial.go broadcast_scatter_allgather.go scatter_binomial.go
//	  transposed.go
//	table: table.go
package algos
