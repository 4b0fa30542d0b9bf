package cpu

// cpuid returns the registers of the CPUID instruction for a leaf, subleaf 0.
func cpuid(leaf uint32) (eax, ebx, ecx uint32)

// xgetbv returns the lower half of XCR0: the registers that the system saves. REQUIRES: OSXSAVE.
func xgetbv() uint32

// HasVectors reports whether the processor has AVX2 and F16C, and the system saves their registers.
// The method is that of Intel's "Software Developer's Manual", volume 1, chapter 14.
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
