// Package cpu says whether the processor, and the system, have the vector registers that
// assembly of this module is written for: AVX2 and F16C. It knows nothing of what is computed in
// them.
package cpu
