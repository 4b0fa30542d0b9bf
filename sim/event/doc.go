// Package event is the engine that always works: it goes from one request for a link to the next,
// in the order of their times.
//
// Only the sharing of links needs events. All else is the later of known times, worked out as soon
// as the last of them is known, even if it lies ahead.
//
//	        lane                     links of the route                    receiver
//	wait ──► S ──cost──► D ──request──► link 1 ──► link 2 ──► … ──arrival──► its S
//	                     E ◄──last byte has left──┘
//
// Links that are asked in order by themselves, as what crosses them comes from one lane or over one
// link before, serve at once what asks (sole.go): a ring then needs no events at all.
//
// Lanes may go on before their bytes have left (a send buffer, a device that offloads), and large
// messages may be asked for first (rendezvous). What a connection has to send is then a stream, in
// order (stream.go, rendezvous.go).
//
// On a GPU, places on SMs and copy engines are given out at instants as well (rungpu.go): brackets
// come to a gate (gate.go), kernels claim places for their blocks (kernels.go), and what crosses a
// memory flows over it like a message over a link.
//
// Most messages are received by a lane. Gets, silent puts and multimem are not: they are on their
// way like any other and nobody hears of them but the lane that they hold. What a switch copies
// or adds up is one transfer over several branches (multimem.go).
//
// Whole periods of loops are left out where the state of a run comes back (periodic.go,
// snapshot.go).
//
// What things take, and who comes first, is said by package model and by nothing here. Of a run
// that is to be logged only times are written (tape.go, tapeway.go), and little more of brackets
// and kernels (tapegpu.go). All that the log tells is worked out from these when it is read
// (tapeorder.go, read.go): what messages did (readmessage.go, readway.go) and what they waited for.
// The tests hold it against a log that is written as the run goes, by who watches all that happens
// (happening.go). The package knows no other engine, and nothing of traces and critical paths.
package event
