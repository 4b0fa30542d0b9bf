package kernel

import (
	"math/bits"

	"collsim/dtype"
)

// accumulator is a type in which results are computed. Integers are computed in 64 bits, with their
// signs extended: the low bits of sums and products are the same for signed and unsigned ones.
type accumulator interface{ float32 | float64 | uint64 }

// codec converts elements of a type, as bytes, to accumulators and back. whole and wrap are for
// integers, the others for any type. Sources and destinations have the same length.
type codec interface {
	widen32(dst []float32, src []byte)
	widen64(dst []float64, src []byte)
	whole(dst []uint64, src []byte)
	narrow32(dst []byte, src []float32)
	narrow64(dst []byte, src []float64)
	wrap(dst []byte, src []uint64)
}

// codecOf returns a type's codec. REQUIRES: a valid type that is not complex.
func codecOf(t dtype.Type) codec {
	return [...]codec{
		dtype.Float64:    as[float64]{},
		dtype.Float32:    as[float32]{},
		dtype.Float16:    as[dtype.F16]{},
		dtype.BFloat16:   as[dtype.BF16]{},
		dtype.Float8E4M3: as[dtype.E4M3]{},
		dtype.Float8E5M2: as[dtype.E5M2]{},
		dtype.Int8:       as[int8]{},
		dtype.Int16:      as[int16]{},
		dtype.Int32:      as[int32]{},
		dtype.Int64:      as[int64]{},
		dtype.Uint8:      as[uint8]{},
		dtype.Uint16:     as[uint16]{},
		dtype.Uint32:     as[uint32]{},
		dtype.Uint64:     as[uint64]{},
		dtype.Bool:       truth{},
	}[t]
}

// as is the codec of T. It works in pieces, so that buffers stay in the cache.
type as[T dtype.Number] struct{}

const pieceElements = 512

// decode decodes elements in pieces and passes each piece to to.
func decode[T dtype.Number](n int, src []byte, to func(at int, piece []T)) {
	var room [pieceElements]T
	width := dtype.Of[T]().Width()
	for at := 0; at < n; at += pieceElements {
		piece := room[:min(pieceElements, n-at)]
		dtype.Get(piece, src[at*width:])
		to(at, piece)
	}
}

// encode encodes pieces that from fills.
func encode[T dtype.Number](dst []byte, n int, from func(at int, piece []T)) {
	var room [pieceElements]T
	width := dtype.Of[T]().Width()
	for at := 0; at < n; at += pieceElements {
		piece := room[:min(pieceElements, n-at)]
		from(at, piece)
		dtype.Put(dst[at*width:], piece)
	}
}

func (as[T]) widen32(dst []float32, src []byte) {
	decode(len(dst), src, func(at int, piece []T) { dtype.Widen(dst[at:at+len(piece)], piece) })
}

func (as[T]) widen64(dst []float64, src []byte) {
	decode(len(dst), src, func(at int, piece []T) { dtype.Widen(dst[at:at+len(piece)], piece) })
}

func (as[T]) whole(dst []uint64, src []byte) {
	decode(len(dst), src, func(at int, piece []T) {
		for i, x := range piece {
			dst[at+i] = uint64(x)
		}
	})
}

func (as[T]) narrow32(dst []byte, src []float32) {
	encode(dst, len(src), func(at int, piece []T) { dtype.Narrow(piece, src[at:at+len(piece)]) })
}

func (as[T]) narrow64(dst []byte, src []float64) {
	encode(dst, len(src), func(at int, piece []T) { dtype.Narrow(piece, src[at:at+len(piece)]) })
}

func (as[T]) wrap(dst []byte, src []uint64) {
	encode(dst, len(src), func(at int, piece []T) {
		for i := range piece {
			piece[i] = T(src[at+i])
		}
	})
}

// truth is the codec of bool: whatever is not 0 becomes 1.
type truth struct{ as[dtype.B8] }

func (truth) wrap(dst []byte, src []uint64) {
	encode(dst, len(src), func(at int, piece []dtype.B8) {
		for i := range piece {
			piece[i] = 0
			if src[at+i] != 0 {
				piece[i] = 1
			}
		}
	})
}

// load converts elements to accumulators.
func load[A accumulator](c codec, dst []A, src []byte) {
	switch d := any(dst).(type) {
	case []float32:
		c.widen32(d, src)
	case []float64:
		c.widen64(d, src)
	case []uint64:
		c.whole(d, src)
	}
}

// store rounds accumulators to elements.
func store[A accumulator](c codec, dst []byte, src []A) {
	switch s := any(src).(type) {
	case []float32:
		c.narrow32(dst, s)
	case []float64:
		c.narrow64(dst, s)
	case []uint64:
		c.wrap(dst, s)
	}
}

// toOdd converts an integer to a float64 from which rounding to fewer bits is correct. Beyond 53
// bits it rounds to the neighbour whose last bit is 1 (Boldo and Melquiond, "Emulation of FMA and
// Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd", IEEE Transactions on Computers
// 57(4), 2008).
func toOdd(x uint64, signed bool) float64 {
	negative := signed && int64(x) < 0
	if negative {
		x = -x
	}
	if extra := 64 - 53 - bits.LeadingZeros64(x); extra > 0 {
		below := uint64(1)<<extra - 1
		if x&below != 0 {
			x = x&^below | 1<<extra
		}
	}
	if negative {
		return -float64(x)
	}
	return float64(x)
}
