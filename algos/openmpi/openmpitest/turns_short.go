//go:build !long

package openmpitest

// turnsBelow bounds the bytes up to which the library's own decisions are tried. The long tier
// tries all that change below 1 MiB.
const turnsBelow = 32 << 10
