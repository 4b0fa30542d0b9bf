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
//	algorithms: network.go algorithm.go chosen.go param.go pick.go
//	costs: cost.go closedform.go atleast.go
//	ranks: common.go fold.go radix.go tree.go
//	kinds: all_*.go barrier_*.go broadcast_*.go gather_*.go reduce_*.go scatter_*.go send_*.go
//	  low_contention.go nvls.go nvls_pipelined.go circulant.go circulant_broadcast.go exchange.go
//	  swing.go butterfly.go bine.go bine_exchange.go binary_blocks.go binary_tree.go k_bruck.go
//	  k_nomial.go recursive_multiplying.go leaders.go levels.go multi_level.go noncommutative.go
//	  torus.go walk.go
//	derived: transposed.go
//	table: table.go
package algos
