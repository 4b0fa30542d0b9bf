package prose

import "fmt"

// Names gives things names that differ.
type Names struct {
	taken map[string]bool
	last  map[string]int // the last number behind a name
}

// Unique returns a name that it has not given yet: the one asked for, or that with a number behind
// it, from 2: "sum", "sum (2)".
func (n *Names) Unique(name string) string {
	if n.taken == nil {
		n.taken, n.last = map[string]bool{}, map[string]int{}
	}
	given := name
	for n.taken[given] {
		n.last[name] = max(n.last[name], 1) + 1
		given = fmt.Sprintf("%s (%d)", name, n.last[name])
	}
	n.taken[given] = true
	return given
}
