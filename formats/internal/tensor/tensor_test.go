package tensor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
)

// TestAs holds each pair of types to the rule: the same, or an integer of the width; a bool is one
// for integers alone.
func TestAs(t *testing.T) {
	for _, have := range dtype.All() {
		for _, want := range dtype.All() {
			a := Array{Name: "a", Type: have, Shape: []int64{0}, Data: []byte{}}
			as, err := a.As(want)
			isNumber := have != dtype.Bool || !want.IsFloat()
			if have == want || !have.IsFloat() && have.Width() == want.Width() && isNumber {
				require.NoError(t, err)
				require.Equal(t, want, as.Type)
				require.Equal(t, want.Width(), as.Width)
				continue
			}
			require.ErrorContains(t, err, "holds "+have.String()+"; "+want.String()+" is expected")
		}
	}
}

// TestBools: bytes other than 0 and 1 are no bools, in what is written and in what is read.
func TestBools(t *testing.T) {
	require.NoError(t, CheckBools([]byte{0, 1, 1}))
	const want = "element 2 is 255; 0 or 1 is expected of a bool"
	require.ErrorContains(t, CheckBools([]byte{0, 1, 255}), want)
	_, err := Checked(&Array{Name: "a", Type: dtype.Bool, Shape: []int64{3}, Data: []byte{0, 1, 255}})
	require.ErrorContains(t, err, want)
}
