// Package cuda plays schedules on NVIDIA GPUs: ranks are virtual ranks, the first of them on the
// first GPU, and on each as many as comes out even. Nothing of CUDA is needed to build: the driver
// (libcuda) and the compiler of kernels (NVRTC) are loaded when they are asked for.
//
// A lane is a stream, of the priority that its launch asks for; lanes of parts that follow one
// another on a stream of a composed schedule share one. One thread of the host goes through the
// schedule as messages allow, once, and plans for each step the waits, one kernel or copy for each
// run of memory that is contiguous on all sides, and an event that says that it is over. A message
// is a piece of memory of its receiver's GPU that its sender writes and its receiver reads; whoever
// has to wait for another lane, because of a message, a slot or an event of the schedule, waits for
// the event of that lane's step, on the device. What is planned is issued in every repetition. The
// host waits for nothing until all is issued, and then asks which events have come: a run without
// progress for the timeout is ended, with who waits for whom.
//
// Steps of a bracket that a copy engine carries out, and that only copy, are copies of the driver;
// all others are kernels (steps.cu), which combine all sources of a step in one pass, in the type
// itself or in float32, with the bits of package reference, and kernels of programs (programs.cu),
// with the bits of package kernel. A kernel touches the memory of other GPUs where the driver lets
// it; elsewhere what it reads and writes there is copied. Brackets that name a graph are captured
// once, those of all ranks together, and launched as one CUDA graph, which is cut where it has to
// wait for something outside that waits for it.
//
// Ranks may be on several machines (Machines): a process on each plays its own (Worker), and what
// goes from one to another goes through the memory of their hosts (mail.go) and over TCP
// (wires.go). All plan the whole schedule, in the same order.
//
// The folder standin has a driver for machines without a GPU. Tests load it as they would load
// CUDA's: it proves ordering and plumbing, not CUDA.
package cuda
