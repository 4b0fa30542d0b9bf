package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
)

// newContest has the bases that the tests use.
func newContest(t *testing.T, seed uint64) *contest {
	list, err := collect("../../..", 4)
	require.NoError(t, err)
	return &contest{seed: seed, bases: list, calls: []int{1, 2}, states: 3000, every: 6}
}

// agree executes n schedules and fails for every one on which proof and judge disagree.
func agree(t *testing.T, c *contest, first, n int) *summary {
	sum := c.run(first, n, func(_ int, r *result) {
		if r.why != "" && !t.Failed() {
			t.Errorf("schedule %d of seed %d (%s)\n%s\n%s\n%s", r.index, c.seed, r.made, r.kind, r.why,
				c.shrink(r))
		}
	})
	t.Log(sum)
	require.Zero(t, sum.disagree)
	return sum
}

// TestAgreement has the proof and the judge say what they think of some hundred schedules, and
// looks at all interleavings of some that both find right. The long tier has more.
func TestAgreement(t *testing.T) {
	c := newContest(t, 14)
	sum := agree(t, c, 0, tier.Of(200, 400))
	require.Greater(t, sum.right, tier.Of(50, 100))
	require.Greater(t, sum.tried-sum.right-sum.skipped, tier.Of(50, 100))
	require.Greater(t, sum.explored, tier.Of(5, 10))
	c.rendezvous = true
	sum = agree(t, c, 400, tier.Of(100, 200))
	require.Greater(t, sum.right, tier.Of(10, 20))
}

// TestBases: both say of what the algorithms make what it is: right, in one call and in two.
func TestBases(t *testing.T) {
	c := newContest(t, 0)
	c.every = 0
	for i, b := range append(c.bases.algorithms, c.bases.scripts...) {
		texts := []string{b.text, b.plan.String()}
		for _, text := range tier.Of(texts[i%2:][:1], texts) { // one of both, by turns
			r := c.compare(text, i)
			require.Empty(t, r.why, "%s\n%s", b.name, text)
			require.False(t, r.skipped)
		}
	}
}

// TestNumber: a schedule's number says what it is, whoever executes it and in whatever order.
func TestNumber(t *testing.T) {
	c := newContest(t, 3)
	var first []result
	c.run(7, 30, func(_ int, r *result) { first = append(first, *r) })
	for i := len(first) - 1; i >= 0; i-- {
		require.Equal(t, first[i], c.try(7+i))
	}
}
