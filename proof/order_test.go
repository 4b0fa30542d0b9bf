package proof_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/proof"
	"collsim/schedule"
)

// chain4 is a reduce to rank 0 along 3 → 2 → 1 → 0.
func chain4(t *testing.T, count int64) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(`schedule chain
collective reduce float32 sum
ranks 4
root 0
count 4
rank 0
  lane 0
    recvReduceCopy in, from 1 into out @2
rank 1
  lane 0
    recvReduceSend in, from 2 to 0 @2
rank 2
  lane 0
    recvReduceSend from 3, in to 1 @1
rank 3
  lane 0
    send in to 2 @0
`)
	require.NoError(t, err)
	s.Spec.Count = count
	return s
}

func TestOrderOf(t *testing.T) {
	s := chain4(t, 4)
	order, err := proof.OrderOf(s, 0, 3)
	require.NoError(t, err)
	require.Equal(t, "r0 + (r1 + (r3 + r2))", order.String())
	require.Equal(t, []int{0, 1, 3, 2}, order.Ranks())
	require.EqualValues(t, 3, order.Element)
	require.True(t, order.Ends)
	require.True(t, order.Right.Ends, "a message holds the type's own")
	require.False(t, order.Merged)
	for _, wrong := range []struct {
		rank    int
		element int64
	}{{1, 0}, {0, 4}, {0, -1}, {9, 0}, {-1, 0}} {
		_, err := proof.OrderOf(s, wrong.rank, wrong.element)
		require.ErrorContains(t, err, "has no output element")
	}
}

func TestOrdersSame(t *testing.T) {
	s := chain4(t, 4)
	plain, err := proof.OrdersOf(s, nil)
	require.NoError(t, err)
	require.False(t, plain.InRankOrder)
	require.True(t, plain.SameTree)
	longer, err := proof.OrdersOf(chain4(t, 9), nil)
	require.NoError(t, err)
	require.True(t, plain.Same(longer), "a chain has one order for all elements")
	same, err := proof.OrdersOf(s, []int{0, 1, 2, 3})
	require.NoError(t, err)
	require.True(t, plain.Same(same))
	turned, err := proof.OrdersOf(s, []int{1, 2, 3, 0})
	require.NoError(t, err)
	require.False(t, plain.Same(turned))
	swapped, err := proof.OrdersOf(s, []int{0, 1, 3, 2}) // r3 + r2 is r2 + r3
	require.NoError(t, err)
	require.True(t, plain.Same(swapped))
}
