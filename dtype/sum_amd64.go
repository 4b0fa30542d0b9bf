//go:build !race

package dtype

import "collsim/internal/cpu"

// The sums of the 16-bit floats, in assembly. What they mean is said by addBF16 and addF16, which
// are what other processors run, and the race detector, which does not see what assembly does.

// addBlocksBF16 is addBF16 for a number of elements that blockOfHalves divides.
// REQUIRES: hasVectors(); src is as long as dst.
//
//go:noescape
func addBlocksBF16(dst, src []BF16)

// addBlocksF16 is addF16 for a number of elements that blockOfHalves divides.
// REQUIRES: hasVectors(); src is as long as dst.
//
//go:noescape
func addBlocksF16(dst, src []F16)

// hasVectors reports whether the two may be called.
func hasVectors() bool { return cpu.HasVectors() }
