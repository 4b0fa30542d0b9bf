// Package sweep is the engine without a queue: it guesses in which order links are asked, and
// verifies that.
//
//	row: every lane goes on, up to a step that sends ──► first links ──► second links ──► … ──► next
//	                                                     each in the order of its requests
//
// An engine needs an order for one thing alone: who is served first by a link that several ask. The
// guess is that lanes advance in step: what is sent in one row asks each link before what is sent
// in the next. Within a row, requests of a link are put in order as their rules say. Every link
// remembers what it has served last; if something comes that should have been served before that,
// the guess was wrong, and it is *NotSwept. Otherwise all links have served all requests in their
// order, and that is the run: everything takes effect later than what brings it about, in time or
// in wave, so that by induction over moments only one run meets the rules with links served in
// order.
//
// Under fluid sharing the guess is that flows never meet: each is alone on its links, at the rate
// that it then has. A flow that begins on a link before the last one has left it refutes that.
//
// Rows repeat themselves; record.go finds periods, and replay.go plays them with nothing but
// additions and maxima. The engine knows two-sided steps and what a rank does by itself, not
// devices that go on before their bytes have left, rendezvous, one-sided steps, composed schedules
// and GPUs; and what is wrong with a run it leaves to another, a stall among it. Rules of time are
// package model's; TestAgreement holds all numbers to those of sim/event.
package sweep
