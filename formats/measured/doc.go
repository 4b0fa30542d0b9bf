// Package measured reads measured times of collectives from tables of any form: what the programs
// of nccl-tests and rccl-tests print, the JSON of nccl-tests, and CSV with a header, such as that
// of micro-benchmarks of MPI. Read tells them apart and returns plain rows; Tables groups rows that
// measure the same over sizes; Check finds rows that contradict themselves or each other.
//
// A row has what its file says and no more: where that leaves out the collective or the number of
// ranks, they are 0, and the caller supplies them. The package knows no model of time and no
// machine: what figures follow from a table is what package hw/calibrate finds.
package measured
