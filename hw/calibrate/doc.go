// Package calibrate fits a machine's parameters to measured times: latency and bandwidth of its
// links, the overhead of a message, the rates of copies and reductions. Times come from an
// hw.Executor that executes a Campaign of small experiments, or from published tables (PointsOf),
// which package formats/measured reads.
//
// Every model here is linear: a time is a sum of multiples of parameters; a ping-pong is so many
// latencies and so many bytes. Solve finds the non-negative parameters that fit best. It is robust:
// a point that is ten times too slow counts little. It holds out points to estimate the error of
// predictions, and reports whether the data determine each parameter. FitRanges fits collectives of
// given algorithms, with latency and bandwidth by ranges of the message size, since libraries
// change their protocol with the size. Given several collectives, it also finds the cost of a call
// besides its messages.
//
// The result is written as tables of a scenario, with intervals, errors and residuals beside the
// figures. Every fitted figure is there. One that the data do not determine is marked, or has a
// value that the reader of scenarios refuses. The package knows no clock, no simulator and no
// algorithm: the caller passes a Curve for a collective.
package calibrate
