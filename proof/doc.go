// Package proof proves that a schedule computes its collective, for every input: every output is
// the reduction of exactly the right inputs, each once; nothing deadlocks; no two accesses race.
//
// It carries the schedule out on symbols: the multiset of inputs that an element is made of, and
// the tree of additions that made it (Orders, OrderOf). Accesses are ordered by vector clocks, with
// a caller on every rank who writes the input before each call and reads the output after it.
//
// The package knows nothing of numbers, time and hardware: it shares the schedule with packages
// reference, sim and hw and nothing else, so that their agreement means something.
package proof
