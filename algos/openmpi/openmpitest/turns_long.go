//go:build long

package openmpitest

const turnsBelow = 1 << 20
