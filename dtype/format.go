package dtype

import (
	"math"
	"math/bits"
)

// format is a float format of at most 16 bits: a sign, an exponent field and a fraction, as in IEEE
// 754, except that the exponent of all ones may also encode numbers.
type format struct {
	precision int    // bits of the significand, including the one that is not stored
	sign      uint16 // mask of the sign
	max       uint16 // the largest number; patterns above are not numbers
	inf       uint16 // 0 if there is none
	nan       uint16 // the NaN of results
	saturates bool   // CUDA's conversions to it give max instead of inf

	// The following are float64, or their bits, which the constructor derives.
	rebias   uint64  // the difference of the exponents' biases, in place
	normal   uint64  // the least normal number
	overflow uint64  // the least number that rounds to more than max
	least    float64 // the least positive number
	magic    float64 // the power of two whose unit in the last place is least
}

// The formats; nothing assigns to them.
var (
	f16  = newFormat(format{precision: 11, sign: 0x8000, max: 0x7bff, inf: 0x7c00, nan: 0x7fff}, 15)
	bf16 = newFormat(format{precision: 8, sign: 0x8000, max: 0x7f7f, inf: 0x7f80, nan: 0x7fff}, 127)
	e4m3 = newFormat(format{precision: 4, sign: 0x80, max: 0x7e, nan: 0x7f, saturates: true}, 7)
	e5m2 = newFormat(format{precision: 3, sign: 0x80, max: 0x7b, inf: 0x7c, nan: 0x7f,
		saturates: true}, 15)
)

const (
	bias64   = 1023
	stored64 = 52 // bits of a float64's fraction
	sign64   = 1 << 63
)

func newFormat(f format, bias int) *format {
	f.rebias = uint64(bias64-bias) << stored64
	f.normal = math.Float64bits(math.Ldexp(1, 1-bias))
	f.least = math.Ldexp(1, 2-bias-f.precision)
	f.magic = math.Ldexp(f.least, stored64)
	half := uint64(1) << (stored64 - f.precision) // of max's unit in the last place
	f.overflow = math.Float64bits(f.decode(f.max)) + half
	if f.max&1 == 0 {
		f.overflow++ // the tie goes to max, which is even
	}
	return &f
}

// decode returns the value of a pattern, exactly.
func (f *format) decode(pattern uint16) float64 {
	abs := pattern &^ f.sign
	x := 0.0
	switch {
	case abs > f.max && abs == f.inf:
		x = math.Inf(1)
	case abs > f.max:
		return math.Float64frombits(nan64)
	case abs < 1<<(f.precision-1): // zero or subnormal
		x = float64(abs) * f.least
	default:
		x = math.Float64frombits(uint64(abs)<<(stored64+1-f.precision) + f.rebias)
	}
	if pattern&f.sign != 0 {
		return -x
	}
	return x
}

// encode rounds x to nearest, ties to even; over is the result for numbers that are too large.
func (f *format) encode(x float64, over uint16) uint16 {
	bits := math.Float64bits(x)
	sign, abs := uint16(0), bits&^sign64
	if bits != abs {
		sign = f.sign
	}
	if abs >= f.overflow {
		if abs > math.Float64bits(math.Inf(1)) {
			return f.nan
		}
		return sign | over
	}
	if abs < f.normal {
		// The addition rounds to a multiple of least; the low bits of the sum are that multiple.
		sum := math.Float64frombits(abs) + f.magic
		return sign | uint16(math.Float64bits(sum)-math.Float64bits(f.magic))
	}
	shift := stored64 + 1 - f.precision
	odd := abs >> shift & 1
	abs += 1<<(shift-1) - 1 + odd // carries into the exponent where it must
	return sign | uint16((abs-f.rebias)>>shift)
}

// round encodes as CUDA does.
func (f *format) round(x float64) uint16 {
	if f.saturates {
		return f.encode(x, f.max)
	}
	return f.encode(x, f.inf)
}

// unsaturated encodes as PyTorch does: too large a number becomes infinity, or NaN without one.
func (f *format) unsaturated(x float64) uint16 {
	if f.inf == 0 {
		return f.encode(x, f.nan)
	}
	return f.encode(x, f.inf)
}

// encodeEach sets dst[i] to src[i], rounded as by round. Normal numbers are rounded inline.
func encodeEach[T F16 | BF16 | E4M3 | E5M2](dst []T, src []float64, f *format) {
	src = src[:len(dst)]
	normal, span, rebias := f.normal, f.overflow-f.normal, f.rebias
	shift := uint(stored64+1-f.precision) & 63
	half, left := uint64(1)<<(shift-1)-1, uint(bits.LeadingZeros16(f.sign))
	for i, x := range src {
		bits := math.Float64bits(x)
		abs := bits &^ sign64
		if abs-normal >= span {
			dst[i] = T(f.round(x))
			continue
		}
		sign := T(bits >> 63 << 15 >> left)
		dst[i] = sign | T((abs+half+abs>>shift&1-rebias)>>shift)
	}
}
