// Package proof proves that a schedule computes its collective, for every input. Every output is
// the reduction of exactly the right inputs, each once; nothing deadlocks; no two accesses race.
// For a program, or a schedule of parts, it proves that every result is as defined.
//
// It executes the schedule on symbolic values. A value is the multiset of inputs that an element is
// made of, and the tree of additions that made it (Orders, OrderOf). Values of a program are
// formulas over the given tensors and the results of kernels. Vector clocks order accesses. Every
// rank has a caller, which writes the given buffers before each call and reads the results after
// it.
//
// Where a schedule declares a group, and everything is found to be the same from every rank, one
// rank is executed for all (Folds).
//
// The package knows nothing of numbers, time and hardware. It shares the schedule with packages
// reference, sim and hw and nothing else, so that their agreement means something.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	values: multiset.go value.go formulas.go places.go
//	proofs: verify.go slots.go effort.go
//	memory: store.go divide.go rows.go
//	accesses: clock.go near.go events.go relaxed.go access.go race.go hostaccess.go
//	symmetry: fold.go foldorder.go absolute.go evened.go straight.go
//	execution: order.go folded.go define.go combine.go compute.go symbolic.go result.go diagnose.go
//	classes: rolecounts.go treeclasses.go
//	schedules: causal.go teams.go meaning.go parts.go
package proof
