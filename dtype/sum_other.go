//go:build !amd64 || race

package dtype

// There are no vectors; the first two are never called.

func addBlocksBF16(dst, src []BF16) { addBF16(dst, src) }

func addBlocksF16(dst, src []F16) { addF16(dst, src) }

func hasVectors() bool { return false }
