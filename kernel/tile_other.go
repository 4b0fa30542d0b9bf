//go:build !amd64 || race

package kernel

// vectorTilers returns none.
func vectorTilers() (t tiler[float32], u tiler[float64], v tiler[uint64]) { return t, u, v }
