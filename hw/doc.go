// Package hw executes schedules for real: bytes really move, a real processor adds, and a clock
// measures the time.
//
// An Executor takes a Job (a schedule, the input of every rank, an environment). It returns a
// Result: outputs, measured times, a timeline of the same shape as the simulator's, and a
// description of the machine. A failure is an Error: data, with the call, the code's name, rank,
// lane and step. A run that makes no progress for the environment's timeout is ended; its error
// names the wait-for chain. A Row describes an executor in a table before it is opened.
//
// Executors are packages below this one. Most are Backends of package rank, which shares processes,
// clocks and the watchdog. This package has the checks of a job and arithmetic on bytes. It knows
// no transport, no process and no library. Nothing here simulates: time is only ever measured.
package hw
