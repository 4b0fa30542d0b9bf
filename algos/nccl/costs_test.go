package nccl_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/algos/nccl"
	"collsim/collective"
	"collsim/dtype"
)

// TestThresholds: from each size on, and not from an element less, another way is taken; between
// them none is, at sizes at random.
func TestThresholds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, machine := range nccl.Machines() {
		for _, ranks := range []int{2, 8, 16, 32} {
			for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather,
				collective.Broadcast} {
				a, err := algos.FindIn(nccl.Table(), kind, "nccl:auto")
				require.NoError(t, err)
				perNode := min(ranks, 8)
				if machine.Name == "socket" {
					perNode = 1
				}
				o := algos.Options{Params: []algos.Param{{Name: "machine", Value: machine.Name},
					{Name: "per_node", Value: fmt.Sprint(perNode)}}}
				spec := collective.Spec{Kind: kind, Type: dtype.BFloat16, Ranks: ranks, Count: 1}
				if kind.Reduces() {
					spec.Op = collective.Sum
				}
				list, err := nccl.Thresholds(a, spec, o)
				require.NoError(t, err)
				taken := func(count int64) string {
					spec.Count = count
					p := a.Picked(spec, o)
					return p.Algorithm + " " + p.Protocol
				}
				for i, at := range list {
					require.Equal(t, at.String(), taken(at.Count))
					if i > 0 {
						require.Equal(t, list[i-1].String(), taken(at.Count-1))
					}
				}
				for range 30 {
					count := int64(1) << r.IntN(32)
					if count = max(list[0].Count, count+r.Int64N(count)); spec.Count > 4<<30/int64(ranks) {
						continue
					}
					i := len(list) - 1
					for list[i].Count > count {
						i--
					}
					require.Equal(t, list[i].String(), taken(count), "%v %v %d", machine.Name, kind, count)
				}
			}
		}
	}
}

// TestCosts: the table of a call has the ways in the library's order, why those are off that are,
// and what decided.
func TestCosts(t *testing.T) {
	for _, c := range []struct {
		spec          collective.Spec
		name          string
		o             algos.Options
		taken, decide string
	}{
		{allReduce(8, 1024), "nccl:auto", algos.Options{}, "Ring LL",
			"latency and bandwidth, over Tree LL"},
		{allReduce(8, 1<<24), "nccl:auto", algos.Options{}, "NVLS Simple",
			"latency and bandwidth, over Ring Simple"},
		{allReduce(8, 1<<18), "nccl:ring", algos.Options{NoMulticast: true,
			Params: []algos.Param{{Name: "protocol", Value: "simple"}}}, "Ring Simple",
			"it was asked for; by itself NCCL takes Ring LL"},
		{blocks(collective.AllGather, 4, 1000), "nccl:pat", algos.Options{}, "PAT Simple",
			"it was asked for; by itself NCCL never takes it"},
	} {
		a, err := algos.FindIn(nccl.Table(), c.spec.Kind, c.name)
		require.NoError(t, err)
		x, err := nccl.CostsOf(a, c.spec, c.o)
		require.NoError(t, err)
		require.Equal(t, []string{c.taken, c.decide}, []string{x.Taken.String(), x.Decided})
		for i, w := range x.Ways {
			require.Equal(t, w.Off == "", w.Time > 0, w.String())
			require.True(t, i == 0 || x.Ways[i-1].Algorithm < w.Algorithm ||
				x.Ways[i-1].Algorithm == w.Algorithm && x.Ways[i-1].Protocol < w.Protocol)
		}
	}
}
