// Package dtype defines the number formats of tensors. It has their names in PyTorch, in nccl-tests
// and in common use, their widths, and their rounding. It computes sum, prod, min and max in them,
// bit for bit as a GPU does, and the operators and, or and xor of bools and of integers' bits. It
// knows no collective, no schedule and no order of additions: package reference decides what is
// added to what.
//
// A Type names a format at run time. The Go types of Number hold its elements, so that loops over
// slices need no decision per element. Of maps a Go type to its Type.
//
//	float64 float32                        as in Go
//	F16 BF16 E4M3 E5M2                     the bits, in an unsigned integer
//	int8 … int64, uint8 … uint64           as in Go; overflow wraps
//	B8                                     a bool, 0 or 1 in a byte
//
// Complex numbers have no Go type here: an element is two of its Component, the real part first.
// They are computed as twice as many floats, as torch does (view_as_real).
//
//	              bits of         bias   largest    least        conversion of larger
//	              significand                       positive     numbers
//	float64       53              1023   1.8e308    2^−1074      infinity
//	float32       24              127    3.4e38     2^−149       infinity
//	float16       11              15     65504      2^−24        infinity
//	bfloat16      8               127    3.39e38    2^−133       infinity
//	float8_e4m3fn 4               7      448        2^−9         448; it has no infinity
//	float8_e5m2   3               15     57344      2^−16        57344, of infinity too
//
// # Rounding
//
// From, Narrow and every operation round to the nearest, ties to even, once, from the exact result;
// subnormals are kept, and so are the signs of zeros. The 8-bit formats are those of OCP's "8-bit
// Floating Point Specification", revision 1.0, in its saturating mode. CUDA calls it
// __NV_SATFINITE. The constructors of __nv_fp8_e4m3 and __nv_fp8_e5m2 have that mode, in which
// NCCL's reductions end, and so has NCCL's fl(1/n). In that mode an infinity becomes the largest
// number, even as an intermediate: in float8_e5m2, ∞ + 1 = 57344. PyTorch's conversions do not
// saturate; FromUnsaturated does what they do.
//
// # NaN
//
// Every operation, From and Narrow give the same NaN as CUDA: 0x7FFF for float16 and bfloat16, 0x7F
// for the 8-bit formats, 0x7FFFFFFF for float32, and for float64 CUDART_NAN of math_constants.h,
// 0xFFF8000000000000. Payloads are not carried (the device carries those of float64 in undocumented
// ways): results are the same in any order of operands and on any host. Put and Get keep all bits.
// The NaN of Widen and Value is unspecified.
//
// Min and Max are minimumNumber and maximumNumber of IEEE 754-2019: a NaN loses against a number,
// −0 is less than +0. NCCL has fminf and fmin, __hmin and __hmin2 there (FuncMinMax in
// src/device/reduce_kernel.h, of version 2.30), not their _nan variants; CUDA documents "if values
// of both inputs are 0.0, then +0.0 > −0.0" for __hmin, and PTX for min.f32 and min.f64.
//
// # Why one rounding
//
// Sums and products of the 16-bit formats are computed in float32 and then rounded. That equals one
// rounding of the exact result, as by __hadd and __hmul. Rounding to q and then to p bits is
// innocuous for sums if q ≥ 2p + 1, and for products if q ≥ 2p. (Figueroa, "When is double rounding
// innocuous?", SIGNUM Newsletter 30(3), 1995.) Here, 24 ≥ 23 and 24 ≥ 17. The theorem does not
// cover results below the least normal number. There, sums are multiples of the format's least
// positive number, hence exact. Products of float16 are multiples of 2^−48, hence exact. A product
// of bfloat16 that float32 cannot hold is under 2^−134, half of the least positive number, and
// rounds to zero either way. (float64 in place of float32 gains nothing: it is exact for float16,
// and for bfloat16 it rounds too, when exponents are far apart.) NCCL adds and multiplies 8-bit
// floats in float16 and converts, which is innocuous for the same reasons; a test tries all pairs.
package dtype
