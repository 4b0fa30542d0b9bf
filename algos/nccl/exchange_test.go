package nccl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/dtype"
	"collsim/schedule"
)

// exchange is an all_to_allv of three ranks: by LL, by Simple in a part or several, of no bytes.
func exchange() collective.Spec {
	return collective.Spec{Kind: collective.AllToAllV, Type: dtype.Uint8, Ranks: 3,
		Splits: [][]int64{{5, 16384, 16385}, {70_000, 0, 0}, {0, 1_200_000, 8}}}
}

// TestExchangeAsText: the schedules of small calls, on one node and over three.
func TestExchangeAsText(t *testing.T) {
	var b strings.Builder
	for _, params := range [][]string{{"nchannels", "4"}, {"nchannels", "4", "empty", "skip"},
		{"nchannels", "2", "per_node", "1"}} {
		s := build(t, exchange(), "nccl:p2p", params...)
		fmt.Fprintf(&b, "%v\n%v\n", strings.Join(params, " "), s)
	}
	golden(t, "testdata/exchange.txt", b.String())
}

// TestExchangeOfOne: one rank copies its block to itself, also with per_node given; an empty block
// makes no step.
func TestExchangeOfOne(t *testing.T) {
	spec := collective.Spec{Kind: collective.AllToAllV, Type: dtype.Uint8, Ranks: 1,
		Splits: [][]int64{{7}}}
	s := build(t, spec, "nccl:p2p", "per_node", "8")
	require.False(t, s.AnyStep(func(step *schedule.Step) bool { return len(step.Send) > 0 }))
	in := []float32{1}
	spec.Type, spec.Splits = dtype.Float32, [][]int64{{1}}
	require.Equal(t, [][]float32{in}, outputs(t, build(t, spec, "nccl:p2p"), [][]float32{in}))
	spec.Ranks, spec.Splits = 2, [][]int64{{0, 0}, {0, 0}}
	s = build(t, spec, "nccl:p2p")
	require.False(t, s.AnyStep(func(*schedule.Step) bool { return true }))
}

// TestExchangeRefuses: what becomes of empty blocks is one of two words, and of all_to_allv alone.
func TestExchangeRefuses(t *testing.T) {
	_, err := try(t, exchange(), "nccl:p2p", "empty", "no")
	require.EqualError(t, err, "nccl:p2p: empty=no: send or skip is expected")
	_, err = try(t, blocks(collective.AllToAll, 4, 10), "nccl:p2p", "empty", "skip")
	require.ErrorContains(t, err, `"empty"`)
}
