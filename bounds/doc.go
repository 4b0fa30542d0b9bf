// Package bounds computes lower bounds: the least time that a collective takes on a network, by any
// schedule.
//
// A bound is a proof, so each is an argument about any schedule at all. Latency: data must travel
// from one rank to another, along some path. Bandwidth: so many bytes must cross links that
// together carry so many a second. Most such links are a cut, the links that leave a set of nodes.
// Maximum flows find the worst cut. All figures are whole picoseconds, rounded up. Simulated times
// are whole too, so a time of at least 6.2 ps is at least 7.
//
// Bounds are not added, with one exception. Bytes that cross a cut must also come to it and go on
// from it. So the bandwidth bound of a cut and the latency of the shortest route over it add up
// (see cutBound for the argument). With 8 ranks at a switch, 12.5 GB/s and 500 ns a link:
//
//	all_reduce of 64 MiB    latency      1 us           up, down
//	                        bandwidth    9.39524096 ms  2·7/8 · 64 MiB over 12.5 GB/s
//	                        lower bound  9.39624096 ms  and the last byte still goes up, down
//
// The assumptions: data moves in messages from rank to rank, over links that have a rate and a
// latency. Ranks do all copying and adding; a switch does neither. Only two bounds depend on the
// last assumption: that on all_reduce over groups of ranks, and that on additions. They are not
// made for a network with a switch that adds or multicasts. Bytes that must cross a cut must cross
// it there, too. Ranks may have any number of lanes. So the latency of a collective is that of one
// path through the network, not of ⌈log₂ p⌉ paths.
//
// The package knows no algorithm and no schedule, and nothing of how traffic shares a link.
package bounds
