// Package ncclxml reads and writes the topology files of NCCL and RCCL: what NCCL_TOPO_FILE names,
// and NCCL_TOPO_DUMP_FILE writes. A file becomes a system (package system) and the machine that
// follows from it; a machine becomes a file that NCCL takes.
//
// A file says what it says. What NCCL would ask the driver for follows from the PCI device id, or
// else from a device's name: which GPU it is, and its NVLinks where the file has no tag <gpu>.
package ncclxml
