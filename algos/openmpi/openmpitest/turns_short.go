//go:build !long

package openmpitest

// turnsBelow is up to how many bytes the library's own decisions are tried. The long tier tries all
// that change below 1 MiB.
const turnsBelow = 32 << 10
