package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNumbers: a number means the rank that is written so, a star any digits.
func TestNumbers(t *testing.T) {
	for pattern, want := range map[string][]int32{
		"0": {0}, "11": {11}, "12": nil, "01": nil, "00": nil, "99999999999999999999": nil,
		"1*": {1, 10, 11}, "*1": {1, 11}, "0*": {0}, "**2": {2},
	} {
		require.Equal(t, want, numbers(pattern, 12), pattern)
	}
}
