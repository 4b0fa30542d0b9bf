// The kernels of programs, with the arithmetic that package kernel gives them: floats in float32, or
// in float64 if an operand has that type (DOUBLE), every product, sum and quotient rounded once, in
// its order; integers modulo 2^64 (WHOLE). One is compiled behind numbers.cu for each KIND_… and its
// types A, B and OUT. A thread of a matmul computes one column of ROWS rows.

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

// Floats are read as float64, which holds them all, integers as 64 bits with their sign extended.
FUNCTION double get_float64(const void *p, u64 i) { return ((const double *)p)[i]; }
FUNCTION void put_float64(void *p, u64 i, double x) { ((double *)p)[i] = quiet64(x); }
FUNCTION double get_float32(const void *p, u64 i) { return ((const float *)p)[i]; }
FUNCTION void put_float32(void *p, u64 i, double x) {
	((float *)p)[i] = quiet32(__double2float_rn(x));
}

#define SMALL(type, element) \
	FUNCTION double get_##type(const void *p, u64 i) { \
		return decode(((const element *)p)[i], FORMAT_##type); \
	} \
	FUNCTION void put_##type(void *p, u64 i, double x) { \
		((element *)p)[i] = (element)encode(x, FORMAT_##type); \
	}

SMALL(float16, u16)
SMALL(bfloat16, u16)
SMALL(float8_e4m3fn, u8)
SMALL(float8_e5m2, u8)

// nearest rounds to a whole number, ties to even, and no further than an integer's range; a NaN
// becomes 0.
FUNCTION u64 nearest(double x, int bits, int is_signed) {
	double above = double_of((u64)(1023 + bits - is_signed) << 52), below = is_signed ? -above : 0;
	double magic = double_of(0x4330000000000000ull); // 2^52, whose last place is 1
	if (x > -magic && x < magic) {
		if (x < 0) magic = -magic;
		x = __dadd_rn(__dadd_rn(x, magic), -magic);
	}
	if (x != x) return 0;
	if (x < below) return is_signed ? 0 - (1ull << (bits - 1)) : 0;
	if (x >= above) return ~0ull >> (64 - bits + is_signed);
	return x < 0 ? (u64)(i64)x : (u64)x;
}

// to_odd is an integer as a float64, from which rounding to fewer bits errs no more than once: what
// 53 bits do not hold is rounded to the neighbour whose last bit is 1 (Boldo and Melquiond, 2008).
FUNCTION double to_odd(u64 x, int is_signed) {
	int minus = is_signed && (i64)x < 0, extra = 0;
	if (minus) x = 0 - x;
	while (x >> extra >> 53) extra++;
	u64 below = (1ull << extra) - 1;
	if (x & below) x = (x & ~below) | 1ull << extra;
	return minus ? -(double)x : (double)x;
}

#define INTEGER(type, element, bits, is_signed) \
	FUNCTION u64 get_##type(const void *p, u64 i) { return (u64)((const element *)p)[i]; } \
	FUNCTION void put_##type(void *p, u64 i, u64 x) { ((element *)p)[i] = (element)x; } \
	FUNCTION u64 nearest_##type(double x) { return nearest(x, bits, is_signed); }

INTEGER(int8, signed char, 8, 1)
INTEGER(int16, short, 16, 1)
INTEGER(int32, int, 32, 1)
INTEGER(int64, i64, 64, 1)
INTEGER(uint8, u8, 8, 0)
INTEGER(uint16, u16, 16, 0)
INTEGER(uint32, u32, 32, 0)
INTEGER(uint64, u64, 64, 0)

#if defined WHOLE
typedef u64 value;
FUNCTION value plus(value x, value y) { return x + y; }
FUNCTION value times(value x, value y) { return x * y; }
FUNCTION value over(value x, u64 n) {
#ifdef SIGNED_A
	return (u64)((i64)x / (i64)n);
#else
	return x / n;
#endif
}
#elif defined DOUBLE
typedef double value;
FUNCTION value plus(value x, value y) { return __dadd_rn(x, y); }
FUNCTION value times(value x, value y) { return __dmul_rn(x, y); }
FUNCTION value over(value x, u64 n) { return __ddiv_rn(x, (double)n); }
#else
typedef float value;
FUNCTION value plus(value x, value y) { return __fadd_rn(x, y); }
FUNCTION value times(value x, value y) { return __fmul_rn(x, y); }
FUNCTION value over(value x, u64 n) {
	return __double2float_rn(__ddiv_rn((double)x, (double)n));
}
#endif

#define GET(type, p, i) ((value)JOIN(get_, type)((const void *)(p), i))
#define PUT(i, x) JOIN(put_, OUT)((void *)a.to, i, x)

// An operation as package cuda lays it out: a matmul's m, k and n; what is before an axis, its
// length, and what is behind it; or so many rows of one element. The operands are a, b, scale_a,
// scale_b, bias and scale_result.
struct operation {
	u64 rows, length, columns, from[6], to;
};

#define EACH(i, n) \
	for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (n); \
		i += (u64)gridDim.x * blockDim.x)

#ifdef KIND_matmul
#define ROWS 8

FUNCTION value finish(const struct operation *a, value x, u64 row, u64 column) {
#if defined SCALING_row
	x = times(times(x, GET(float32, a->from[2], row)), GET(float32, a->from[3], column));
#elif defined SCALING_tensor
	x = times(times(x, GET(float32, a->from[2], 0)), GET(float32, a->from[3], 0));
#endif
#ifdef BIAS
	x = plus(x, GET(BIAS, a->from[4], column));
#endif
#ifdef RESULT_SCALE
	x = times(x, GET(float32, a->from[5], 0));
#endif
	(void)a, (void)row, (void)column;
	return x;
}

#ifdef TRANSPOSED_A
#define AT_A(row, k) ((k) * a.rows + (row))
#else
#define AT_A(row, k) ((row) * a.length + (k))
#endif
#ifdef TRANSPOSED_B
#define AT_B(k, column) ((column) * a.length + (k))
#else
#define AT_B(k, column) ((k) * a.columns + (column))
#endif

KERNEL(compute, struct operation) {
	u64 groups = (a.rows + ROWS - 1) / ROWS;
	EACH(i, groups * a.columns) {
		u64 first = i / a.columns * ROWS, column = i % a.columns;
		value total[ROWS];
		for (int r = 0; r < ROWS; r++) total[r] = 0;
		for (u64 k = 0; k < a.length; k++) {
			value y = GET(B, a.from[1], AT_B(k, column));
			for (int r = 0; r < ROWS; r++) {
				u64 row = first + r < a.rows ? first + r : a.rows - 1;
				total[r] = plus(total[r], times(GET(A, a.from[0], AT_A(row, k)), y));
			}
		}
		for (int r = 0; r < ROWS && first + r < a.rows; r++) {
			PUT((first + r) * a.columns + column, finish(&a, total[r], first + r, column));
		}
	}
}

#elif defined KIND_add
KERNEL(compute, struct operation) {
	EACH(i, a.rows) PUT(i, plus(GET(A, a.from[0], i), GET(B, a.from[1], i)));
}

#elif defined KIND_scale // by a float64, whose bits are in the place of a length
KERNEL(compute, struct operation) {
	EACH(i, a.rows) PUT(i, times(GET(A, a.from[0], i), (value)double_of(a.length)));
}

#elif defined KIND_cast
KERNEL(compute, struct operation) {
	EACH(i, a.rows) {
#if defined WHOLE && defined WHOLE_OUT
		PUT(i, GET(A, a.from[0], i));
#elif defined WHOLE && defined DOUBLE_OUT && defined SIGNED_A
		PUT(i, (double)(i64)GET(A, a.from[0], i));
#elif defined WHOLE && defined DOUBLE_OUT
		PUT(i, (double)GET(A, a.from[0], i));
#elif defined WHOLE && defined SIGNED_A
		PUT(i, to_odd(GET(A, a.from[0], i), 1));
#elif defined WHOLE
		PUT(i, to_odd(GET(A, a.from[0], i), 0));
#elif defined WHOLE_OUT
		PUT(i, JOIN(nearest_, OUT)(JOIN(get_, A)((const void *)a.from[0], i)));
#else
		PUT(i, JOIN(get_, A)((const void *)a.from[0], i));
#endif
	}
}

#elif defined KIND_sum || defined KIND_mean
KERNEL(compute, struct operation) {
	EACH(i, a.rows * a.columns) {
		u64 at = i / a.columns * a.length * a.columns + i % a.columns;
		value total = a.length ? GET(A, a.from[0], at) : (value)0;
		for (u64 k = 1; k < a.length; k++) {
			total = plus(total, GET(A, a.from[0], at + k * a.columns));
		}
#ifdef KIND_mean
		total = over(total, a.length);
#endif
		PUT(i, total);
	}
}

#elif defined KIND_move // the same bits: ELEMENT is as wide
KERNEL(compute, struct operation) {
	EACH(i, a.rows * a.length * a.columns) {
		u64 column = i % a.columns, row = i / a.columns % a.rows, k = i / a.columns / a.rows;
		((ELEMENT *)a.to)[i] = ((const ELEMENT *)a.from[0])[(row * a.length + k) * a.columns + column];
	}
}

#elif defined KIND_expand // the same bits, in each of so many lengths
KERNEL(compute, struct operation) {
	EACH(i, a.rows * a.length * a.columns) {
		u64 column = i % a.columns, row = i / a.columns / a.length;
		((ELEMENT *)a.to)[i] = ((const ELEMENT *)a.from[0])[row * a.columns + column];
	}
}

#else // opaque: so many nanoseconds go by
#ifndef NANOSECONDS
FUNCTION u64 nanoseconds(void) {
	u64 t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}
#define NANOSECONDS nanoseconds()
#endif
KERNEL(compute, struct operation) {
	u64 begin = NANOSECONDS;
	while (NANOSECONDS - begin < a.rows) {}
}
#endif
