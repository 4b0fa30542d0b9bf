package symmetric_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/comm/symmetric"
)

// TestAfterMismatch: ranks that have allocated different sizes are told so, and what they allocate
// next lies behind both, so that it fits again.
func TestAfterMismatch(t *testing.T) {
	errs := with(2, 8, func(m *symmetric.Member, b *symmetric.Buffer) error {
		a, err := m.Alloc(int64(100 * (1 + m.Rank)))
		if err != nil {
			return err
		}
		var differ *symmetric.Mismatch
		if _, err := a.Rendezvous(background); !errors.As(err, &differ) {
			return fmt.Errorf("sizes differ: %v", err)
		}
		again, err := m.Alloc(16)
		if err != nil {
			return err
		}
		if again.Offset != 16+208 {
			return fmt.Errorf("offset %d", again.Offset)
		}
		_, err = again.Rendezvous(background)
		return err
	})
	require.NoError(t, errors.Join(errs...))
}
