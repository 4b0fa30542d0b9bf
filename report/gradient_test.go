package report

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/run"
)

// TestGradientLines: what backward passes were held to, or why they were not.
func TestGradientLines(t *testing.T) {
	lines := func(set ...string) string {
		set = append(set, `collective[0].gradient="full"`)
		r, err := load(t, "s.toml", small, set...).Run(context.Background(), run.RunOptions{})
		require.NoError(t, err)
		return strings.Join(gradientLines(r.Results), "\n")
	}
	require.Equal(t, "gradient <C x, y> = <x, Ct y>, in integers", lines())
	require.Equal(t, "gradient not checked: check.numbers = false", lines("check.numbers=false"))
	require.Equal(t, "gradient all 2: <C x, y> = <x, Ct y>, in integers",
		lines(`collective[0].algorithm=["ring", "one-shot"]`))
}
