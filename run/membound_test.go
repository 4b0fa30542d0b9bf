package run

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/internal/tier"
	"collsim/scenarios"
	"collsim/unit"
)

const (
	onSwitch = "[topology]\npreset = \"switch\"\nranks = %d\nbandwidth = \"25 GB/s\"\n" +
		"latency = \"1 us\"\n"
	onDGX     = "[topology]\npreset = \"dgx-h100\"\nnodes = %d\n"
	calling   = "[collective]\nkind = %q\nalgorithm = %q\nbytes = %q\n"
	timedOnly = "[check]\nproof = false\nnumbers = false\n"
	proven    = "[check]\nnumbers = false\n"
	computed  = "[check]\nproof = false\n"
)

// TestMemoryBound: no kind of run holds more than check says: twice what is live, since the
// collector lets the heap double, and what a process has that does nothing.
func TestMemoryBound(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const process = 30 * unit.MiB
	for name, text := range map[string]string{
		"events": fmt.Sprintf(onSwitch+calling, 64, "all_reduce", "ring", "1 MiB") +
			timedOnly + "[sim]\nengine = \"event\"\n",
		"packets": fmt.Sprintf(onSwitch+calling, 32, "all_reduce", "ring", "8 MiB") + timedOnly +
			"[sim]\nengine = \"event\"\nsharing = \"fifo\"\nsegment = \"4 KiB\"\n",
		"fold": fmt.Sprintf(onSwitch+calling, 1024, "all_reduce", "ring", "1 MiB") + timedOnly,
		"roles": fmt.Sprintf(onSwitch+calling, 512, "all_reduce", "double-binary-tree", "4 MiB") +
			proven,
		"programs": fmt.Sprintf(onSwitch+calling, 64, "all_reduce", "two-shot", "4 MiB") + timedOnly,
		"sweep": fmt.Sprintf(onSwitch+calling, 1024, "all_reduce", "ring", "1 MiB") + timedOnly +
			"[sim]\nengine = \"sweep\"\n",
		"fastest": fmt.Sprintf(onSwitch+calling, 16, "all_reduce", "fastest", "4 MiB"),
		"numbers": fmt.Sprintf(onSwitch+calling, 8, "all_reduce", "ring", "64 MiB") + computed,
		"outputs": fmt.Sprintf(onSwitch+calling, 2048, "all_reduce", "ring", "64 KiB") + computed,
		"nccl-ring": fmt.Sprintf(onDGX+calling, 8, "all_reduce", "nccl:ring", "16 MiB") +
			timedOnly,
		"nccl-tree":   fmt.Sprintf(onDGX+calling, 8, "all_reduce", "nccl:tree", "16 MiB") + proven,
		"nccl-nvls":   fmt.Sprintf(onDGX+calling, 4, "all_reduce", "nccl:auto", "16 MiB") + proven,
		"nccl-gather": fmt.Sprintf(onDGX+calling, 4, "all_gather", "nccl:auto", "16 MiB"),
		"points": fmt.Sprintf(onSwitch+calling, 8, "all_reduce", "ring", "1 MiB") + timedOnly +
			"[sweep]\ntopology.latency = [" + latencies(500) + "]\n",
		"ops":    exampleOf(t, "training-step"),
		"stages": exampleOf(t, "stages"),
	} {
		s, err := Load(name+".toml", []byte(text), LoadOptions{})
		require.NoError(t, err, name)
		var list []*Estimate
		for _, p := range s.Points {
			e, err := s.Estimate(p)
			require.NoError(t, err, name)
			list = append(list, e)
		}
		for _, p := range s.Programs {
			e, err := s.EstimateProgram(p)
			require.NoError(t, err, name)
			list = append(list, e)
		}
		_, _, bound := Sum(list)
		live := liveDuring(func() {
			_, err := s.Run(context.Background(), RunOptions{})
			require.NoError(t, err, name)
		})
		require.LessOrEqual(t, process+2*live, bound, "%s: %v live", name, live)
	}
}

func latencies(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("\"%d ns\", ", 100+i)
	}
	return text
}

func exampleOf(t *testing.T, name string) string {
	t.Helper()
	text, err := scenarios.Example(name)
	require.NoError(t, err)
	return string(text)
}

// TestSecondsCounted: the order of magnitude follows from steps and ranks alone. What the network
// and the device are makes no difference to it; twice the steps take twice as long.
func TestSecondsCounted(t *testing.T) {
	estimate := func(set ...string) *Estimate {
		s, err := Load("s.toml", []byte(fmt.Sprintf(onSwitch+calling, 16, "all_reduce", "ring",
			"1 MiB")+timedOnly), LoadOptions{Set: set})
		require.NoError(t, err)
		e, err := s.Estimate(s.Points[0])
		require.NoError(t, err)
		return e
	}
	first := estimate("sim.engine=event")
	require.InDelta(t, 1e-9*(pointTime+eventTime*float64(first.Steps)), first.Seconds, 1e-12)
	for _, set := range []string{"topology.bandwidth=1 GB/s", "topology.latency=1 ms",
		"device.preset=h100-sxm", "sim.sharing=fifo", "check.data=normal"} {
		require.Equal(t, first.Seconds, estimate("sim.engine=event", set).Seconds, set)
	}
	twice := estimate("sim.engine=event", "collective.slices=2")
	require.Equal(t, 2*first.Steps, twice.Steps)
	require.InDelta(t, 1e-9*eventTime*float64(first.Steps), twice.Seconds-first.Seconds, 1e-12)
	swept := estimate("sim.engine=sweep")
	require.InDelta(t, 1e-9*(pointTime+sweepTime*float64(first.Steps)), swept.Seconds, 1e-12)
	require.Equal(t, swept.Seconds, swept.MostSeconds)
	ring := []string{"topology.ranks=2048", `topology.link=[{match="gpu0->switch",latency="1 ms"}]`}
	differ := estimate(ring...) // it is swept, but another schedule may not be
	require.Less(t, differ.Seconds, 0.5)
	require.InDelta(t, differ.Seconds+1e-9*(eventTime-sweepTime)*float64(differ.Steps),
		differ.MostSeconds, 1e-9)
	alike := estimate(ring[0])
	require.Equal(t, alike.Seconds, alike.MostSeconds)
	for seconds, want := range map[float64]float64{0: 1e-3, 0.0029: 1e-3, 0.003: 1e-2, 0.3: 1,
		2.9: 1, 3: 10, 1e6: 1e6} {
		require.Equal(t, want, Magnitude(seconds), seconds)
	}
}

// liveDuring returns the most memory that is live while a function runs, beyond what was before.
// After each collection, a finalizer reads what it found to be live.
func liveDuring(run func()) unit.Bytes {
	defer debug.SetGCPercent(debug.SetGCPercent(tier.Of(10, 2)))
	runtime.GC()
	runtime.GC()
	before := liveNow()
	var most atomic.Uint64
	var ended atomic.Bool
	watch(&most, &ended)
	run()
	ended.Store(true)
	return unit.Bytes(max(most.Load(), before) - before)
}

func liveNow() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// watch takes in what is live after the next collection, and all that follow until it has ended.
func watch(most *atomic.Uint64, ended *atomic.Bool) {
	type collected struct{ most *atomic.Uint64 }
	runtime.SetFinalizer(&collected{most}, func(*collected) {
		if ended.Load() {
			return
		}
		if n := liveNow(); n > most.Load() {
			most.Store(n)
		}
		watch(most, ended)
	})
}
