// Package sim says when: it plays a schedule on a network and tells when every lane is done, to the
// picosecond.
//
// A step starts when its lane is free and all that it awaits is there (messages, events, slots),
// costs what the device says, and then asks its first link to carry its messages; it holds its lane
// until its last byte has left the rank, unless its device lets it run ahead. Links are shared in
// one of two ways. FIFO: a link carries one message (or segment) after the other, in the order of
// the requests. Fluid: all messages of a link flow at once, at max-min fair rates. Both are integer
// arithmetic; requests of one time are put in order by what they are (the port they come from, the
// lane, the place in its program), never by the order in which they were found. So a result is a
// function of schedule and Env alone.
//
// A device with SMs has a model of a GPU besides: a host that launches, streams, blocks that wait
// for places, copy engines, and a memory that all share (docs/decisions/0018-gpu.md).
//
//	Env, Schedule ──► engine ──► Totals                     sim/event, sweep, fold; rules: model
//	                     └─────► Log ──┬──► critical path   sim/critical
//	                                   └──► trace           sim/timeline
//
// Run chooses the engine; which one it was changes nothing but how long that took. Asked for, an
// engine writes down what every step and message waited for last. The way back from the end of the
// run is the critical path, whose pieces sum to the time.
//
// The package knows nothing of data, of proofs and of pictures. That a schedule is right is
// proof.Verify's question; here a deadlock is a StallError and a message that nobody receives a
// schedule.Violation, never a number.
package sim
