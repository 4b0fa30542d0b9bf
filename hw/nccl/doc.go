// Package nccl has NVIDIA's NCCL carry out collectives on the GPUs of this machine, by its own
// algorithms: what a simulation of it is to be held against.
//
// Nothing of CUDA or NCCL is needed to build it. libnccl.so.2 and the driver's libcuda.so.1 are
// loaded at run time by their names (loader.go); what is missing is a *hw.Missing. Memory, streams
// and copies are the driver's (driver.go), communicators and collectives the library's
// (library.go), both called by name from one thread of a process of their own.
//
// Ranks are on one GPU each: all in one process, as nccl-tests has them, or each in its own, which
// find each other by the unique id that the coordinator hands out (rank.Coordinator). Those may
// share GPUs, since NCCL can be told that they are on different hosts. Processes are this very
// program, started again: its main must call Child before anything else. A code that a function
// returns, an asynchronous error that a communicator tells when asked, a rank that dies and a run
// without progress become an *hw.Error with the call, the code's name and the rank; the processes
// are ended, and with them what they have of the GPUs.
//
// In standin is a library in C that has the interface of both and executes on the CPU, so that all
// of this runs where there is no GPU: rings, trees and PAT by the schedules of algos/nccl, as tests
// write them out. It proves how the libraries are called, not what they do.
// The package knows no algorithm, and nothing of simulated time.
package nccl
