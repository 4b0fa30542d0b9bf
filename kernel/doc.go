// Package kernel is what a GPU computes between collectives: an Op is an operation with its shapes
// and types as plain data that can be compared, with a text form that Parse reads back. It has one
// meaning, so that a proof, numbers, virtual time and real execution speak of the same thing:
// Operands and Output are what it reads and writes, FLOPs and Bytes what it costs, Blocks and Block
// the grid that a GPU cuts it into and what each block of the output depends on, and Apply its
// result, bit for bit. It knows no device, no schedule and no buffer.
//
//	matmul m=8192 k=4096 n=1024 bfloat16*bfloat16->bfloat16
//	matmul m=8192 k=1024 n=4096 bfloat16*bfloat16->bfloat16 transpose=b
//	matmul m=2x4096 k=4096 n=1024 float16*float16->float32
//	scaled_matmul m=64 k=32 n=16 float8_e4m3fn*float8_e5m2->bfloat16 row-wise bias=bfloat16
//	scaled_matmul m=64 k=32 n=16 float8_e4m3fn*float8_e4m3fn->float8_e4m3fn tensor-wise result-scale
//	add 8x1024 bfloat16+float32->bfloat16
//	cast 8x1024 float32->float8_e4m3fn
//	sum 4x8x1024 axis=0 bfloat16->bfloat16
//	mean 4x8x1024 axis=2 float32->float32
//	move 4x8x1024 axis=1 bfloat16->bfloat16
//	expand 8x1024 axis=0 times=4 bfloat16->bfloat16
//	scale 8x1024 by=0.125 bfloat16->bfloat16
//	opaque 150 us
//
// # Arithmetic
//
// Floats are computed in float32, or in float64 if an operand has that type; every product, sum
// and quotient is rounded to it, in the order given here, and nothing is fused. The result is
// rounded once more, to the type of the output, as dtype.Narrow does: 8-bit floats saturate, and
// every NaN is the one of its type. Integers are exact, modulo two to the bits of the output, as
// they wrap on the device; an operation has floats or integers, and only cast goes from one to
// the other.
//
//	matmul          out[i,j] = ((0 + a[i,0]·b[0,j]) + a[i,1]·b[1,j]) + …, k ascending;
//	                a transposed operand lies as [k, m] or [n, k], and is multiplied as others
//	scaled_matmul   the same, then · scale_a, · scale_b, + bias[j], · scale_result
//	add             a + b
//	cast            the value, rounded once; to an integer as dtype.From does, to nearest and no
//	                further than its range (PyTorch truncates); integer to integer wraps
//	sum             (x[0] + x[1]) + …, ascending along the axis; of no elements 0
//	move            the same bits, the axis in front: a copy into another layout
//	expand          the same bits, once for each place of the new axis
//	scale           a · the number, which is rounded to the type of the products before
//	mean            sum, divided by the number; integers truncate
//
// A GPU adds the products of a matmul in an order and in a width that are not published; this one
// is the definition that others are held against. Sum begins with its first element, as a
// collective does, so that a sum over the axis of ranks has the bits of a reduction in rank order
// that accumulates in float32; and mean has those of its post-divided average.
//
// # Scaled matmul
//
// The operation is torch._scaled_mm's (aten/src/ATen/native/cuda/ScaledBlas.cpp): operands are
// 8-bit floats, not both float8_e5m2; scales are float32, tensor-wise (one each) or row-wise (one
// a row of A and one a column of B); a bias is of float16 or bfloat16 and of the output's type if
// that is one of them, and there is none with float32; row-wise scales give 16 bits or 32. A
// result scale is for outputs of 8 bits: there PyTorch applies it, with others it ignores it, and
// here it is refused. What only the hardware asks for (sizes divisible by 16, a column-major B) is
// not asked for.
package kernel
