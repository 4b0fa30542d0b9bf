// Package nccl makes the schedules of NVIDIA's NCCL: its ring, double binary tree, NVLS, NVLSTree,
// PAT and CollNet, cut into channels, chunks and slices as the library cuts them, with its order of
// additions, and its own choice between them. They are algorithms like any other, under
// names that begin with "nccl:".
//
// What the library does was read in its source (2.30.7; the paths are in the comments) and is said
// here in other words. It depends on the machine: how many rings a search of its wires has found,
// how fast they are, and which GPU is next to which. That search is not here; its results for some
// machines are (Machines). In NVLS and NVLSTree the switch of a node adds, in an order that nobody
// publishes, so that sums of floats are bounded at best; they need a network that says so
// (topology.node.multimem). The same holds of CollNet, where the switches between nodes add
// (topology.network.multimem).
//
// LL puts a flag of 4 bytes behind every 4 of the data, LL128 one of 8 behind every 120. Messages
// have them on the wires of a simulation (schedule.Framing), as in the library's model (Choice).
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	names: names.go way.go
//	machines: facts.go found.go machine.go version.go search.go
//	settings: env.go sizing.go tuner.go
//	costs: model.go nvlscost.go collnet.go leave.go
//	choice: choice.go
//	messages: split.go p2p.go message.go ragged.go
//	collectives: ring.go tree.go nvls.go aggregate.go pat.go patgather.go patsum.go
//	tables: table.go costs.go
package nccl
