// Package proof proves that a schedule computes its collective, for every input: every output is
// the reduction of exactly the right inputs, each once; nothing deadlocks; no two accesses race.
// Of a program, or of parts, that every result is as defined.
//
// It carries the schedule out on symbols: the multiset of inputs that an element is made of, and
// the tree of additions that made it (Orders, OrderOf); of a program, formulas of what is given and
// what kernels compute. Accesses are ordered by vector clocks, with a caller on every rank who
// writes what is given before each call and reads the results after it.
//
// Where a schedule declares a group, and all is found to be the same from every rank, one rank is
// carried out for all (Folds).
//
// The package knows nothing of numbers, time and hardware: it shares the schedule with packages
// reference, sim and hw and nothing else, so that their agreement means something.
package proof
