package schedule

// Meaning says what a composed schedule is to compute: the ops of a program as they are written,
// one after the other, whatever passes have made of them. Every op reads, of each operand, the
// version that the ops before it have left, and writes a version of its result.
//
// A proof holds the results to it, element by element. A check of numbers holds every version that
// the schedule has in memory to it.
type Meaning struct {
	// Ops is a composed schedule of definitions: a part for every op, iteration and team, in program
	// order. Nobody carries its steps out. Its tensors have the program's names.
	Ops *Schedule
	// Where says where the schedule has each tensor of Ops.
	Where []Place
	// Made lists, for each part of Ops, the parts of the schedule that make what it writes: it is in
	// memory when the last of them has ended, and until a part writes there that comes after the
	// readers of it. None is what no memory holds, since the op is fused with those that read it.
	Made [][]int
}
