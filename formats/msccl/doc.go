// Package msccl reads and writes the XML files of MSCCL (microsoft/msccl, msccl-executor-nccl and
// AMD's RCCL), with the semantics of those runtimes.
//
// A file holds a program for every GPU: thread blocks (tb), which become lanes, of steps. A tb has
// at most one peer to send to and one to receive from, on a channel. A connection is (source,
// destination, channel), and is a FIFO. The runtime cuts every chunk into tiles that fit a slot of
// that FIFO and executes every program once for each tile. The tbs of a GPU synchronise by flags. A
// step with hasdep="1" sets its tb's flag to its own number. A step waits (depid, deps) until the
// flag of another tb is at least that high, in the same tile. Flags only rise, so a wait for a step
// that sets none is satisfied by a later one, or never.
//
// Sources: microsoft/msccl, src/graph/topo.cc (the parser), src/collectives/device/
// msccl_interpreter.h (the kernel), src/enqueue.cc (tiles and counts), src/graph/tuning.cc
// (selection); ROCm/rccl, src/misc/msccl; microsoft/msccl-tools, msccl/language/ir.py (the compact
// dialect). The package knows nothing of time, networks or algorithms.
package msccl
