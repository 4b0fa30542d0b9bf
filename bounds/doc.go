// Package bounds says what no schedule can beat: the least time that a collective takes on a
// network, whoever writes its schedule.
//
// A bound is a proof, so each is an argument about any schedule at all. Latency: data must come
// from one rank to another, over some way through the network. Bandwidth: so many bytes must cross
// links that together carry so many a second. Most such links are a cut, the links that leave a
// set of nodes, and the worst cut is found by maximum flows. All figures are whole picoseconds,
// rounded up: a simulated time is whole too, so what is at least 6.2 ps is at least 7.
//
// Two bounds are never added, except that bytes which cross a cut must also come to it and go on
// from it: the bandwidth bound of a cut and the latency of the shortest route over it add up (the
// argument stands at claim). With 8 ranks around a switch, 12.5 GB/s and 500 ns a link:
//
//	all_reduce of 64 MiB    latency      1 us           up, down
//	                        bandwidth    9.39524096 ms  2·7/8 · 64 MiB over 12.5 GB/s
//	                        lower bound  9.39624096 ms  and the last byte still goes up, down
//
// What is assumed: data moves in messages from rank to rank, over links that have a rate and a
// latency; ranks do all copying and adding, and a switch does neither. Only the bound on all_reduce
// over groups of ranks and that on additions depend on the last: on a network in which a switch
// adds or multicasts they are not made. What must cross a cut must cross it there, too. Ranks may
// have any number of lanes, so the latency of a collective is that of one way through the
// network, not ⌈log₂ p⌉ of them.
//
// The package knows no algorithm and no schedule, and nothing of how traffic shares a link.
package bounds
