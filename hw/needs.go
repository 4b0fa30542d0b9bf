package hw

import "collsim/schedule"

// Sizer is an Executor that knows what it takes.
type Sizer interface {
	// Needs is how much memory of this machine it takes to execute a schedule, in bytes: its
	// inputs and its outputs with the caller, and what the ranks that are here have. What is small
	// beside that is not counted.
	Needs(s *schedule.Schedule) int64
}

// Held is how many bytes the buffers of a rank have.
func Held(s *schedule.Schedule, rank int) (n int64) {
	for b := range schedule.Buffer(s.Buffers()) {
		n += BufferBytes(s, b, rank)
	}
	return n
}

// Largest is how many bytes the rank has that has most of them.
func Largest(s *schedule.Schedule) (n int64) {
	for rank := range s.Spec.Ranks {
		n = max(n, Held(s, rank))
	}
	return n
}

// Together is what it takes where all ranks are in the caller's process: inputs, buffers, and
// copies of the outputs.
func Together(s *schedule.Schedule) (n int64) {
	for rank := range s.Spec.Ranks {
		n += exchanged(s, rank) + Held(s, rank)
	}
	return n
}

// exchanged is the input and the output of a rank, in bytes.
func exchanged(s *schedule.Schedule, rank int) int64 {
	return InputBytes(s, rank) + OutputBytes(s, rank)
}

// Compared is what it takes to compute what all ranks should have.
func Compared(s *schedule.Schedule) (n int64) {
	for rank := range s.Spec.Ranks {
		n += 2 * exchanged(s, rank)
	}
	return n
}

// Apart is what it takes where ranks are in processes of their own, some of them on this machine:
// inputs and outputs are with the caller and with the rank, and on their way they are copied at
// either end: measured, eight times what a rank exchanges and holds of an all-reduce.
func Apart(s *schedule.Schedule, here func(rank int) bool) (n int64) {
	for rank := range s.Spec.Ranks {
		n += 3 * exchanged(s, rank)
		if here(rank) {
			n += Alone(s, rank)
		}
	}
	return n
}

// Alone is what a rank takes in a process of its own.
func Alone(s *schedule.Schedule, rank int) int64 { return 4*exchanged(s, rank) + Held(s, rank) }
