package ncclnames

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIsReal: names are whole, and none else is one.
func TestIsReal(t *testing.T) {
	for name, want := range map[string]bool{"NCCL_IB_TC": true, "NCCL_ALGO": true, "NCCL_IB": false,
		"": false, "nccl_algo": false, "NCCL_ALGO\nNCCL_PROTO": false} {
		require.Equal(t, want, IsReal(name), name)
	}
}
