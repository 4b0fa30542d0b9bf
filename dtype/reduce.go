package dtype

// Sum sets every dst[i] to dst[i] + src[i], rounded once to the type; integers wrap.
//
// Sum, Prod, Min and Max are NCCL's FuncSum, FuncProd and FuncMinMax (src/device/reduce_kernel.h):
// "native" accumulation. To accumulate in float32, Widen the sources, apply the same function to
// the float32, and Narrow the result. REQUIRES: dst and src have the same length; they are the same
// elements or have none in common.
func Sum[T Number](dst, src []T) {
	mustMatch(len(dst), len(src))
	of[T]().sum(dst, src)
}

// Prod sets every dst[i] to dst[i] · src[i], rounded once to the type; integers wrap. REQUIRES: as
// Sum.
func Prod[T Number](dst, src []T) {
	mustMatch(len(dst), len(src))
	of[T]().prod(dst, src)
}

// Min sets every dst[i] to the lesser of dst[i] and src[i]. −0 is less than +0, a number precedes a
// NaN, and two NaN give the type's one NaN. An infinity of float8_e5m2 saturates, as after every
// operation in it. REQUIRES: as Sum.
func Min[T Number](dst, src []T) {
	mustMatch(len(dst), len(src))
	of[T]().min(dst, src)
}

// Max sets every dst[i] to the greater of dst[i] and src[i], with the rules of Min. REQUIRES: as
// Sum.
func Max[T Number](dst, src []T) {
	mustMatch(len(dst), len(src))
	of[T]().max(dst, src)
}

// And sets every dst[i] to the bitwise and of dst[i] and src[i], for bools the logical one.
// REQUIRES: as Sum; T is bool or an integer type.
func And[T Number](dst, src []T) {
	mustMatch(len(dst), len(src))
	of[T]().and(dst, src)
}

// Or sets every dst[i] to the bitwise or of dst[i] and src[i], for bools the logical one. REQUIRES:
// as And.
func Or[T Number](dst, src []T) {
	mustMatch(len(dst), len(src))
	of[T]().or(dst, src)
}

// Xor sets every dst[i] to the bitwise exclusive or of dst[i] and src[i], for bools the logical
// one. REQUIRES: as And.
func Xor[T Number](dst, src []T) {
	mustMatch(len(dst), len(src))
	of[T]().xor(dst, src)
}

// Scale multiplies every element by a factor, rounding once; integers wrap. premulsum, and avg of
// floats, do so with inputs (NCCL's FuncPreMulSum). The product is rounded before anything is added
// to it: a device whose compiler fuses the two gives other bits.
func Scale[T Number](dst []T, by T) { of[T]().scale(dst, by) }

// Divide divides every element by n, which need not be a number of the type. Floats are rounded
// once, integers truncated towards zero. avg of integers divides sums so (NCCL's FuncSumPostDiv);
// so does the mean of floats in torch and TFRT, which divide last. REQUIRES: 0 < n < 2²⁷.
func Divide[T Number](dst []T, n int) {
	if n <= 0 || n >= maxDivisor {
		panic("dtype: Divide by what is not a number of ranks")
	}
	of[T]().divide(dst, n)
}

// maxDivisor is the bound from which on dividing a float32 in float64 could round twice. A quotient
// x/n other than the midpoint m of two neighbours differs from it by at least one unit of x − m·n.
// That is 2^−(25 + 27) of m·n, more than the 2^−53 by which the first rounding may err.
const maxDivisor = 1 << 27

// Reciprocal returns the factor by which NCCL multiplies the inputs of an avg over n ranks: 1/n
// rounded to float64, then to float32, then to T (hostToDevRedOp in src/enqueue.cc); for float64
// only the first. REQUIRES: T is a float type, n > 0.
func Reciprocal[T Number](n int) T {
	k := of[T]()
	if !k.dtype.IsFloat() || n <= 0 {
		panic("dtype: Reciprocal is of a number of ranks, in a float type")
	}
	x := 1 / float64(n)
	if k.dtype != Float64 {
		x = float64(float32(x))
	}
	return k.from(x)
}
