//go:build race

package tier

// Race says whether the race detector watches.
const Race = true
