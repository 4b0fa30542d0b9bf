package run

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/reference"
)

const swept = `[topology]
preset = "switch"
ranks = 8
bandwidth = "12.5 GB/s"
latency = "1 us"
[collective]
kind = "all_reduce"
algorithm = ["ring", "hierarchical"]
bytes = "64 KiB"
`

const grouped = `[topology.node]
preset = "switch"
bandwidth = "12.5 GB/s"
latency = "1 us"
[topology.network]
preset = "switch"
bandwidth = "12.5 GB/s"
latency = "1 us"
[collective]
kind = "all_reduce"
algorithm = ["ring", "hierarchical"]
bytes = "64 KiB"
[sweep]
"topology.nodes" = [2, 4]
"topology.node.ranks" = [2, 4]
`

// TestSharedChecks: what makes no difference to numbers needs no check of its own, and what does
// gets one: parameters that follow from the network, data, sums, slots, memory.
func TestSharedChecks(t *testing.T) {
	for set, want := range map[string]int{
		`sweep."topology.latency"=["1 us", "2 us", "3 us"]`: 2,
		`sweep."topology.preset"=["ring", "switch"]`:        2,
		`sweep."sim.sharing"=["fifo", "fluid"]`:             2,
		// Of grouped, hierarchical differs between 2 nodes of 4 and 4 of 2.
		"": 7,
		`sweep."collective.dtype"=["float32", "float16"]`:             4,
		`sweep."collective.accumulate"=["native", "float32"]`:         4,
		`sweep."collective.op"=["sum", "max"]`:                        4,
		`sweep."collective.channels"=[1, 2]`:                          4,
		`sweep."collective.in_place"=[true, false]`:                   4,
		`sweep."check.data"=["exact", "normal"]`:                      4,
		`sweep."check.memory"=["1 MiB", "1 GiB"]`:                     4,
		`sweep."sim.slots"=[4, 8]`:                                    4,
		`collective.algorithm=["ring(channels=2)", "ring(slices=2)"]`: 2,
	} {
		text, sets := swept, []string{set}
		if set == "" {
			text, sets = grouped, nil
		}
		s, err := Load("s.toml", []byte(text), LoadOptions{Set: sets})
		require.NoError(t, err, set)
		names := map[string]bool{}
		for _, p := range s.Points {
			m, err := s.make(p, p.Algorithm)
			require.NoError(t, err)
			for _, member := range m.members {
				of := member.schedule
				names[nameOfCheck(of, m, checkOptions(p, dataOf(p, false),
					amountOf(of, p, workOf(of))))] = true
			}
		}
		require.Len(t, names, want, set)

		report, err := s.Run(context.Background(), RunOptions{})
		require.NoError(t, err)
		require.Len(t, report.Results, len(s.Points), set)
		for i, p := range s.Points {
			alone, err := s.RunPoint(p, RunOptions{})
			require.NoError(t, err)
			alone.ran, report.Results[i].ran = nil, nil
			require.Equal(t, alone, report.Results[i], "%s: %s", set, p.ID)
		}
	}
}

// TestSharedOnce: workers that want the same check wait for the one that makes it; a check without
// a name is made every time.
func TestSharedOnce(t *testing.T) {
	s := newShared()
	made := atomic.Int64{}
	check := func() (reference.Report, error) {
		return reference.Report{Checked: made.Add(1)}, nil
	}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			r, err := s.once("a", check)
			require.NoError(t, err)
			require.EqualValues(t, 1, r.Checked)
		})
	}
	workers.Wait()
	for _, anew := range []*shared{s, nil} {
		before := made.Load()
		for i := range int64(2) {
			r, err := anew.once("", check)
			require.NoError(t, err)
			require.Equal(t, before+1+i, r.Checked)
		}
	}
}
