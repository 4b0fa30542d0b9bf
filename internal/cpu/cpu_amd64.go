package cpu

// cpuid returns what the processor says of itself, of subleaf 0.
func cpuid(leaf uint32) (eax, ebx, ecx uint32)

// xgetbv returns which registers the system saves, the lower half of XCR0. REQUIRES: OSXSAVE.
func xgetbv() uint32

// HasVectors reports whether there are AVX2 and F16C, and a system that saves their registers:
// chapter 14 of volume 1 of Intel's "Software Developer's Manual" says how to ask.
func HasVectors() bool {
	const (
		osxsave, avx, f16c = 1 << 27, 1 << 28, 1 << 29 // of leaf 1, in ECX
		avx2               = 1 << 5                    // of leaf 7, in EBX
		xmm, ymm           = 1 << 1, 1 << 2            // of XCR0
	)
	last, _, _ := cpuid(0)
	if last < 7 {
		return false
	}
	_, _, one := cpuid(1)
	_, seven, _ := cpuid(7)
	return one&osxsave != 0 && one&avx != 0 && one&f16c != 0 && seven&avx2 != 0 &&
		xgetbv()&(xmm|ymm) == xmm|ymm
}
