//go:build !race

package dtype

import "collsim/internal/cpu"

// The sums of the 16-bit floats, in assembly. addBF16 and addF16 define their results. Other
// processors run those instead, and so does the race detector, which cannot see into assembly.

// addBlocksBF16 does what addBF16 does, for a multiple of blockOfHalves elements. REQUIRES:
// hasVectors(); src is as long as dst.
//
//go:noescape
func addBlocksBF16(dst, src []BF16)

// addBlocksF16 does what addF16 does, for a multiple of blockOfHalves elements. REQUIRES:
// hasVectors(); src is as long as dst.
//
//go:noescape
func addBlocksF16(dst, src []F16)

// hasVectors reports whether addBlocksBF16 and addBlocksF16 may be called.
func hasVectors() bool { return cpu.HasVectors() }
