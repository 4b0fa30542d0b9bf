package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHarmless: no text begins a formula, and whoever takes away the apostrophe of one that begins
// with it has what was meant.
func TestHarmless(t *testing.T) {
	for text, want := range map[string]string{"": "", "gpu0": "gpu0", "-": "-", "a=1": "a=1",
		"=1+1": "'=1+1", "+1": "'+1", "-1+1": "'-1+1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1",
		"\r=1": "'\r=1", "'": "''", "'=1": "''=1", "中": "中"} {
		require.Equal(t, want, harmless(text))
		back, quoted := strings.CutPrefix(want, "'")
		require.Equal(t, quoted, want != text)
		if quoted {
			require.Equal(t, text, back)
		}
	}
}
