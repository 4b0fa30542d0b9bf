package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// TestManyViolations: of very many violations the first are printed, and how many more there are.
func TestManyViolations(t *testing.T) {
	for n, want := range map[int]int{1: 1, 21: 21, 22: 21, 512: 21} {
		v := &run.Verification{File: "x.xml", Format: "scenario"}
		for i := range n {
			v.Violations = append(v.Violations, run.Violation{Kind: "limit", Rank: i, Text: "too long"})
		}
		text := VerificationText(v)
		require.Equal(t, want, strings.Count(text, "\n"))
		if more := fmt.Sprintf("x.xml: … %d more; --json has all\n", n-20); n > 21 {
			require.True(t, strings.HasSuffix(text, more), text)
		}
	}
}
