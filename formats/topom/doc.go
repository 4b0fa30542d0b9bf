// Package topom reads the matrix of nvidia-smi topo -m as people paste it: with tabs or blanks,
// with or without its legend, in Markdown or with escapes of a terminal, and with any text around
// it. The matrix becomes a system (package system) in which NCCL would find the same matrix again,
// and the machine that follows from it.
//
// A matrix names no GPU: a device must be given, which also determines the rates of NVLink and
// PCIe.
package topom
