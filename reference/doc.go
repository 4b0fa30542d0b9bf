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
// The formats are float32, float64, int32 and int64. Minimum and maximum of floats are those of
// IEEE 754-2019 minimumNumber and maximumNumber, as fminf and fmaxf on the device: a NaN loses
// against a number, and −0 is less than +0 (the device leaves that open).
//
// Where a switch adds (multimem), its operands are taken in the order of the team, before the lane
// adds what else it has. How real switches do that is not published: such a report says bounded at
// best. Schedules of the kind custom can be carried out, but there is nothing to compare with.
//
// The package knows nothing of algorithms, networks or time.
package reference
