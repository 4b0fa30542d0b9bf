package measured

import "slices"

// samePrefix reports whether a line has the words of another line's prefix before it, as stern
// writes the names of pod and container.
func samePrefix(prefix, line []word) bool {
	return len(line) > len(prefix) && slices.EqualFunc(prefix, line[:len(prefix)],
		func(a, b word) bool { return a.text == b.text })
}
