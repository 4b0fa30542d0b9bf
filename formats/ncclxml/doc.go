// Package ncclxml reads and writes the topology files of NCCL and RCCL: those that NCCL_TOPO_FILE
// names and NCCL_TOPO_DUMP_FILE writes. A file becomes a system (package system) and the machine
// that follows from it. A machine becomes a file that NCCL accepts.
//
// Facts that NCCL would ask the driver for follow from the PCI device id, or else from a device's
// name: the GPU's model, and its NVLinks where the file has no tag <gpu>.
package ncclxml
