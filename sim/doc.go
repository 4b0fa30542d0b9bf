// Package sim simulates how long a schedule takes on a network: it computes when every lane ends,
// to the picosecond.
//
// A step starts when its lane is free and all that it awaits has come: messages, events, slots. It
// costs what the device says, and then asks its first link to carry its messages. It holds its lane
// until its last byte has left the rank, unless its device lets the lane go on.
//
// Links are shared by one of two rules. FIFO: a link carries one message, or segment, after the
// other, in the order of the requests. Fluid: all messages of a link flow at the same time, at
// max-min fair rates. Both compute with integers. Requests of one time are ordered by their
// port, lane and place in the program, never by the order in which an engine finds them. So a
// result is a function of schedule and Env alone.
//
// A device with SMs has a model of a GPU besides: a host that launches, streams, blocks that wait
// for places, copy engines, and a memory that all share (docs/decisions/0018-gpu.md).
//
//	Env, Schedule ──► engine ──► Totals                     sim/event, sweep, fold; rules: model
//	                     └─────► Log ──┬──► critical path   sim/critical
//	                                   └──► trace           sim/timeline
//
// Run chooses the engine, which changes only how long the simulation takes. On request an engine
// logs the last thing that every step and message waited for. Followed back from the end of the
// run, the log gives the critical path, whose pieces sum to the time.
//
// The package has no data, no proofs and no pictures. proof.Verify checks that a schedule is right.
// Here a deadlock is a StallError, and a message that no step receives is a schedule.Violation,
// never a time.
package sim
