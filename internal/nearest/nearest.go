// Package nearest finds known names similar to a mistyped one, so that every error that refuses a
// name suggests alike. It knows nothing of what the names stand for.
package nearest

import (
	"slices"
	"strings"
)

// To returns the candidates nearest to name, nearest first, at most limit of them. Equally near
// ones keep their order. A candidate is near if at most a third of the longer name's letters (and
// at least one) must change, or if one name continues the other.
func To(name string, candidates []string, limit int) []string {
	type near struct {
		name     string
		distance int
	}
	var found []near
	a := shorten(strings.ToLower(name))
	for _, c := range candidates {
		b := shorten(strings.ToLower(c))
		d := Distance(a, b)
		continues := a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
		if d <= max(1, max(len(a), len(b))/3) || continues {
			found = append(found, near{c, d})
		}
	}
	slices.SortStableFunc(found, func(x, y near) int { return x.distance - y.distance })
	var names []string
	for _, f := range found[:min(limit, len(found))] {
		names = append(names, f.name)
	}
	return names
}

// maxLength bounds the work: longer names are compared by their beginnings.
const maxLength = 64

// shorten cuts a name to maxLength bytes.
func shorten(s string) string { return s[:min(len(s), maxLength)] }

// Distance returns the optimal string alignment distance in bytes. It is the least number of
// insertions, deletions, replacements and swaps of neighbours that turn a into b, with no place
// edited twice. Source: Damerau, "A technique for computer detection and correction of spelling
// errors", CACM 7 (1964).
func Distance(a, b string) int {
	a, b = shorten(a), shorten(b)
	// Rows of the edit matrix: before[j], row[j], next[j] for prefixes a[:i-1], a[:i], a[:i+1].
	var rows [3][maxLength + 1]int
	before, row, next := &rows[0], &rows[1], &rows[2]
	for j := range b {
		row[j+1] = j + 1
	}
	for i := range a {
		next[0] = i + 1
		for j := range b {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
