// Package mpi executes collectives on an independent message passing library: Open MPI. It is
// loaded at run time by its name, so nothing of it is needed to build.
//
// There are two modes. Executor.Run executes a schedule: every message is an MPI_Isend, every
// receive an MPI_Irecv, and local work is done here. Executor.Perform has the library execute a
// collective by one of its own algorithms, an openmpi.Choice, which variables of its component
// "tuned" force. Package algos/openmpi has these algorithms as schedules. Tests here compare them
// with the library's messages and bits. Executor.Library is the second mode as a hw.Executor: it
// executes the library's algorithm of a schedule's name (Counterpart) instead of its steps.
//
// Ranks are processes of this program, started by mpirun: the program's main must call Child first.
// They receive orders over a socket of their own, and report over it that they live and make
// progress. A lost rank, or a run without progress, is reported and ended within the environment's
// timeout, and no process is left.
//
// A rank calls the library from one system thread only (MPI_THREAD_FUNNELED), with errors returned
// rather than fatal. The package knows the names of our algorithms and the schedules of the
// library's. It knows no scenario, and nothing of simulated time.
package mpi
