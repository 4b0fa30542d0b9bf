// Package tidy holds the house rules as a test: which package may import which, the habits that are
// banned because they make results depend on luck, and the sizes of files and functions. It has no
// code of its own. The rules read the source with go/types, so they see through names; each of them
// is tried on a few lines of bad code first. What a rule cannot see (a map ranged over inside a
// library, a product that inlining brings beside a sum) is left to review.
package tidy
