// Package cuda executes schedules on NVIDIA GPUs. Ranks are virtual: each GPU has several
// consecutive ones, evenly distributed. Building needs nothing of CUDA: the driver (libcuda) and
// the compiler of kernels (NVRTC) are loaded at run time.
//
// A lane is a stream, of the priority that its launch asks for. Lanes of successive parts on one
// stream of a composed schedule share a CUDA stream. One host thread walks the schedule once, as
// messages allow, and plans each step: waits, kernels or copies, and an event at the end. A kernel
// or copy covers a run of memory that is contiguous on all sides. A message is memory on its
// receiver's GPU that its sender writes and its receiver reads. A lane that depends on another (by
// a message, a slot or an event of the schedule) waits on the device for the event of that lane's
// step. Each repetition issues the planned calls. The host first issues everything, and then polls
// the events. A run without progress for the timeout is ended, and its error reports the wait-for
// chain.
//
// Steps of a bracket on a copy engine that only copy become driver copies. All others are kernels:
// steps.cu combines all sources of a step in one pass, in the type itself or in float32, with the
// bits of package reference; programs.cu has the kernels of programs, with the bits of package
// kernel. A kernel accesses the memory of other GPUs if the driver enables it; otherwise its
// operands and results are copied. Brackets that name a graph are captured once, for all ranks
// together, and launched as one CUDA graph. A graph is cut where it waits for something outside
// that depends on the graph.
//
// Ranks may be on several machines (Machines). A process on each executes its own ranks (Worker).
// Messages between machines go through the memory of both hosts (mail.go) and over TCP (wires.go).
// All machines plan the whole schedule in the same order.
//
// The folder standin has a driver for machines without a GPU. Tests load it in place of CUDA's: it
// checks ordering and plumbing, not CUDA.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	driver: bind.go bind_none.go library.go device.go gpu.go carried.go kernels.go
//	executions: execution.go ops.go graph.go measure.go watch.go
//	plans: prepare.go issue.go step.go pieces.go programs.go mail.go
//	hosts: wires.go apart.go worker.go
//	executor: cuda.go
package cuda
