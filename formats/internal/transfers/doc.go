// Package transfers lowers what synthesisers write to a schedule. SCCL, TACCL, TE-CCL and
// ForestColl say which chunk goes from which rank to which and in what stage, and leave open who
// does the work: there are no thread blocks. Here each rank gets a lane for every rank that it
// sends to and one for every rank that it receives from, and one for its copies, so that no
// transfer waits behind another on a different link:
//
//	rank 0                        rank 1
//	lane 0  send to 1  ─────────► lane 2  recv from 0
//	lane 1  send to 2             lane 0  send to 0
//	lane 2  recv from 1 ◄──┐      lane 1  send to 2
//	lane 3  recv from 2    └───── …
//
// Moves of a stage read what was there before the stage and land after it. Nothing else is imposed:
// a step awaits only the steps of other lanes of its rank that wrote what it reads, or read or
// wrote what it overwrites, as events.
//
// A plan may be made for many tiles. Then every block is cut in so many parts, each move is made
// for each of them, and stage s handles tile t in round s+t: what is d hops from its origin
// is d tiles behind. So in the steady state no lane waits for another within a round, and the
// time is (tiles + stages) rounds at most.
//
// The package knows no format and no topology.
package transfers
