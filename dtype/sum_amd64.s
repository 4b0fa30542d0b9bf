//go:build !race

#include "textflag.h"

// func addBlocksBF16(dst, src []BF16)
//
// A vector has eight pairs of elements. Shifted up, the lower of each pair is a float32; masked,
// the upper is one. Rounding is toBF16's: 0x7fff and the last bit that stays are added. Either way
// the result is in the upper half of its 32 bits.
TEXT ·addBlocksBF16(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ src_base+24(FP), SI
	SHRQ $4, CX
	JZ   done

	VPCMPEQD Y15, Y15, Y15
	VPSRLW   $1, Y15, Y14   // the NaN, 0x7fff, in every half
	VPSLLD   $16, Y15, Y13  // the upper half of 32 bits
	VPSRLD   $17, Y15, Y12  // 0x7fff
	VPSRLD   $31, Y15, Y11  // 1

loop:
	VMOVDQU (DI), Y0
	VMOVDQU (SI), Y1
	VPSLLD  $16, Y0, Y2
	VPSLLD  $16, Y1, Y3
	VPAND   Y13, Y0, Y0
	VPAND   Y13, Y1, Y1
	VADDPS  Y3, Y2, Y2      // sums of the lower elements
	VADDPS  Y1, Y0, Y0      // sums of the upper elements

	VCMPPS  $3, Y2, Y2, Y4  // 3: unordered, which NaN is with itself
	VCMPPS  $3, Y0, Y0, Y5

	VPSRLD  $16, Y2, Y6
	VPSRLD  $16, Y0, Y7
	VPAND   Y11, Y6, Y6
	VPAND   Y11, Y7, Y7
	VPADDD  Y12, Y2, Y2
	VPADDD  Y12, Y0, Y0
	VPADDD  Y6, Y2, Y2
	VPADDD  Y7, Y0, Y0

	VPSRLD    $16, Y2, Y2
	VPBLENDW  $0xaa, Y0, Y2, Y2
	VPBLENDW  $0xaa, Y5, Y4, Y4
	VPBLENDVB Y4, Y14, Y2, Y2
	VMOVDQU   Y2, (DI)

	ADDQ $32, DI
	ADDQ $32, SI
	DECQ CX
	JNZ  loop
	VZEROUPPER

done:
	RET

// func addBlocksF16(dst, src []F16)
TEXT ·addBlocksF16(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ src_base+24(FP), SI
	SHRQ $4, CX
	JZ   done

	VPCMPEQD Y15, Y15, Y15
	VPSRLD   $1, Y15, Y14   // a NaN of float32 that becomes 0x7fff

loop:
	VCVTPH2PS (DI), Y0
	VCVTPH2PS 16(DI), Y1
	VCVTPH2PS (SI), Y2
	VCVTPH2PS 16(SI), Y3
	VADDPS    Y2, Y0, Y0
	VADDPS    Y3, Y1, Y1
	VCMPPS    $3, Y0, Y0, Y2 // 3: unordered, which NaN is with itself
	VCMPPS    $3, Y1, Y1, Y3
	VBLENDVPS Y2, Y14, Y0, Y0
	VBLENDVPS Y3, Y14, Y1, Y1
	VCVTPS2PH $0, Y0, (DI)   // 0: to the nearest, ties to even
	VCVTPS2PH $0, Y1, 16(DI)

	ADDQ $32, DI
	ADDQ $32, SI
	DECQ CX
	JNZ  loop
	VZEROUPPER

done:
	RET
