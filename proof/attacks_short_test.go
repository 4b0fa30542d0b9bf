//go:build !long

package proof

// attacks is how many texts TestAttack tries.
const attacks = 4000
