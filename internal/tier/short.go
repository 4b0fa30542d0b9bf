//go:build !long

package tier

// Long reports whether this is the long tier.
const Long = false
