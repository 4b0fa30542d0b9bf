//go:build !race

package kernel

import "collsim/internal/cpu"

// vectorColumns are two vectors of float32.
const vectorColumns = 16

// vectorTiler computes in vectors, in assembly. plainTile defines its result. Other processors run
// that instead, and so does the race detector, which cannot see into assembly.
func vectorTiler() tiler[float32] {
	if !cpu.HasVectors() {
		return tiler[float32]{}
	}
	return tiler[float32]{vectorColumns, func(dst, rows, panel []float32, stride int) {
		vectorTile(dst[:3*stride+vectorColumns], rows, panel, stride)
	}}
}

// vectorTile multiplies and then adds, with a rounding each. REQUIRES: cpu.HasVectors(); rows
// has tileRows for every vectorColumns of the panel; dst has 3·stride + vectorColumns.
//
//go:noescape
func vectorTile(dst, rows, panel []float32, stride int)
