//go:build long

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCampaign judges 20,000 schedules, a quarter of them in rendezvous besides, and looks at all
// interleavings of a thousand and more that are found right.
func TestCampaign(t *testing.T) {
	c := newContest(t, 1)
	sum := agree(t, c, 0, 20000)
	require.GreaterOrEqual(t, sum.explored, 1000)
	require.Greater(t, sum.right, 5000)
	c.rendezvous = true
	agree(t, c, 20000, 5000)
}
