//go:build !amd64

package cpu

// HasVectors reports whether there are vectors that this module has assembly for.
func HasVectors() bool { return false }
