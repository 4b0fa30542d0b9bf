//go:build !amd64 || race

package kernel

// vectorTiler returns none.
func vectorTiler() tiler[float32] { return tiler[float32]{} }
