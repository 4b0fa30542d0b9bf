// Package sim says when: it plays a schedule on a network and tells when every lane is done, to the
// picosecond.
//
// A step starts when its lane is free and all that it awaits is there (messages, events, slots),
// costs what the device says, and then asks its first link to carry its messages; it holds its lane
// until its last byte has left the rank, unless its device lets it run ahead. Only the sharing of
// links needs events. All else is the later of known times, worked out as soon as the last of them
// is known, even if it lies ahead.
//
//	        lane                     links of the route                    receiver
//	wait ──► S ──cost──► D ──request──► link 1 ──► link 2 ──► … ──arrival──► its S
//	                     E ◄──last byte has left──┘
//
// Links are shared in one of two ways. FIFO: a link carries one message (or segment) after the
// other, in the order of the requests. Fluid: all messages of a link flow at once, at max-min fair
// rates. Both are integer arithmetic; requests of one time are put in order by what they are (the
// port they come from, the lane, the place in its program), never by the order in which they were
// found. So a result is a function of schedule and Env alone.
//
// Lanes may go on before their bytes have left (a send buffer, a device that offloads), and large
// messages may be asked for first (rendezvous). What a connection has to send is then a stream, in
// order (stream.go, rendezvous.go).
//
// Most messages are received by a lane. Gets, silent puts and multimem are not: they are on their
// way like any other and nobody hears of them but the lane that they hold. What a switch copies
// or adds up is one transfer over several branches (multimem.go).
//
// Asked for, a run also tells why it took so long: every step and message remembers what it waited
// for last, and the way back from the end is the critical path, whose pieces sum to the time.
//
// The package knows nothing of data, of proofs and of pictures. That a schedule is right is
// schedule.Verify's question; here a deadlock is a StallError and an impossible step a
// schedule.Violation, never a number.
package sim
