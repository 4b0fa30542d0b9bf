// Package transfers lowers the output of synthesisers to a schedule. SCCL, TACCL, TE-CCL and
// ForestColl say which chunk goes from which rank to which and in what stage. They leave open which
// thread block does the work. Here each rank gets a lane for every rank that it sends to or
// receives from, and one for its copies. So no transfer waits behind another on a different link:
//
//	rank 0                        rank 1
//	lane 0  send to 1  ─────────► lane 2  recv from 0
//	lane 1  send to 2             lane 0  send to 0
//	lane 2  recv from 1 ◄──┐      lane 1  send to 2
//	lane 3  recv from 2    └───── …
//
// Moves of a stage read the data from before the stage and store after it. Nothing else is imposed.
// A step awaits the steps of other lanes of its rank that wrote what it reads, or that read or
// wrote what it overwrites.
//
// A plan may have many tiles. Then every block is cut into so many parts, and each move is made for
// each of them. Stage s handles tile t in round s+t. A rank that is d hops from the origin is d
// tiles behind. So in the steady state no lane waits for another within a round, and the whole
// takes at most tiles + stages rounds.
//
// The package knows no format and no topology.
package transfers
