// Package reference says what the result of a collective is, on two levels.
//
// The definition (Define) is written from the meaning of each kind, and is exact: integers wrap
// as on the device, sums and products of floats are computed without error and rounded once. The
// interpreter (Run) carries any schedule out on real data, in the real number format, with one
// rounding at every operation, in the schedule's own order. Check holds the one against the
// other; where they differ, the distance is the algorithm's rounding error, and must lie within
// the bound that is proven for every order of additions.
//
// What has been computed without a schedule, by hardware or by a program of one's own, is judged in
// the same way: Inputs makes the data, Compare compares.
//
//	inputs ──► definition ────────────────► what is wanted ─┐
//	   └────► interpreter ◄── schedule ──► what is got ────┴─► Report
//
// Inputs of a check are never stored unless the schedule writes there: each element is a pure
// function of seed, rank and index. Where all steps of a schedule take the same places of
// whole blocks, as nearly all do, the check goes through the blocks window by window, which
// stays in the caches and occupies all processors; the report is the same.
//
// All formats of package dtype are computed in, with its operations: what it says of rounding,
// saturation, NaN and zeros holds here. A step rounds after every operation (Native), or scales and
// combines all its sources in float32 and rounds once at its end (InFloat32); messages and
// memories are of the type in any case.
//
// How far rounding may take a result from the definition is known beforehand, from the height of
// the tree of additions: see Report.Bound. What overflows, or saturates in the 8-bit formats, on
// the way to a result that is not too large, is not covered by that and found as a mismatch. Data
// of the kind Exact have no rounding at all, whatever the order, in every type and on every number
// of ranks; what that takes is said at the type exactness.
//
// Where a switch adds (multimem), its operands are taken in the order of the team, before the lane
// adds what else it has. How real switches do that is not published: such a report says bounded at
// best. Schedules of the kind custom can be carried out, but there is nothing to compare with
// unless they define what they compute.
//
// Programs and composed schedules work on tensors of several types, with kernels: an interpreter of
// bytes carries them out (RunTensors), and their definition is what their lines say, one after the
// other (DefineTensors). What rounding may do to a sum is followed through all that is made of it.
//
// Why the bits of somebody else differ from the interpreter's says a Case: which elements no order
// of additions gives and what they look like, and for the first of the others which order would
// give their bits. How a schedule puts an element together is a schedule.Term, from whoever knows.
// Adjoint is the law of gradients: of a schedule and its transpose, in integers.
//
// The package knows nothing of algorithms, networks, time or proofs.
package reference
