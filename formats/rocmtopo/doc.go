// Package rocmtopo reads the output of AMD's tools about links between GPUs: rocm-smi --showtopo
// and amd-smi topology, all of their tables or one. The tables become a system (package system) and
// the machine that follows from it.
//
// The tables name no GPU and no NIC. So a device must be given, which also determines the rate of
// an xGMI link. They do not state the number of links between two GPUs; one is assumed.
package rocmtopo
