//go:build !amd64 || race

package kernel

// vectorTiler has nothing to offer.
func vectorTiler() tiler[float32] { return tiler[float32]{} }
