// Package cycle finds when the state of a run comes back, as Brent does (R. P. Brent, An improved
// Monte Carlo factorization algorithm, BIT 20, 1980). One state is kept, for twice as many others
// each time, and compared with each of them. It knows nothing of what a state means.
package cycle

import "slices"

// Search compares the states of a run, as lists of words. Begin comes before the first state.
type Search struct {
	// WordsPerStep bounds the cost: states are written while the words so far are no more than that
	// for each step simulated, and some more.
	WordsPerStep int64

	latest, kept []int64
	age, until   int   // states since the kept one, and how many there may be
	written      int64 // words
}

// freeWords are words that may be written whatever a run has done.
const freeWords = 1 << 18

// Begin forgets the kept state.
func (s *Search) Begin() { s.kept, s.age, s.until = s.kept[:0], 0, 1 }

// Affords reports whether another state may be written after so many steps.
func (s *Search) Affords(steps int64) bool { return s.written <= s.WordsPerStep*steps+freeWords }

// Forgive takes back the cost so far, of states that have led to a cycle.
func (s *Search) Forgive() { s.written = 0 }

// Empty returns an empty state to append to.
func (s *Search) Empty() []int64 { return s.latest[:0] }

// Add takes the next state, which it owns until the next Empty, and reports whether it is the kept
// one.
func (s *Search) Add(state []int64) (isBack bool) {
	s.latest = state
	s.written += int64(len(state))
	s.age++
	return slices.Equal(state, s.kept)
}

// IsOld reports whether the kept state has been compared as often as it may be.
func (s *Search) IsOld() bool { return s.age >= s.until }

// Keep keeps the latest state, for twice as many others as the one before.
func (s *Search) Keep() {
	s.kept, s.latest = s.latest, s.kept
	s.age, s.until = 0, 2*s.until
}
