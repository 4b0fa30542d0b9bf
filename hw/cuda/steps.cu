// What a step does on the device: combine the elements of its sources, from left to right, and store
// the result where it goes. It is compiled behind numbers.cu, once for each type and way to
// accumulate, with TYPE_… and, where a step computes in float32, ACCUMULATE_float32 defined.

// Of two numbers −0 is the lesser of the zeros; a number goes before a NaN.
FUNCTION float lesser32(float x, float y) {
	if (x != x) return quiet32(y);
	if (y != y) return x;
	if (x == y) return bits_of(x) >> 31 ? x : y;
	return x < y ? x : y;
}
FUNCTION float greater32(float x, float y) {
	if (x != x) return quiet32(y);
	if (y != y) return x;
	if (x == y) return bits_of(x) >> 31 ? y : x;
	return x > y ? x : y;
}
FUNCTION double lesser64(double x, double y) {
	if (x != x) return quiet64(y);
	if (y != y) return x;
	if (x == y) return bits_of_double(x) >> 63 ? x : y;
	return x < y ? x : y;
}
FUNCTION double greater64(double x, double y) {
	if (x != x) return quiet64(y);
	if (y != y) return x;
	if (x == y) return bits_of_double(x) >> 63 ? y : x;
	return x > y ? x : y;
}

#if defined TYPE_float16
#define FORMAT FORMAT_float16
#define ELEMENT u16
#elif defined TYPE_bfloat16
#define FORMAT FORMAT_bfloat16
#define ELEMENT u16
#elif defined TYPE_float8_e4m3fn
#define FORMAT FORMAT_float8_e4m3fn
#define ELEMENT u8
#define EIGHT
#elif defined TYPE_float8_e5m2
#define FORMAT FORMAT_float8_e5m2
#define ELEMENT u8
#define EIGHT
#endif

#ifdef FORMAT
typedef ELEMENT element;

FUNCTION double exactly(element x) { return decode(x, FORMAT); }
FUNCTION element rounded(double x) { return (element)encode(x, FORMAT); }

// widen is the value as a float32, exactly; narrow rounds one to the format.
#if defined TYPE_float16
FUNCTION float widen(element x) {
	u32 sign = (u32)(x & 0x8000) << 16, abs = (u32)(x & 0x7fff) << 13;
	if (abs > 0x7c00u << 13) return float_of(0x7fffffffu);
	if (abs == 0x7c00u << 13) return float_of(sign | 0x7f800000u);
	return __fmul_rn(float_of(sign | abs), float_of(239u << 23)); // by 2^112
}
FUNCTION element narrow(float x) {
	u32 sign = bits_of(x) >> 16 & 0x8000, abs = bits_of(x) & 0x7fffffffu;
	if (abs > 0x7f800000u) return 0x7fff;
	if (abs >= 0x477ff000u) return (element)(sign | 0x7c00);
	if (abs < 113u << 23) {
		return (element)(sign | (bits_of(__fadd_rn(float_of(abs), float_of(126u << 23))) - (126u << 23)));
	}
	return (element)(sign | ((abs - (112u << 23) + 0xfff + (abs >> 13 & 1)) >> 13));
}
#elif defined TYPE_bfloat16
FUNCTION float widen(element x) { return float_of((u32)x << 16); }
FUNCTION element narrow(float x) {
	u32 u = bits_of(x);
	if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
	return (element)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
#else
FUNCTION float widen(element x) { return quiet32((float)exactly(x)); }
FUNCTION element narrow(float x) { return rounded((double)x); }
#endif
#endif

// How values of the type are computed: load and unload are between memory and what a step computes
// with; times and over are its scale.
#if defined FORMAT && defined ACCUMULATE_float32
typedef float value;
FUNCTION value load(element x) { return widen(x); }
FUNCTION element unload(value x) { return narrow(x); }
FUNCTION value sum(value x, value y) { return quiet32(__fadd_rn(x, y)); }
FUNCTION value product(value x, value y) { return quiet32(__fmul_rn(x, y)); }
FUNCTION value lesser(value x, value y) { return lesser32(x, y); }
FUNCTION value greater(value x, value y) { return greater32(x, y); }
FUNCTION value factor_of(u64 bits) { return float_of((u32)bits); }
FUNCTION value over(value x, i64 n) {
	return quiet32(__double2float_rn(__ddiv_rn((double)x, (double)n)));
}

#elif defined FORMAT
typedef element value;
FUNCTION value load(element x) { return x; }
FUNCTION element unload(value x) { return x; }
FUNCTION value factor_of(u64 bits) { return (value)bits; }
FUNCTION value over(value x, i64 n) { return rounded(__ddiv_rn(exactly(x), (double)n)); }
#ifdef EIGHT
FUNCTION value sum(value x, value y) { return rounded(__dadd_rn(exactly(x), exactly(y))); }
FUNCTION value product(value x, value y) { return rounded(__dmul_rn(exactly(x), exactly(y))); }
FUNCTION value lesser(value x, value y) { return rounded(lesser64(exactly(x), exactly(y))); }
FUNCTION value greater(value x, value y) { return rounded(greater64(exactly(x), exactly(y))); }
#else
FUNCTION value sum(value x, value y) { return narrow(__fadd_rn(widen(x), widen(y))); }
FUNCTION value product(value x, value y) { return narrow(__fmul_rn(widen(x), widen(y))); }
FUNCTION value lesser(value x, value y) { return narrow(lesser32(widen(x), widen(y))); }
FUNCTION value greater(value x, value y) { return narrow(greater32(widen(x), widen(y))); }
#endif

#elif defined TYPE_float32
typedef float element;
typedef float value;
FUNCTION value load(element x) { return x; }
FUNCTION element unload(value x) { return x; }
FUNCTION value sum(value x, value y) { return quiet32(__fadd_rn(x, y)); }
FUNCTION value product(value x, value y) { return quiet32(__fmul_rn(x, y)); }
FUNCTION value lesser(value x, value y) { return lesser32(x, y); }
FUNCTION value greater(value x, value y) { return greater32(x, y); }
FUNCTION value factor_of(u64 bits) { return float_of((u32)bits); }
FUNCTION value over(value x, i64 n) {
	return quiet32(__double2float_rn(__ddiv_rn((double)x, (double)n)));
}

#elif defined TYPE_float64
typedef double element;
typedef double value;
FUNCTION value load(element x) { return x; }
FUNCTION element unload(value x) { return x; }
FUNCTION value sum(value x, value y) { return quiet64(__dadd_rn(x, y)); }
FUNCTION value product(value x, value y) { return quiet64(__dmul_rn(x, y)); }
FUNCTION value lesser(value x, value y) { return lesser64(x, y); }
FUNCTION value greater(value x, value y) { return greater64(x, y); }
FUNCTION value factor_of(u64 bits) { return double_of(bits); }
FUNCTION value over(value x, i64 n) { return quiet64(__ddiv_rn(x, (double)n)); }

#else // integers, which wrap
#if defined TYPE_int8
typedef signed char element;
#elif defined TYPE_int16
typedef short element;
#elif defined TYPE_int32
typedef int element;
#elif defined TYPE_int64
typedef i64 element;
#elif defined TYPE_uint8
typedef u8 element;
#elif defined TYPE_uint16
typedef u16 element;
#elif defined TYPE_uint32
typedef u32 element;
#elif defined TYPE_uint64
typedef u64 element;
#endif
typedef element value;
FUNCTION value load(element x) { return x; }
FUNCTION element unload(value x) { return x; }
FUNCTION value sum(value x, value y) { return (value)((u64)x + (u64)y); }
FUNCTION value product(value x, value y) { return (value)((u64)x * (u64)y); }
FUNCTION value lesser(value x, value y) { return x < y ? x : y; }
FUNCTION value greater(value x, value y) { return x > y ? x : y; }
FUNCTION value factor_of(u64 bits) { return (value)bits; }
FUNCTION value over(value x, i64 n) {
	if ((value)-1 > 0) return (value)((u64)x / (u64)n);
	return (value)((i64)x / n);
}
#endif

// What the flags of a source say. A switch's sum is several sources that are one operand.
enum { FIRST = 1, BEGINS = 2, ENDS = 4, SCALED = 8 };

enum { SUM, PRODUCT, LEAST_OF, GREATEST_OF };

FUNCTION value combine(int op, value x, value y) {
	switch (op) {
	case PRODUCT: return product(x, y);
	case LEAST_OF: return lesser(x, y);
	case GREATEST_OF: return greater(x, y);
	}
	return sum(x, y);
}

// A job as package cuda lays it out: pointers to the elements of all sources and destinations. The
// value is scaled by a factor, or divided if there is a divisor; after says that the result is.
#define JOB(name, sources, destinations) \
	struct name { \
		u64 elements, factor; \
		i64 divisor; \
		int op, from_count, to_count, after; \
		u64 from[sources], to[destinations]; \
		u8 flags[sources]; \
	};

JOB(few, 8, 8)
JOB(many, 256, 64)

#define SCALE(x) (a.divisor ? over(x, a.divisor) : product(x, factor_of(a.factor)))

#define STEP(name, job) \
	KERNEL(name, struct job) { \
		u64 stride = (u64)gridDim.x * blockDim.x; \
		for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < a.elements; i += stride) { \
			value all = (value)0, part = all; \
			for (int s = 0; s < a.from_count; s++) { \
				value x = load(((const element *)a.from[s])[i]); \
				part = a.flags[s] & BEGINS ? x : combine(a.op, part, x); \
				if (!(a.flags[s] & ENDS)) continue; \
				if (a.flags[s] & SCALED) part = SCALE(part); \
				all = a.flags[s] & FIRST ? part : combine(a.op, all, part); \
			} \
			if (a.after) all = SCALE(all); \
			element result = unload(all); \
			for (int d = 0; d < a.to_count; d++) ((element *)a.to[d])[i] = result; \
		} \
	}

STEP(step_of_few, few)
STEP(step_of_many, many)
