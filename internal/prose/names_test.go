package prose_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/prose"
)

func ExampleNames() {
	var n prose.Names
	fmt.Println(n.Unique("sum"), n.Unique("sum"), n.Unique("mean"), n.Unique("sum"))
	// Output: sum sum (2) mean sum (3)
}

// TestUnique: names that look like numbered ones stay apart from those.
func TestUnique(t *testing.T) {
	var n prose.Names
	seen := map[string]bool{}
	for _, name := range []string{"a (2)", "a", "a", "a (2)", "a", "a (3)", ""} {
		given := n.Unique(name)
		require.False(t, seen[given], given)
		seen[given] = true
	}
}
