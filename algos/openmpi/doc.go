// Package openmpi is the collection of Open MPI's algorithms as schedules of ours: which rank sends
// what to which, in which order, which sends leave at once, and the operands of every addition.
// Build makes the schedule of a Choice, which is what the library's component "tuned" lets a user
// force. The library decides what a choice leaves open (Choice.Decided). Table lists them all by
// name, as "openmpi:ring", so that they are simulated and proven like any other algorithm.
//
// It needs no Open MPI. Package hw/mpi, which knows the library and imports this one, compares its
// messages and bits with these schedules. The package knows no library, no process and no time.
package openmpi
