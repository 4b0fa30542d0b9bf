//go:build long

package tier

// Long says whether this is the long tier.
const Long = true
