//go:build !race

#include "textflag.h"

// ROW adds a row's number times two vectors of the panel, Y8 and Y9, to the sums of the row.
#define ROW(AT, BROADCAST, MULTIPLY, ADD, SUM, NEXT) \
	BROADCAST AT(SI), Y10;  \
	MULTIPLY  Y8, Y10, Y11; \
	MULTIPLY  Y9, Y10, Y12; \
	ADD       Y11, SUM, SUM; \
	ADD       Y12, NEXT, NEXT

// STORE writes a row of the result.
#define STORE(SUM, NEXT) \
	VMOVUPS SUM, (DI);    \
	VMOVUPS NEXT, 32(DI); \
	ADDQ    R8, DI

// TILE computes a tile of elements of so many bytes, 1<<SHIFT. Y0 to Y7 are its sums, two vectors a
// row.
#define TILE(BYTES, SHIFT, BROADCAST, MULTIPLY, ADD) \
	MOVQ   dst_base+0(FP), DI;    \
	MOVQ   rows_base+24(FP), SI;  \
	MOVQ   panel_base+48(FP), DX; \
	MOVQ   panel_len+56(FP), CX;  \
	MOVQ   stride+72(FP), R8;     \
	SHLQ   $SHIFT, R8;            \
	SHRQ   $(6-SHIFT), CX;        \
	VXORPS Y0, Y0, Y0;            \
	VXORPS Y1, Y1, Y1;            \
	VXORPS Y2, Y2, Y2;            \
	VXORPS Y3, Y3, Y3;            \
	VXORPS Y4, Y4, Y4;            \
	VXORPS Y5, Y5, Y5;            \
	VXORPS Y6, Y6, Y6;            \
	VXORPS Y7, Y7, Y7;            \
	TESTQ  CX, CX;                \
	JZ     done;                  \
loop: \
	VMOVUPS (DX), Y8;   \
	VMOVUPS 32(DX), Y9; \
	ROW(0*BYTES, BROADCAST, MULTIPLY, ADD, Y0, Y1); \
	ROW(1*BYTES, BROADCAST, MULTIPLY, ADD, Y2, Y3); \
	ROW(2*BYTES, BROADCAST, MULTIPLY, ADD, Y4, Y5); \
	ROW(3*BYTES, BROADCAST, MULTIPLY, ADD, Y6, Y7); \
	ADDQ $64, DX;        \
	ADDQ $(4*BYTES), SI; \
	DECQ CX;             \
	JNZ  loop;           \
done: \
	STORE(Y0, Y1); \
	STORE(Y2, Y3); \
	STORE(Y4, Y5); \
	STORE(Y6, Y7); \
	VZEROUPPER;    \
	RET

// func tile32(dst, rows, panel []float32, stride int)
TEXT ·tile32(SB), NOSPLIT, $0-80
	TILE(4, 2, VBROADCASTSS, VMULPS, VADDPS)

// func tile64(dst, rows, panel []float64, stride int)
TEXT ·tile64(SB), NOSPLIT, $0-80
	TILE(8, 3, VBROADCASTSD, VMULPD, VADDPD)

// func tileWhole(dst, rows, panel []uint64, stride int)
//
// VPMULDQ multiplies the lower halves, with their signs.
TEXT ·tileWhole(SB), NOSPLIT, $0-80
	TILE(8, 3, VPBROADCASTQ, VPMULDQ, VPADDQ)
