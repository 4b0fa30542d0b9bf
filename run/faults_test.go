package run_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"collsim/collective"
	"collsim/hw"
	"collsim/hw/callbacks"
	"collsim/hw/host"
	"collsim/hw/hwtest"
	"collsim/internal/tier"
	"collsim/run"
	"collsim/scenarios"
	"collsim/topology"
)

// faulty is a scenario of one fault on six ranks, of all algorithms of a kind.
const faulty = `name = "faulty"
[topology]
preset = "switch"
ranks = 6
bandwidth = "1 GB/s"
latency = "1 us"
[[fault]]
rank = %d
does = "%s"
step = %d
[collective]
kind = "%v"
algorithm = "all"
%s
[check]
proof = false
numbers = false
`

// executeFaulty validates a scenario on an executor.
func executeFaulty(t *testing.T, text string, open func() (hw.Executor, error),
	set ...string) *run.Report {
	t.Helper()
	s, err := run.Load("s.toml", []byte(text), run.LoadOptions{Set: set})
	require.NoError(t, err, text)
	r, err := s.Validate(context.Background(), run.ValidateOptions{
		Open: func(context.Context, *scenarios.Hardware, *topology.Graph) (hw.Executor, error) {
			return open()
		}})
	require.NoError(t, err, text)
	return r
}

// kindsWithSize lists collectives with the key of their size.
var kindsWithSize = map[collective.Kind]string{collective.AllReduce: "count = 600",
	collective.AllGather: "count = 600", collective.ReduceScatter: "count = 600",
	collective.AllToAll: "count = 600", collective.Broadcast: "count = 600",
	collective.Reduce: "count = 600", collective.Gather: "count = 600",
	collective.Scatter: "count = 600", collective.Barrier: ""}

// TestFaultsAgree injects random faults into all algorithms, carried out by callbacks in random
// orders. The same ranks end as in the simulation, which shares the schedule alone. Each rank has
// one outcome. Where ranks depend on all others, no outcome is success.
func TestFaultsAgree(t *testing.T) {
	hangs, ended := 0, 0
	for _, kind := range collective.Kinds() {
		size, of := kindsWithSize[kind]
		if !of {
			continue
		}
		for seed := range tier.Raced(1, 3, 40) {
			draw := rand.New(rand.NewPCG(uint64(seed), uint64(kind)))
			does := []string{"stops", "dies", "drops", "late 3 us"}[draw.IntN(4)]
			text := fmt.Sprintf(faulty, draw.IntN(6), does, 0, kind, size)
			at := fmt.Sprintf(`fault=[{ rank = %d, does = "%s", at = "%d ns" }]`, draw.IntN(6), does,
				draw.IntN(6000))
			r := executeFaulty(t, text, func() (hw.Executor, error) {
				return callbacks.New(callbacks.Shuffled(int64(seed))), nil
			}, at)
			for _, result := range r.Results {
				f, m := result.Faulted, result.Measured
				require.Empty(t, m.Skipped)
				require.True(t, result.Good(), "%v %s: %+v", result.Point.ID, at, m.Told)
				var success []int
				for _, told := range m.Told {
					require.Equal(t, 1, told.Times)
					if told.Err == "" {
						success = append(success, told.Rank)
					}
				}
				switch {
				case !f.Hangs:
					require.Len(t, success, 6)
					require.Equal(t, "equal", m.Bits)
				case kind.Rooted():
					hangs++
					ended += len(f.Ended)
					require.Equal(t, f.Ended, success, "%v %s", result.Point.ID, at)
				default:
					hangs++
					require.Empty(t, success)
				}
			}
		}
	}
	require.Positive(t, hangs)
	require.Positive(t, ended)
}

// TestFaultsOnHost: so do ranks in processes and in goroutines; one that dies ends its process.
func TestFaultsOnHost(t *testing.T) {
	t.Parallel() // it is mostly waiting
	for _, transport := range []host.Transport{host.Goroutines, host.Unix, host.TCP} {
		for _, does := range []string{"stops", "dies", "drops", "late 3 ms"} {
			for _, kind := range []string{"broadcast", "all_gather"} {
				t.Run(fmt.Sprint(transport, does, kind), func(t *testing.T) {
					t.Parallel()
					timeout := hwtest.Patient(time.Second)
					text := fmt.Sprintf(faulty, 2, does, 0, kind, "count = 600")
					r := executeFaulty(t, text, func() (hw.Executor, error) {
						return host.New(host.Config{Transport: transport})
					}, fmt.Sprintf(`hardware.timeout="%d ms"`, timeout.Milliseconds()),
						map[string]string{"broadcast": "collective.algorithm=chain",
							"all_gather": "collective.algorithm=ring"}[kind])
					result := r.Results[0]
					require.True(t, result.Good(), "%v %s: %+v", transport, does, result.Measured.Told)
					require.Equal(t, does[:4] != "late", result.Faulted.Hangs)
					if result.Faulted.Hangs && kind == "all_gather" {
						require.False(t, slices.ContainsFunc(result.Measured.Told, func(t run.Told) bool {
							return t.Err == ""
						}))
					}
				})
			}
		}
	}
}

// TestFaultsRefused: executors that inject none leave such results out.
func TestFaultsRefused(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{`fault=[{ rank = 1, does = "stops", step = 900 }]`, "no such step; 0 to "},
		{`fault=[{ rank = 6, does = "stops", step = 1 }]`, "0 to 5 is expected"},
		{`fault=[{ rank = 1, does = "leaps", step = 1 }]`, "stops, dies, drops"},
		{`fault=[{ rank = 1, does = "late", step = 1 }]`, "how late is expected"},
		{`fault=[{ rank = 1, does = "late soon", step = 1 }]`, "late 5 us"},
		{`fault=[{ rank = 1, does = "stops" }]`, "at, step or, of a program, op"},
		{`fault=[{ rank = 1, does = "stops", op = "x" }]`, "has no ops"},
		{`fault=[{ rank = 1, does = "stops", at = "1 us", step = 1 }]`, "says when already"},
	} {
		text := fmt.Sprintf(faulty, 2, "stops", 1, "all_reduce", "count = 600")
		s, err := run.Load("s.toml", []byte(text), run.LoadOptions{Set: []string{c.set}})
		if err == nil {
			_, err = s.Run(context.Background(), run.RunOptions{})
		}
		require.ErrorContains(t, err, c.want)
	}
}
