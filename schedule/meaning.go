package schedule

// A Meaning is what a composed schedule must compute: the ops of a program in program order, before
// any passes. Each op reads, of each operand, the version that earlier ops have left, and writes a
// version of its result.
//
// A proof checks the results against it, element by element. A check of numbers also checks every
// version that the schedule keeps in memory.
type Meaning struct {
	// Ops is a composed schedule of definitions: a part for every op, iteration and team, in
	// program order. Its steps are never executed. Its tensors have the program's names.
	Ops *Schedule
	// Where gives, for each tensor of Ops, its place in the schedule.
	Where []Place
	// Made lists, for each part of Ops, the parts of the schedule that compute its result. The
	// result is in memory when the last of these has ended, until a part that follows its readers
	// overwrites it. An empty list means that no memory holds it, since the op is fused with its
	// readers.
	Made [][]int
}
