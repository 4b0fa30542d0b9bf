// Package cpu reports whether the processor and the system support the vector registers of this
// module's assembly: AVX2 and F16C. It knows nothing of what is computed in them.
package cpu
