package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFairRates has cases that are filled by hand.
func TestFairRates(t *testing.T) {
	for _, c := range []struct {
		name       string
		capacities []uint64
		flows      []FairFlow
		want       []uint64
	}{
		{"no flows", []uint64{5}, nil, []uint64{}},
		{"two links in a line: the first is saturated at 5, the second gives the last flow the rest",
			[]uint64{10, 20}, []FairFlow{{[]int32{0, 1}, NoCap}, {[]int32{0}, NoCap},
				{[]int32{1}, NoCap}}, []uint64{5, 5, 15}},
		{"a cap: the flow keeps 2, and the other one has 8", []uint64{10},
			[]FairFlow{{[]int32{0}, 2}, {[]int32{0}, NoCap}}, []uint64{2, 8}},
		{"rounded down: 1 of 10 is left", []uint64{10},
			[]FairFlow{{[]int32{0}, NoCap}, {[]int32{0}, NoCap}, {[]int32{0}, NoCap}},
			[]uint64{3, 3, 3}},
		{"saturated together: what one link's rounding leaves on the other is not given away",
			[]uint64{6, 7}, []FairFlow{{[]int32{0, 1}, NoCap}, {[]int32{0}, NoCap},
				{[]int32{1}, NoCap}}, []uint64{3, 3, 3}},
		{"a link crossed twice counts twice", []uint64{9},
			[]FairFlow{{[]int32{0, 0}, NoCap}, {[]int32{0}, NoCap}}, []uint64{3, 3}},
		{"a link without limit, and a link that is too slow", []uint64{NoCap, 1},
			[]FairFlow{{[]int32{0}, 7}, {[]int32{0, 1}, NoCap}, {[]int32{1}, NoCap}},
			[]uint64{7, 0, 0}},
	} {
		require.Equal(t, c.want, FairRates(c.capacities, c.flows), c.name)
	}
}
