package nccl_test

import (
	"os"
	"testing"

	"collsim/algos"
	"collsim/algos/algostest"
	"collsim/algos/nccl"
	"collsim/internal/tier"
)

// TestMain is tier.Main.
func TestMain(m *testing.M) { os.Exit(tier.Main(m)) }

// TestConformance holds every algorithm to the suite.
func TestConformance(t *testing.T) {
	for _, a := range nccl.Table() {
		t.Run(a.Name, func(t *testing.T) {
			all := []int{1, 2, 3, 4, 5, 7, 8, 12, 17}
			algostest.Test(t, a, tier.Raced([]int{3}, []int{1, 2, 3, 6, 8, 13}, all)...)
		})
	}
}

// TestNodes: so are trees and rings over several nodes, chunks of every protocol, and channels.
func TestNodes(t *testing.T) {
	for _, a := range nccl.Table() {
		for _, c := range []struct {
			ranks  int
			params []string // name and value by turns
		}{
			{8, []string{"per_node", "4", "nchannels", "16"}},
			{12, []string{"per_node", "4", "machine", "dgx-a100"}},
			{10, []string{"per_node", "2", "machine", "dgx-v100"}},
			{7, []string{"machine", "socket", "protocol", "simple"}},
			{6, []string{"per_node", "1", "protocol", "ll128", "nchannels", "3"}},
			{4, []string{"protocol", "ll"}},
		} {
			var params []algos.Param
			for i := 0; i < len(c.params); i += 2 {
				if a.Param(c.params[i], algos.Options{}) != "" {
					params = append(params, algos.Param{Name: c.params[i], Value: c.params[i+1]})
				}
			}
			t.Run(a.Name, func(t *testing.T) { algostest.TestAt(t, a, c.ranks, params...) })
		}
	}
}
