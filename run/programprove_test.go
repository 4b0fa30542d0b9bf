package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBoth: two things are done when both returns, and the panic of either is its caller's.
func TestBoth(t *testing.T) {
	one, other := false, false
	both(func() { one = true }, func() { other = true })
	require.True(t, one && other)
	require.PanicsWithValue(t, "other", func() { both(func() {}, func() { panic("other") }) })
	defer func() { require.Contains(t, recover(), "one\n\ngoroutine") }()
	both(func() { panic("one") }, func() {})
}
