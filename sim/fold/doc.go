// Package fold is the engine for schedules whose ranks do the same: it plays one rank of each class
// of equal ones, and leaves out what repeats itself.
//
//	group of the schedule ──► a subgroup that network, starts and slowdowns admit ──► classes
//	                           representatives ──► … steady state ──► jump ──► … ──► all ranks
//
// A schedule says by its group that rank g does what rank 0 does, translated by g. If a subgroup
// takes every route that is used to a route of equal links, and no used link to itself, then what
// happens at one rank happens at the same time at all that the subgroup takes it to: at the
// beginning nothing tells them apart, and each following event follows from the same ones. Links
// are folded likewise, into orbits, each as long as the subgroup.
//
// One thing could tell them apart. Of two requests that come over different wires to a link at one
// time, the port decides (docs/time.md, ties), and ports are numbered as the network was made. The
// engine watches for such a tie, and refuses it unless ports are in the same order at all links of
// the orbit. Then a smaller subgroup is tried. Under fluid sharing ports play no part.
//
// Where a few ranks or links are slow, ranks do the same at other times: then a class is played
// with a time for each of its ranks (RunUneven, uneven.go).
//
// A schedule whose ranks have roles instead (trees) is played by classes that are divided as they
// come to differ, without jumps, and only on a switch (refinement.go).
//
// It never guesses: what is not proven is *NotFolded, before the run or in its midst, and another
// engine plays all ranks. Of devices that go on before their bytes have left, rendezvous, one-sided
// steps, kernels and launches it knows nothing. Rules of time are package model's; TestAgreement
// holds all numbers to those of sim/event.
package fold
