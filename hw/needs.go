package hw

import "collsim/schedule"

// A Sizer is an Executor that knows its memory footprint.
type Sizer interface {
	// Needs returns the bytes of this machine's memory that a schedule takes. It counts inputs and
	// outputs held by the caller, and buffers of the ranks that run here. It neglects small
	// overheads.
	Needs(s *schedule.Schedule) int64
}

// Held returns the size of a rank's buffers in bytes.
func Held(s *schedule.Schedule, rank int) (n int64) {
	for b := range schedule.Buffer(s.Buffers()) {
		n += BufferBytes(s, b, rank)
	}
	return n
}

// Largest returns the size in bytes of the largest rank's buffers.
func Largest(s *schedule.Schedule) (n int64) {
	for rank := range s.Spec.Ranks {
		n = max(n, Held(s, rank))
	}
	return n
}

// Together returns the bytes for ranks that all run in the caller's process: inputs, buffers, and
// copies of the outputs.
func Together(s *schedule.Schedule) (n int64) {
	for rank := range s.Spec.Ranks {
		n += exchanged(s, rank) + Held(s, rank)
	}
	return n
}

// exchanged returns the size of a rank's input and output in bytes.
func exchanged(s *schedule.Schedule, rank int) int64 {
	return InputBytes(s, rank) + OutputBytes(s, rank)
}

// Compared returns the bytes that it takes to compute the expected results of all ranks.
func Compared(s *schedule.Schedule) (n int64) {
	for rank := range s.Spec.Ranks {
		n += 2 * exchanged(s, rank)
	}
	return n
}

// Apart returns the bytes for ranks in processes of their own; here selects those on this machine.
// The caller and the rank both hold inputs and outputs, and both copy them in transit. An
// all-reduce measured eight times the bytes that a rank exchanges and holds.
func Apart(s *schedule.Schedule, here func(rank int) bool) (n int64) {
	for rank := range s.Spec.Ranks {
		n += 3 * exchanged(s, rank)
		if here(rank) {
			n += Alone(s, rank)
		}
	}
	return n
}

// Alone returns the bytes that a rank takes in a process of its own.
func Alone(s *schedule.Schedule, rank int) int64 { return 4*exchanged(s, rank) + Held(s, rank) }
