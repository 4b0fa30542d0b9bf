// Package msccl reads and writes the XML files of MSCCL (microsoft/msccl, msccl-executor-nccl and
// AMD's RCCL), with the meaning that those runtimes give them.
//
// A file holds a program for every gpu: thread blocks (tb), which become lanes, of steps. A tb has
// at most one peer to send to and one to receive from, on a channel: (source, destination, channel)
// is a connection, a FIFO. The runtime cuts every chunk into tiles that fit a place of that FIFO
// and carries every program out once a tile. Between the tbs of a gpu there are flags: a step with
// hasdep="1" sets its tb's flag to its own number, and a step waits (depid, deps) until the flag of
// another tb is at least that high, in the same tile. Flags only rise, so a wait for a step that
// sets none is satisfied by a later one, or never.
//
// Sources: microsoft/msccl, src/graph/topo.cc (the parser), src/collectives/device/
// msccl_interpreter.h (the kernel), src/enqueue.cc (tiles and counts), src/graph/tuning.cc
// (selection); ROCm/rccl, src/misc/msccl; microsoft/msccl-tools, msccl/language/ir.py (the compact
// dialect). The package knows nothing of time, networks or algorithms.
package msccl
