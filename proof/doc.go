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
package proof
