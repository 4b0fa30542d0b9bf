package npy

import (
	"encoding/binary"
	"math/bits"
)

// swap reverses the bytes of each number.
func swap(data []byte, width int) {
	le := binary.LittleEndian
	switch width {
	case 2:
		for i := 0; i+2 <= len(data); i += 2 {
			le.PutUint16(data[i:], bits.ReverseBytes16(le.Uint16(data[i:])))
		}
	case 4:
		for i := 0; i+4 <= len(data); i += 4 {
			le.PutUint32(data[i:], bits.ReverseBytes32(le.Uint32(data[i:])))
		}
	case 8:
		for i := 0; i+8 <= len(data); i += 8 {
			le.PutUint64(data[i:], bits.ReverseBytes64(le.Uint64(data[i:])))
		}
	}
}

// toC converts elements from Fortran order (first axis fastest) to C order (last axis fastest). At
// each position on the axes between, it transposes first × last axis.
func toC(data []byte, shape []int64, width int) []byte {
	axes := len(shape)
	if axes < 2 || len(data) == 0 {
		return data
	}
	out := make([]byte, len(data))
	size := int64(len(data))
	first, last := shape[0], shape[axes-1]
	plane := transposition{rows: first, columns: last, width: int64(width),
		from: size / last, to: size / first}
	place := make([]int64, axes) // position on the axes between
	for from, to := int64(0), int64(0); ; {
		plane.run(out[to:], data[from:])
		// Advance the position like an odometer whose rightmost wheel is the last axis but one.
		stepFrom, stepTo := size/last, int64(width)*last
		axis := axes - 2
		for ; axis > 0; axis-- {
			stepFrom /= shape[axis]
			if place[axis]++; place[axis] < shape[axis] {
				from, to = from+stepFrom, to+stepTo
				break
			}
			place[axis] = 0
			from -= stepFrom * (shape[axis] - 1)
			to -= stepTo * (shape[axis] - 1)
			stepTo *= shape[axis]
		}
		if axis <= 0 {
			return out
		}
	}
}

// transposition moves element (r, c) from r·width + c·from to r·to + c·width, all in bytes.
type transposition struct {
	rows, columns, width, from, to int64
}

// tile is the side of the squares that are moved at a time, so that both stay in the cache.
const tile = 32

func (t transposition) run(out, data []byte) {
	for r0 := int64(0); r0 < t.rows; r0 += tile {
		for c0 := int64(0); c0 < t.columns; c0 += tile {
			for r := r0; r < min(r0+tile, t.rows); r++ {
				for c := c0; c < min(c0+tile, t.columns); c++ {
					put(out[r*t.to+c*t.width:], data[r*t.width+c*t.from:], t.width)
				}
			}
		}
	}
}

// put copies one element.
func put(out, data []byte, width int64) {
	switch width {
	case 1:
		out[0] = data[0]
	case 2:
		*(*[2]byte)(out) = [2]byte(data)
	case 4:
		*(*[4]byte)(out) = [4]byte(data)
	case 8:
		*(*[8]byte)(out) = [8]byte(data)
	default:
		*(*[16]byte)(out) = [16]byte(data)
	}
}
