// Package mpi plays collectives on a message passing library that nobody here wrote: Open MPI,
// loaded at run time by its name, so that nothing of it is needed to build.
//
// It has two modes. Executor.Run plays a schedule: every message is an MPI_Isend, every receive an
// MPI_Irecv, all that is local is done here. Executor.Perform has the library do the collective by
// one of its own algorithms (an openmpi.Choice, forced by the variables of its component "tuned").
// What such an algorithm does, package algos/openmpi writes down as a schedule; that the library's
// messages and bits are those of the schedule, which the tests here compare, shows that both are
// understood. Executor.Library is the second mode as a hw.Executor: the library's algorithm of a
// schedule's name (Counterpart) instead of its steps.
//
// Ranks are processes of this very program, started by mpirun: the program's main must call Child
// before anything else. They are reported what to do over a socket of their own, over which they
// also say that they live and go on; a rank that is lost, and a run without progress, are named and
// ended within the environment's timeout, and no process is left.
//
// A rank calls the library from one thread of the system only (MPI_THREAD_FUNNELED), and has it
// return its errors instead of ending the process. The package knows the names of our algorithms
// and none of their schedules but the library's, no scenario, and nothing of simulated time.
package mpi
