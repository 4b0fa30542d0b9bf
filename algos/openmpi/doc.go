// Package openmpi is the collection of the algorithms that Open MPI has, as schedules of ours: who
// sends what to whom, in which order, which sends go out at once, and who adds what to what. Build
// writes down a Choice, which is what the library's component "tuned" lets one force; of a choice
// that leaves something open, what the library decides by itself (Choice.Decided). Table lists them
// all by name, as "openmpi:ring", so that they are simulated and proven like any other algorithm.
//
// Nothing of Open MPI is needed. That its messages and bits are those of these schedules is what
// package hw/mpi compares, which knows the library and imports this; the package knows no library,
// no process and no time.
package openmpi
