// Package measured reads measured times of collectives from tables of any form: the output of the
// programs of nccl-tests and rccl-tests, the JSON of nccl-tests, and CSV with a header, such as
// that of MPI micro-benchmarks. Read recognises the form and returns plain rows. Tables groups rows
// that measure the same over sizes. Check finds rows that contradict themselves or each other.
//
// A row has the facts of its file and no others: if the file does not state the collective or the
// number of ranks, they are 0, and the caller supplies them. The package knows no model of time and
// no machine: package hw/calibrate fits figures to a table.
package measured
