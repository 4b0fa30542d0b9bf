// Package nccllog reads measured times of collectives from tables: what the programs of nccl-tests
// and rccl-tests print (ReadLog), and the same or micro-benchmarks of MPI as CSV (ReadCSV). Read
// tells the two apart.
//
// A Table has what its file says and no more: where that leaves out the collective or the number of
// ranks, they are 0, and its reader's caller supplies them. The package knows no model of time and
// no machine: what figures follow from a table is what package hw/calibrate finds.
package nccllog
