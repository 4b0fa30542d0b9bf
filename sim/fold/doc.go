// Package fold simulates schedules in which many ranks do the same. It simulates one representative
// rank of each class of equal ranks, and skips the repetitions of a steady state.
//
//	group of the schedule ──► a subgroup that network, starts and slowdowns admit ──► classes
//	                           representatives ──► … steady state ──► jump ──► … ──► all ranks
//
// A schedule says by its group that rank g does what rank 0 does, translated by g. Suppose that a
// subgroup takes every route that is used to a route of equal links, and no used link to itself.
// Then what happens at one rank happens at the same time at all ranks that the subgroup takes it
// to: they begin equal, and each following event follows from the same ones. Links are folded
// likewise, into orbits, each as long as the subgroup.
//
// One thing could distinguish such ranks. If two requests reach a link at one time over different
// wires, the port decides (docs/time.md, ties), and ports are numbered in the order in which the
// network was made. The engine watches for such a tie. It refuses the tie unless ports are in the
// same order at all links of the orbit. Then a smaller subgroup is tried. Under fluid sharing ports
// do not matter.
//
// Where a few ranks or links are slow, ranks do the same at other times. Then a class is simulated
// with a time for each of its ranks (RunUneven, uneven.go).
//
// A schedule whose ranks have roles instead of a group (trees) is simulated by classes that are
// divided as their members come to differ, without jumps, and only on a switch (refinement.go).
//
// The engine never guesses: what is not proven is *NotFolded, before the run or during it, and the
// caller simulates all ranks with another engine. It does not support devices that go on before
// their bytes have left, rendezvous, one-sided steps, kernels and launches. The rules of time are
// those of package model; TestAgreement compares all numbers with those of sim/event.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	groups: symmetry.go links.go
//	classes: partition.go script.go
//	engine: fold.go engine.go connection.go fifo.go fluid.go stall.go
//	cycles: probe.go steady.go
//	refinement: refinement.go effects.go queues.go flowing.go refined.go
//	uneven: uneven.go unevenway.go unevenlane.go unevenend.go
//	choice: either.go
package fold
