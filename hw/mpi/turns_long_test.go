//go:build long

package mpi

const turnsBelow = 1 << 20
