package lab

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/hw"
)

// TestLacks: what iproute2 says of a machine that allows no lab is told as what is missing, with
// how to get it; so tests are left out there, and a validation ends with exit code 3.
func TestLacks(t *testing.T) {
	root := `"mount --make-rslave /" failed: Invalid argument`
	for _, text := range []string{root,
		"mount --make-shared /run/netns failed: Operation not permitted",
		"Cannot open network namespace: Permission denied",
		"Error: Specified qdisc kind is unknown.",
		"We have an error talking to the kernel: classifier not found",
		"Error: Unknown device type.",
	} {
		var missing *hw.Missing
		require.ErrorAs(t, lacks(text), &missing, text)
		require.Contains(t, missing.Why, text)
		require.Equal(t, text == root, strings.Contains(missing.Why, "is no mount point"))
		require.NotEmpty(t, missing.Get)
	}
	require.NoError(t, lacks("RTNETLINK answers: File exists"))
}
