// Package event is the engine that supports every schedule and device: it goes from one request for
// a link to the next, in the order of their times.
//
// Only the sharing of links needs events. Every other time is the later of known times. It is
// computed as soon as the last of them is known, even if it is ahead of the present time.
//
//	        lane                     links of the route                    receiver
//	wait ──► S ──cost──► D ──request──► link 1 ──► link 2 ──► … ──arrival──► its S
//	                     E ◄──last byte has left──┘
//
// Some links are asked in order by themselves, because all that crosses them comes from one lane or
// over one link before. They serve a request at once (uncontended.go): a ring then needs no events
// at all.
//
// Lanes may go on before their bytes have left (a send buffer, a device that offloads), and large
// messages may be asked for first (rendezvous). What a connection has to send is then a stream, in
// order (stream.go, rendezvous.go).
//
// On a GPU, places on SMs and copy engines are also assigned at instants: brackets are launched
// (launch.go), kernels claim places for their blocks (kernels.go), and what crosses a memory flows
// over it like a message over a link.
//
// Most messages are received by a lane. Gets, silent puts and multimem are not: they cross links
// like others, but concern no lane except the one that they hold. What a switch copies or adds up
// is one transfer over several branches (multimem.go).
//
// Whole periods of loops are skipped where the state of a run comes back (period.go,
// snapshot.go).
//
// One loop (loop.go) has lanes carry out their steps (lane.go, step.go). Below it are layers. Each
// has a state of its own, whose fields no other layer touches:
//
//	lanes        which of them may be able to go on         lane.go
//	connections  slots, and messages that are on their way  connection.go, message.go
//	links        packets, and requests in order             link.go, requests.go
//	flows        what flows, and at which rates             flow.go
//	writer       the compact log                            log.go
//
// What only some runs have stands beside the loop: repeater (steps that are the same again), ahead
// and rendezvous (what is sent early, or asked for), branches (multimem), gpus, row (calls in a
// row), faults, and period.
//
// Package model alone defines how long things take and which comes first. Of a run that is to be
// logged, the engine writes only times (log.go, logway.go), and little more of brackets and kernels
// (loggpu.go). The rest of the log is computed from these when it is read (logorder.go, expand.go):
// what messages did (expandmessage.go, expandway.go) and what they waited for. The tests compare it
// with a log that an observer of all that happens writes during the run (happening.go). The package
// knows no other engine, and nothing of traces and critical paths.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	log: log.go logmessage.go logorder.go logway.go loggpu.go happening.go
//	connections: connection.go message.go way.go
//	links: link.go requests.go packet.go uncontended.go flow.go flowwatch.go forward.go
//	ahead: stream.go backlog.go rendezvous.go multimem.go
//	gpus: places.go gpu.go brackets.go launch.go kernels.go gpuwatch.go
//	lanes: lane.go step.go faults.go sizes.go repeat.go calls.go
//	loop: engine.go loop.go partswatch.go progress.go stall.go hang.go period.go snapshot.go
//	reading: expandrecord.go expandcount.go expandway.go expandwhy.go expandmessage.go
//	  expandshare.go expandlane.go expand.go
package event
