// Package hw is what it means to execute a schedule for real: bytes that really move, additions
// that a real processor makes, times that a clock has measured.
//
// An Executor takes a Job (a schedule, the input of every rank, an environment) and returns a
// Result (outputs, measured times, a timeline of the same shape as the simulator's, and what it ran
// on). What goes wrong is an Error: data, with the call, the code's name, rank, lane and step. A
// run that makes no progress for the environment's timeout is ended, and the error says who waits
// for whom. A Row is what a table of executors says of one before it is opened.
//
// Executors are packages below this one, and most are Players of package rank, which has the
// processes, clocks and watchdog that they share. Here are the checks of a job and arithmetic on
// bytes. The package knows no transport, no process and no library; and nothing here simulates:
// time is only ever measured.
package hw
