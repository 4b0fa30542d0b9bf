// How numbers lie in memory and are rounded: the beginning of all that is compiled at run time. The
// bits are those of package dtype: operations are rounded once (…_rn is never fused), formats of 16
// and 8 bits are rounded by integer arithmetic, and a NaN is the format's one.
//
// It is written in what C and CUDA C++ have in common, so that a C compiler can make the stand-in's
// kernels of it, with KERNEL and the intrinsics that standin/device.h defines.

#ifndef KERNEL
#define KERNEL(name, arguments) extern "C" __global__ void name(const arguments a)
#define FUNCTION static __device__ __forceinline__
#endif

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

typedef union { float f; u32 u; } bits32;
typedef union { double f; u64 u; } bits64;

FUNCTION float float_of(u32 u) { bits32 x; x.u = u; return x.f; }
FUNCTION u32 bits_of(float f) { bits32 x; x.f = f; return x.u; }
FUNCTION double double_of(u64 u) { bits64 x; x.u = u; return x.f; }
FUNCTION u64 bits_of_double(double f) { bits64 x; x.f = f; return x.u; }

// The NaN that results are.
FUNCTION float quiet32(float x) { return x != x ? float_of(0x7fffffffu) : x; }
FUNCTION double quiet64(double x) { return x != x ? double_of(0xfff8000000000000ull) : x; }

// A format of 16 or 8 bits: those of its significand with the one that is not stored, its bias, the
// mask of its sign, its largest number, its infinity (0: none), what is too large, and its NaN.
#define FORMAT_float16 11, 15, 0x8000u, 0x7bffu, 0x7c00u, 0x7c00u, 0x7fffu
#define FORMAT_bfloat16 8, 127, 0x8000u, 0x7f7fu, 0x7f80u, 0x7f80u, 0x7fffu
#define FORMAT_float8_e4m3fn 4, 7, 0x80u, 0x7eu, 0u, 0x7eu, 0x7fu
#define FORMAT_float8_e5m2 3, 15, 0x80u, 0x7bu, 0x7cu, 0x7bu, 0x7fu

// decode is the value of a pattern, exactly.
FUNCTION double decode(u32 pattern, u32 precision, u32 bias, u32 sign, u32 max, u32 inf, u32 over,
		u32 nan) {
	u32 abs = pattern & (sign - 1);
	u64 minus = pattern & sign ? 1ull << 63 : 0;
	(void)over, (void)nan;
	if (abs > max) {
		return double_of(abs == inf ? minus | 0x7ff0000000000000ull : 0xfff8000000000000ull);
	}
	if (abs < 1u << (precision - 1)) {
		double least = double_of((u64)(1025 - bias - precision) << 52); // the least positive number
		return double_of(minus | bits_of_double(__dmul_rn((double)abs, least)));
	}
	return double_of(minus | (((u64)abs << (53 - precision)) + ((u64)(1023 - bias) << 52)));
}

// encode rounds to nearest, ties to even.
FUNCTION u32 encode(double x, u32 precision, u32 bias, u32 sign, u32 max, u32 inf, u32 over, u32 nan) {
	u32 shift = 53 - precision; // from a float64's fraction to the format's
	u64 rebias = (u64)(1023 - bias) << 52;
	u64 normal = (u64)(1024 - bias) << 52; // the least normal number
	u64 magic = (u64)(1077 - bias - precision) << 52; // whose last place has the least number's unit
	// What is rounded to more than max: half a unit above it; the tie goes to max if that is even.
	u64 overflow = ((u64)max << shift) + rebias + (1ull << (shift - 1)) + (max & 1 ? 0 : 1);
	u64 abs = bits_of_double(x) & ~(1ull << 63);
	u32 minus = bits_of_double(x) >> 63 ? sign : 0;
	(void)inf;
	if (abs > 0x7ff0000000000000ull) return nan;
	if (abs >= overflow) return minus | over;
	if (abs < normal) {
		return minus | (u32)(bits_of_double(__dadd_rn(double_of(abs), double_of(magic))) - magic);
	}
	abs += (1ull << (shift - 1)) - 1 + (abs >> shift & 1);
	return minus | (u32)((abs - rebias) >> shift);
}

