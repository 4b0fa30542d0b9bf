//go:build !amd64

package cpu

// HasVectors reports false: this module has no assembly for this processor.
func HasVectors() bool { return false }
