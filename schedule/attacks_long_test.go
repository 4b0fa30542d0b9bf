//go:build long

package schedule

// attacks is how many texts TestAttack tries.
const attacks = 200_000
