//go:build long

package algostest

// everything says whether each case is tried with all modifiers instead of one of them in turn.
const everything = true
