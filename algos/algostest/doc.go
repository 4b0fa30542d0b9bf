// Package algostest is the conformance suite of collective algorithms: Test holds one to all that
// the rest of the program relies on, at many numbers of ranks and elements, roots, in place and
// not, with channels, slices and segments. It works for anybody's algos.Algorithm:
//
//	func TestMine(t *testing.T) { algostest.Test(t, mine) }
//
// Every schedule must be proven, survive its text form, be the same under its group as the author
// has it rank by rank, compute what the definition says, need exactly the slots that the proof
// says, take the time that an independent evaluator (Earliest) says and never more than its
// published cost; and damaged copies of it must be refused. The full grid is behind the build
// tag long.
//
// Oracle holds an algorithm that is no schedule (a library, a plain function) to the definition.
// Package random generates collectives for properties of one's own.
//
// The package knows algorithms by what package algos says of them, and none by name.
package algostest
