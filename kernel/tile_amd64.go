//go:build !race

package kernel

import "collsim/internal/cpu"

// vectorTilers compute in vectors, two a row of the panel, in assembly. plainTile defines their
// results. Other processors run that instead, and so does the race detector, which cannot see into
// assembly. The last is for integers that are products of 32 bits with signs.
func vectorTilers() (tiler[float32], tiler[float64], tiler[uint64]) {
	if !cpu.HasVectors() {
		return tiler[float32]{}, tiler[float64]{}, tiler[uint64]{}
	}
	return tiler[float32]{16, func(dst, rows, panel []float32, stride int) {
			tile32(dst[:3*stride+16], rows, panel, stride)
		}}, tiler[float64]{8, func(dst, rows, panel []float64, stride int) {
			tile64(dst[:3*stride+8], rows, panel, stride)
		}}, tiler[uint64]{8, func(dst, rows, panel []uint64, stride int) {
			tileWhole(dst[:3*stride+8], rows, panel, stride)
		}}
}

// These multiply and then add, with a rounding each. REQUIRES: cpu.HasVectors(); rows has tileRows
// for every 64 bytes of the panel; dst has three strides and 64 bytes.

//go:noescape
func tile32(dst, rows, panel []float32, stride int)

//go:noescape
func tile64(dst, rows, panel []float64, stride int)

// tileWhole multiplies the lower 32 bits of numbers, with their signs, and adds in 64 bits.
//
//go:noescape
func tileWhole(dst, rows, panel []uint64, stride int)
