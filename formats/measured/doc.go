// Package measured reads measured times of collectives from files of any form, which it recognises
// by their text:
//
//   - logs of nccl-tests and rccl-tests, with all that launchers, the library (NCCL_DEBUG=INFO) and
//     other processes have written around, between and into their rows;
//   - JSON of nccl-tests (-J) and of rccl-tests (--output_format json);
//   - the OSU micro-benchmarks, of MPI and of NCCL or RCCL;
//   - records of NCCL Inspector, NCCL's profiler plugin;
//   - CSV with a header, whose columns may have any order, and names with units;
//   - what collsim itself writes: --csv, --json and --jsonl, which are rows of simulated times.
//
// Read returns plain rows, with the facts of the run and notes on what was left out or assumed.
// Tables groups rows that measure the same over sizes. Check finds rows that contradict themselves
// or each other. A form is a file with its reader, and a line in the table of forms.
//
// A row has the facts of its file and no others: if the file does not state the collective or the
// number of ranks, they are 0, and the caller supplies them. The package knows no model of time and
// no machine: package hw/calibrate fits figures to a table.
package measured
