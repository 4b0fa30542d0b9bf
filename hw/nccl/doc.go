// Package nccl executes collectives on the GPUs of this machine by NVIDIA's NCCL, with NCCL's own
// algorithms. Simulations of NCCL can be compared with it.
//
// Building needs nothing of CUDA or NCCL. libnccl.so.2 and the driver's libcuda.so.1 are loaded at
// run time by their names (loader.go); a missing one is a *hw.Missing. The driver has memory,
// streams and copies (driver.go), the library communicators and collectives (library.go). A process
// of their own calls both from one thread.
//
// Each rank uses one GPU. All ranks are in one process, as in nccl-tests, or each is in its own;
// those join by the unique id that the coordinator distributes (rank.Coordinator). Separate
// processes may share GPUs, since NCCL can be made to believe that they are on different hosts.
// Processes are this program, started again: its main must call Child first. Failures become an
// *hw.Error with the call, the code's name and the rank: a result code, an asynchronous error of a
// communicator, the death of a rank, or a run without progress. The processes are then ended, which
// frees the GPUs.
//
// The folder standin has a library in C with the interface of both. It executes on the CPU, so that
// all of this runs without a GPU: rings, trees and PAT by the schedules of algos/nccl, as tests
// write them. It checks how the libraries are called, not what they do. The package knows no
// algorithm, and nothing of simulated time.
package nccl
