// Package reference computes the result of a collective, on two levels.
//
// The definition (Define) is written from the meaning of each kind, and is exact: integers wrap as
// on the device, sums and products of floats are computed without error and rounded once. The
// interpreter (Run) executes any schedule on real data, in the real number format, with one
// rounding at every operation, in the schedule's own order. Check compares the two. Their distance
// is the algorithm's rounding error, and must be within the bound that is proven for every order of
// additions.
//
// Results that were computed without a schedule, by hardware or by another program, are judged in
// the same way: Inputs makes the data, Compare compares.
//
//	inputs ──► definition ────────────────► what is wanted ─┐
//	   └────► interpreter ◄── schedule ──► what is got ────┴─► Report
//
// Inputs of a check are never stored unless the schedule writes there: each element is a pure
// function of seed, rank and index. Nearly all schedules use the same places of whole blocks in all
// steps. There the check goes through the blocks window by window, which stays in the caches and
// occupies all processors; the report is the same.
//
// All formats of package dtype are supported, with its operations: its rules of rounding,
// saturation, NaN and zeros hold here. A step rounds after every operation (Native), or scales and
// combines all its sources in float32 and rounds once at its end (InFloat32). Messages and memories
// are of the type in any case.
//
// The height of the tree of additions bounds how far rounding may take a result from the
// definition: see Report.Bound. That does not cover overflow, or saturation in the 8-bit formats,
// on the way to a result that is not too large: it is found as a mismatch. Data of the kind Exact
// have no rounding at all, in any order, in every type and on every number of ranks; type exactness
// explains how.
//
// Where a switch adds (multimem), its operands are taken in the order of the team, before the lane
// adds its others. The order of real switches is not published: such a report says bounded at best.
// Schedules of the kind custom can be executed, but there is nothing to compare with unless they
// define what they compute.
//
// Programs and composed schedules work on tensors of several types, with kernels. An interpreter of
// bytes executes them (RunTensors), and their definition is their lines, one after the other
// (DefineTensors). The rounding errors of a sum are propagated through everything computed from it.
//
// What another implementation has in place of a program's tensors is held against the program op
// by op (CheckOptions.Theirs): an op is computed on theirs, and the bound for any order of its
// additions distinguishes its rounding from what it cannot have given.
//
// A Case explains why another implementation's bits differ from the interpreter's: which elements
// no order of additions gives and what they look like, and for the first of the others which order
// would give their bits. The order in which a schedule adds an element is a schedule.Term, from
// package proof. Adjoint checks the law of gradients, of a schedule and its transpose, in integers.
//
// The package knows nothing of algorithms, networks, time or proofs.
//
// # Layers
//
// From below; a file uses names of its own layer and of those before it.
//
//	numbers: number.go
//	definition: data.go normal.go exact.go define.go reduce.go precise.go
//	machine: parts.go survey.go code.go machine.go accumulate.go height.go
//	bounds: bound.go compare.go
//	checks: judged.go check.go afford.go outputs.go run.go bytes.go complexes.go
//	  sample.go sampled.go
//	programs: interpretercost.go interpreter.go lines.go components.go program.go programwork.go
//	  kernels.go kerneldoubts.go defined.go exacttensors.go theirs.go checkprogram.go meaning.go
//	  digest.go
//	differences: term.go recipe.go case.go attempt.go wrong.go difference.go
//	gradients: adjoint.go adjointlocal.go
package reference
