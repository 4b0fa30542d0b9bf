// Package rank executes jobs on ranks. A coordinator distributes a job and gathers the results;
// workers hold the ranks, several or one each.
//
//	executor ─► Coordinator ─┬─ worker: Backend, ranks 0…3
//	            (job, clocks,├─ worker: Backend, ranks 4…7
//	             watchdog)   └─ …
//
// A Backend executes a rank's schedule: with goroutines and sockets (package host), or with Open
// MPI (package mpi). A worker is a process that a Launcher starts and that connects to the
// coordinator, or a goroutine of the coordinator's own process. Both speak one protocol
// (message.go), over one kind of socket, whose bytes are read in one place (wire.go).
//
// The coordinator aligns the clocks of all workers, so that their timestamps share one axis. It
// ends a run that makes no progress, and reports the wait-for chain. A worker that dies or falls
// silent is named within the timeout, and the others are notified. A failure is an *hw.Error, with
// the call, the code's name, rank, lane and step. A closed Coordinator leaves nothing: no process,
// no socket, no file.
//
// The package knows no transport between ranks, no library and no device; a Backend does. It has
// what every transport with several processes needs: Processes runs this program again for each
// worker, and a Mesh connects workers with one another. A connection without the session's secret
// is refused (package gate) and disturbs nothing. The job bounds the length of messages, and each
// is checked before use (check.go).
package rank
