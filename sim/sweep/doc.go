// Package sweep is the simulation engine without an event queue: it guesses the order in which
// messages ask for links, and verifies the guess.
//
//	row: every lane goes on, up to a step that sends ──► first links ──► second links ──► … ──► next
//	                                                     each in the order of its requests
//
// An engine needs an order for one thing alone: which of several requests a link serves first. The
// guess is that lanes advance in step: messages sent in one row ask each link before those sent in
// the next row. Within a row the requests of a link are sorted by the rules. Every link remembers
// the last request that it has served. A request that should have been served before that one
// refutes the guess, and the result is *NotSwept.
//
// If no request does so, all links have served all requests in their order. Then this is the run:
// every effect is later than its cause, in time or in wave. So by induction over moments only one
// run follows the rules with links that serve in order.
//
// Under fluid sharing the guess is that flows never meet: each is alone on its links, at the rate
// that it then has. A flow that begins on a link before the last one has left it refutes that.
//
// Rows repeat themselves. record.go finds periods, and replay.go repeats them with additions and
// maxima only. The engine supports two-sided steps and local work. It does not support devices that
// go on before their bytes have left, rendezvous, one-sided steps, composed schedules and GPUs. Any
// fault of a run, such as a stall, it leaves to another engine. Rules of time are those of package
// model; TestAgreement holds all results to those of sim/event.
package sweep
