// Package algostest is the conformance suite of collective algorithms. Test checks one against
// everything that the rest of the program relies on. It tries many numbers of ranks and elements,
// roots, in place and not, with channels, slices and segments. It works for anybody's
// algos.Algorithm:
//
//	func TestMine(t *testing.T) { algostest.Test(t, mine) }
//
// Every schedule must be proven, survive its text form, and compute what the definition says. Under
// its group it must equal what the author writes rank by rank. It must need exactly the slots that
// the proof states. It must take the time of an independent evaluator (Earliest), and never more
// than its published cost. Damaged copies of it must be refused. The full grid is behind the build
// tag long.
//
// Oracle checks an algorithm that is no schedule (a library, a plain function) against the
// definition. Package random generates collectives for properties of one's own.
//
// The package knows algorithms only through package algos, and none by name.
package algostest
