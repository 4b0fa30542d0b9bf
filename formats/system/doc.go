// Package system represents one node as a topology file describes it: its GPUs, NICs, PCIe switches
// and processors, and the links between them. It computes the paths between them as NCCL does, and
// derives the machine (package machine) that a scenario can name. Readers of files (ncclxml, topom,
// rocmtopo) make a System; the package knows no file format.
//
// Rates are NCCL's (src/graph/topo.h of NCCL 2.30.7, and of RCCL), in one direction. They are the
// achievable rate of a link, below its data sheet's.
package system
