// Package rocmtopo reads what AMD's tools print of the links between GPUs: rocm-smi --showtopo and
// amd-smi topology, all of their tables or one. The tables become a system (package system) and the
// machine that follows from it.
//
// The tables name no GPU and no NIC: a device must be given, which also says what a link of xGMI
// carries. They do not say how many links two GPUs have; it is taken as one.
package rocmtopo
