// Package rank has ranks execute jobs: a coordinator that hands a job out and gathers what came of
// it, and workers that hold the ranks, several or one each.
//
//	executor ─► Coordinator ─┬─ worker: Backend, ranks 0…3
//	            (job, clocks,├─ worker: Backend, ranks 4…7
//	             watchdog)   └─ …
//
// What a rank does with a schedule is a Backend's: goroutines and sockets (package host), Open MPI
// (package mpi). A worker is a process that a Launcher starts and that comes to the coordinator's
// address, or it is in the coordinator's own process. What both say to each other is one protocol
// (message.go), over one kind of socket, whose bytes are read in one place (wire.go).
//
// The coordinator puts the clocks of all workers side by side, so that what they note lies on one
// axis; it ends a run that makes no progress, and says who waits for whom; a worker that dies or
// falls silent is named within the timeout, and the others are posted. What fails is an *hw.Error,
// with the call, the code's name, rank, lane and step. When a Coordinator is closed, nothing of it
// is left: no process, no socket, no file.
//
// The package knows no transport between ranks, no library and no device; a Backend does. What
// every transport of several processes needs is here: who runs this very program again for each of
// them (Processes), and how they get connections to one another (Mesh). Who does not know the
// secret of a session is turned away (package gate) and disturbs nobody; how long a message may be
// follows from the job, and none is believed before it is checked (check.go).
package rank
