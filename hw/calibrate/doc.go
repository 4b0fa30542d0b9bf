// Package calibrate finds the figures of a machine from measured times: latency and bandwidth of
// its links, what a message costs, how fast it copies and adds. Times come from a hw.Executor that
// executes a Campaign of small experiments, or from published tables (PointsOf),
// which package formats/measured reads.
//
// Every model here is linear: a time is a sum of figures, each so many times (a ping-pong is so
// many latencies, and so many bytes of time each). Solve finds the figures that are not negative
// and fit best, robustly: a point that is ten times too slow counts little. It holds points back,
// which tell how far the figures can be trusted, and it says of each figure whether the data
// determine it at all. FitRanges does so for collectives of given algorithms, in as many ranges of
// the size of messages as the data ask for, since libraries change their protocol with the size;
// of several it tells what a call costs besides its messages.
//
// The result is written as the tables of a scenario, with intervals, errors and residuals beside
// the figures. It has every figure that was fitted: one that the data do not determine says so, or
// is refused by whoever reads it. The package knows no clock, no simulator and no algorithm: what
// a collective is made of is a Curve that the caller gives.
package calibrate
