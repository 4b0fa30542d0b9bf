package dtype

import (
	"math"
	"sync"
)

// float8 returns the kernel of an 8-bit float. An operation on two elements is a table of all
// pairs, 64 KiB, made at its first use. float64 holds all sums and products exactly.
func float8[T E4M3 | E5M2](t Type, f *format) kernel[T] {
	quiet := math.Float64frombits(nan64)
	prod := pairs[T](f, func(a, b float64) float64 { return a * b })
	from := func(x float64) T { return T(f.round(x)) }
	values := sync.OnceValue(func() *[1 << 8]float64 {
		var all [1 << 8]float64
		for i := range all {
			all[i] = f.decode(uint16(i))
		}
		return &all
	})
	single := sync.OnceValue(func() *[1 << 8]float32 {
		var all [1 << 8]float32
		for i, x := range values() {
			all[i] = float32(x)
		}
		return &all
	})
	nearest := sync.OnceValue(func() *[1 << topBits]T { return nearestOfTop[T](f) })
	return kernel[T]{
		dtype: t,
		sum:   apply(pairs[T](f, func(a, b float64) float64 { return a + b })),
		prod:  apply(prod),
		min: apply(pairs[T](f, func(a, b float64) float64 {
			return number(a, b, min(a, b), quiet)
		})),
		max: apply(pairs[T](f, func(a, b float64) float64 {
			return number(a, b, max(a, b), quiet)
		})),
		scale: func(dst []T, by T) {
			table := prod()
			for i, x := range dst {
				dst[i] = table[pair(x, by)]
			}
		},
		divide: func(dst []T, n int) {
			for i, x := range dst {
				dst[i] = from(values()[x] / float64(n))
			}
		},
		from:        from,
		unsaturated: func(x float64) T { return T(f.unsaturated(x)) },
		value:       func(x T) float64 { return values()[x] },
		widen32:     func(dst []float32, src []T) { look(dst, src, single()) },
		widen64:     func(dst []float64, src []T) { look(dst, src, values()) },
		narrow32:    func(dst []T, src []float32) { narrowTop(dst, src, nearest()) },
		narrow64:    func(dst []T, src []float64) { encodeEach(dst, src, f) },
	}
}

// pair returns the index of a pair in a table of results.
func pair[T E4M3 | E5M2](a, b T) uint16 { return uint16(a)<<8 | uint16(b) }

// pairs returns a function that makes an operation's table at its first call.
func pairs[T E4M3 | E5M2](f *format, op func(a, b float64) float64) func() *[1 << 16]T {
	return sync.OnceValue(func() *[1 << 16]T {
		table := new([1 << 16]T)
		for i := range table {
			a, b := f.decode(uint16(i>>8)), f.decode(uint16(i&0xff))
			table[i] = T(f.round(op(a, b)))
		}
		return table
	})
}

func apply[T E4M3 | E5M2](table func() *[1 << 16]T) func(dst, src []T) {
	return func(dst, src []T) {
		t := table()
		src = src[:len(dst)]
		for i, x := range dst {
			dst[i] = t[pair(x, src[i])]
		}
	}
}

func look[F float32 | float64, T E4M3 | E5M2](dst []F, src []T, values *[1 << 8]F) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = values[x]
	}
}

// topBits counts the bits of a float32 that index the table of roundings: its sign, its exponent
// and 5 bits of its fraction. The last of these is set if any bit follows. That suffices to round
// to 3 bits: it has the bits that stay, the next one, and whether there are more.
const topBits = 1 + 8 + 5

// top returns the index of a float32 in the table.
func top(x float32) uint32 {
	const below = 1<<(32-topBits) - 1
	bits := math.Float32bits(x)
	return bits>>(32-topBits) | (bits&below+below)>>(32-topBits)
}

// nearestOfTop makes the table.
func nearestOfTop[T E4M3 | E5M2](f *format) *[1 << topBits]T {
	table := new([1 << topBits]T)
	for i := range table {
		table[i] = T(f.round(float64(math.Float32frombits(uint32(i) << (32 - topBits)))))
	}
	return table
}

func narrowTop[T E4M3 | E5M2](dst []T, src []float32, table *[1 << topBits]T) {
	src = src[:len(dst)]
	for i, x := range src {
		dst[i] = table[top(x)]
	}
}
