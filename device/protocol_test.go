package device

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/unit"
)

// TestBaseOf: the ramp counts log2(1 + n/1 MiB), straight between whole numbers, up to 16 MiB.
func TestBaseOf(t *testing.T) {
	p := Protocol{Base: 5 * unit.Microsecond, Ramp: 8 * unit.Microsecond}
	for n, doublings := range map[unit.Bytes]float64{0: 0, 8: 0, unit.MiB / 2: 0.5, unit.MiB: 1,
		2 * unit.MiB: 1.5, 3 * unit.MiB: 2, 15 * unit.MiB: 4, 16 * unit.MiB: 4.0625,
		17 * unit.MiB: 4.0625, 1 << 62: 4.0625} {
		require.InDelta(t, 5e6+doublings*8e6, float64(p.BaseOf(n)), 100, n)
	}
	none := Protocol{Base: 5 * unit.Microsecond}
	require.Equal(t, none.Base, none.BaseOf(unit.GiB))
	most := Protocol{Base: MaxCost, Ramp: MaxCost}
	require.Greater(t, most.BaseOf(unit.GiB), 5*MaxCost)
}

// TestProtocolValidate names the figure that no protocol can have.
func TestProtocolValidate(t *testing.T) {
	for want, p := range map[string]Protocol{
		"protocol ring ll: ramp = -1 ps": {Shape: "ring", Protocol: "ll", Ramp: -1},
		"protocol ring ll: rate = ":      {Shape: "ring", Protocol: "ll", Rate: -1},
		"protocol tree simple: base = ":  {Shape: "tree", Protocol: "simple", Base: MaxCost + 1},
	} {
		require.ErrorContains(t, p.Validate(), want)
	}
}
