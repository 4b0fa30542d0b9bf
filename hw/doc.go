// Package hw is what it means to play a schedule for real: bytes that really move, additions that a
// real processor makes, times that a clock has measured.
//
// A Device is an executor: it takes a Job (a schedule, the input of every rank, an environment) and
// returns a Result (outputs, measured times, a timeline of the same shape as the simulator's, and
// what it ran on). What goes wrong is an Error: data, with the call, the code's name, rank, lane
// and step. A run that makes no progress for the environment's timeout is ended, and the error says
// who waits for whom.
//
// Executors are packages below this one. What they share is here and small: the checks of a job,
// arithmetic on bytes, the watch for progress, the making of a timeline from what ranks have noted.
// The package knows no transport, no process and no library; and nothing here simulates: time is
// only ever measured.
package hw
