package unit

import "math/bits"

// Largest is the largest number that counts reach.
const Largest = 1<<63 - 1

// AddCapped returns a + b, or Largest if that is more. REQUIRES: neither is negative.
func AddCapped(a, b int64) int64 { return a + min(b, Largest-a) }

// MultiplyCapped returns a · b, or Largest if that is more. REQUIRES: neither is negative.
func MultiplyCapped(a, b int64) int64 {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low <= Largest {
		return int64(low)
	}
	return Largest
}

// GCD returns the greatest common divisor of a and b; one of them may be 0.
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
