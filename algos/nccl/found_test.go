package nccl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
)

// foundOnTwo are graphs of nodes of two H100, whose rings of odd nodes change places.
const foundOnTwo = "h100-sxm sm=90 joined=switch gpus=2 links=18 nics=2x50 multicast " +
	"ring=24/24,nvlink,ll128,nets,crosses:0.1/1.0 tree=24/12,nvlink,ll128,nets,top:1.0/1.0 " +
	"nvls=60/24,nvlink:0/1"

// TestFoundText: what a search has found is read as it is written; what none finds is refused.
func TestFoundText(t *testing.T) {
	f, err := nccl.ParseFacts(foundOnTwo)
	require.NoError(t, err)
	again, err := nccl.ParseFacts(f.String())
	require.NoError(t, err)
	require.Equal(t, f, again)
	require.True(t, f.Found.Ring.Crosses && f.Found.Tree.FromTop && f.Found.NVLS.NVLink)
	const node = "x sm=90 joined=pcie gpus=2 "
	for text, want := range map[string]string{
		"ring=1/1:0.1":                 "a ring and a tree are expected",
		"ring=1:0 tree=1/1:0":          "speeds are expected",
		"ring=-1/1:0 tree=1/1:0":       "speeds are expected",
		"ring=1/1,fast:0 tree=1/1:0":   "nvlink, ll128",
		"ring=1/1:0.x tree=1/1:0":      "orders of GPUs",
		"ring=1/1:0.0 tree=1/1:0.1":    "each of the 2 GPUs once",
		"ring=1/1:0.1 tree=1/1:0.1.2":  "each of the 2 GPUs once",
		"ring=1/1:0.1/1.0/ tree=1/1:0": "orders of GPUs",
	} {
		_, err := nccl.ParseFacts(node + text)
		require.ErrorContains(t, err, want, text)
	}
}

// TestFound: channels, speeds and orders are those that were found, and nothing is inferred; on
// other nodes they are refused. The sums are right, whichever way the rings go.
func TestFound(t *testing.T) {
	spec := collective.Spec{Kind: collective.AllReduce, Op: collective.Sum, Type: dtype.Float32,
		Ranks: 6, Count: 1 << 20}
	auto, err := algos.FindIn(nccl.Table(), spec.Kind, "nccl:auto")
	require.NoError(t, err)
	o := algos.Options{Machine: foundOnTwo, PerNode: 2}
	pick := auto.Picked(spec, o)
	require.Contains(t, pick.What, "of 4 channels")
	require.NotContains(t, pick.Why, "inferred")
	for _, name := range []string{"nccl:ring", "nccl:tree"} {
		small := spec
		small.Count = 100_003
		a, err := algos.FindIn(nccl.Table(), spec.Kind, name)
		require.NoError(t, err)
		s, err := a.Build(small, o)
		require.NoError(t, err)
		in := numbers(small)
		out := outputs(t, s, in)
		for rank := range out {
			require.Equal(t, out[0], out[rank])
		}
		for i := range out[0] {
			sum := 0.
			for rank := range in {
				sum += float64(in[rank][i])
			}
			require.InDelta(t, sum, out[0][i], .01)
		}
	}
	spec.Ranks = 8
	_, err = auto.Build(spec, algos.Options{Machine: foundOnTwo, PerNode: 4})
	require.ErrorContains(t, err, "a graph of 2 GPUs a node; the collective has 4 of each")
	_, err = auto.Build(spec, algos.Options{PerNode: 2,
		Machine: "x sm=80 joined=pcie gpus=2 pcie=24 ring=12/12:0.1 tree=12/12:0.1"})
	require.ErrorContains(t, err, "a graph of one node")
}
