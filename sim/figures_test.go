package sim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/algos"
	"collsim/collective"
	"collsim/device"
	"collsim/dtype"
	"collsim/schedule"
	"collsim/sim"
	"collsim/topology"
	"collsim/unit"
)

// TestEveryFigureIsSpent: a figure of a device that a scenario can set makes a difference to the
// time of a ring, of a chain whose connections have one slot, of an all-to-all, of a broadcast or
// of sums by a switch: on an ideal device, on one that offloads, or on one that asks for long
// messages; or, on a GPU, to that of kernels of all types, copies and graphs.
func TestEveryFigureIsSpent(t *testing.T) {
	g, err := topology.Build(topology.Params{Preset: "switch", Ranks: 4,
		Bandwidth: 50 * unit.Rate(unit.GB), Latency: unit.Microsecond, Multimem: true})
	require.NoError(t, err)
	type simulated struct {
		*schedule.Schedule
		slots int
	}
	var list []simulated
	for _, one := range []struct {
		kind  collective.Kind
		name  string
		slots int
	}{{collective.AllReduce, "ring", 2}, {collective.Reduce, "chain", 1},
		{collective.AllToAll, "direct", 2}, {collective.Broadcast, "binomial", 0}} {
		a, err := algos.Find(one.kind, one.name)
		require.NoError(t, err)
		spec := collective.Spec{Kind: one.kind, Type: dtype.Float32, Ranks: 4, Count: 1 << 20}
		if one.kind.Reduces() {
			spec.Op = collective.Sum
		}
		s, err := a.Build(spec, algos.Options{})
		require.NoError(t, err)
		list = append(list, simulated{s, one.slots})
	}
	list = append(list, simulated{kernelsOfAllTypes(t), 2}, simulated{twoShotBySwitch(t), 2})
	takes := func(d device.Device) (times []unit.Time) {
		require.NoError(t, d.Validate())
		for _, s := range list {
			r, err := sim.Run(s.Schedule, sim.Env{Graph: g, Device: d, Slots: s.slots}, sim.Options{})
			var stall *schedule.StallError // of long messages that all wait to be asked for
			if errors.As(err, &stall) ||   // a GPU may lack what is launched
				err != nil && strings.Contains(err.Error(), "it needs one") {
				times = append(times, -1)
				continue
			}
			require.NoError(t, err)
			times = append(times, r.LaneEnd...)
		}
		return times
	}
	offloads, asks := device.Ideal(), device.Ideal()
	offloads.Offload, offloads.Queue, offloads.LaneRate = true, 1, 200*unit.Rate(unit.GB)
	asks.EagerLimit, asks.ReceivesAhead = unit.KiB, 3
	gpu, err := device.Lookup("v100-16gb")
	require.NoError(t, err)
	gpu.GPU.BlocksPerSM, gpu.GPU.Tile, gpu.GPU.Priorities = 1, device.Tile{Rows: 16, Columns: 16}, 1
	gpu.GPU.LaunchLatency, gpu.GPU.CopyEngines = 7*unit.Nanosecond, 1
	gpu.GPU.GraphLaunch, gpu.GPU.GraphNode = 7*unit.Nanosecond, 7*unit.Nanosecond
	gpu.GPU.EventLatency = 7 * unit.Nanosecond
	// Kernels as short as they are without what is not of their blocks.
	gpu.GPU.KernelStart, gpu.GPU.MatmulStart, gpu.GPU.BlockStart = 0, 0, 0
	gpu.GPU.MatmulEfficiency, gpu.GPU.VectorEfficiency = 850_000, 0
	gpu.GPU.Unhidden, gpu.GPU.HBMEfficiency = 0, 0
	gpu.GPU.CopyEngineRate = 7 * unit.Rate(unit.GB)
	for _, f := range device.Figures() { // there are units for all types
		if f.Unit == device.InFLOPS && f.Name != "tensor_float32" {
			require.NoError(t, f.Set(&gpu, "100 GFLOP/s"))
		}
	}
	older := gpu // without matrix units
	older.GPU.Tensor = device.Peaks{}
	slow := gpu // its memory, without a cache
	slow.GPU.HBM, slow.GPU.L2 = unit.Rate(unit.GB), 0
	cached := gpu // what its blocks read of the cache holds it back
	cached.GPU.L2Bandwidth = unit.Rate(unit.GB)
	devices := []device.Device{device.Ideal(), offloads, asks, gpu, older, slow, cached}
	var before [][]unit.Time
	for _, d := range devices {
		before = append(before, takes(d))
	}
	for _, f := range device.Figures() {
		if !strings.HasPrefix(f.Key, "device.") || f.Name == "channels" { // package run spends that
			continue
		}
		spent := false
		for i, d := range devices {
			require.NoError(t, f.Set(&d, f.Example))
			if f.Name == "offload" {
				d.Queue = 1
			}
			if d.Offload && d.SendBuffer > 0 {
				continue // these two do not go together
			}
			spent = spent || !slices.Equal(takes(d), before[i])
		}
		require.True(t, spent, "%s = %s: nothing spends it", f.Name, f.Example)
	}
}

// twoShotBySwitch is an all_reduce whose sums and copies a switch makes.
func twoShotBySwitch(t *testing.T) *schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(`schedule two-shot
collective all_reduce float32 sum
ranks 4
count 1048576
group 4
cut in block even 4 by rank
cut out block even 4 by rank
rank *
  lane 0
    reduceSend multimem{0,1,2,3} in[0] to multimem{0,1,2,3} at out[0] @0
`)
	require.NoError(t, err)
	return s
}

// kernelsOfAllTypes is a program of two streams on every rank: matmuls and sums of every type, with
// two blocks on an SM where there is room and of two priorities, and beside them two copies and a
// graph of two kernels, one of which awaits an event of the other stream.
func kernelsOfAllTypes(t *testing.T) *schedule.Schedule {
	t.Helper()
	types := []struct{ name, out string }{{"float64", "float64"}, {"float16", "float16"},
		{"bfloat16", "bfloat16"}, {"float8_e4m3fn", "float16"}, {"int8", "int32"},
		{"float32", "float32"}}
	var b strings.Builder
	b.WriteString("schedule kernels\ncollective custom float32\nranks 4\n")
	for _, x := range types {
		b.WriteString("tensor a_" + x.name + " given " + x.name + " 320x320\n")
		b.WriteString("tensor c_" + x.name + " inner " + x.out + " 320x320\n")
		b.WriteString("tensor s_" + x.name + " inner " + x.name + " 320\n")
	}
	b.WriteString("tensor copied inner float32 320x320\ntensor again inner float32 320x320\n" +
		"tensor moved inner float32 320x320\n")
	b.WriteString("rank 0\n  lane 0\n")
	for _, x := range types {
		a := "a_" + x.name
		b.WriteString("    compute (matmul m=320 k=320 n=320 " + x.name + "*" + x.name + "->" + x.out +
			") " + a + ", " + a + " into c_" + x.name + " post launch(sms per_sm=2 priority=2) @0\n")
		b.WriteString("    compute (sum 320x320 axis=0 " + x.name + "->" + x.name + ") " + a +
			" into s_" + x.name + " launch(sms) @0\n")
	}
	b.WriteString("  lane 1\n    copy a_float32 into copied launch(copy) @0\n" +
		"    compute (sum 320x320 axis=1 float32->float32) a_float32 into s_float32 after 0#1 " +
		"launch(sms graph=1) @1\n" +
		"    compute (sum 320x320 axis=0 float32->float32) a_float32 into s_float32 " +
		"launch(sms graph=1) @1\n" +
		"  lane 2\n    copy a_float32 into again launch(copy) @0\n" +
		"  lane 3\n    compute (sum 320x320 axis=0 float64->float64) a_float64 into s_float64 " +
		"launch(sms priority=3) @0\n" +
		"  lane 4\n    compute (move 320x320 axis=1 float32->float32) a_float32 into moved " +
		"launch(sms) @0\n" +
		"  lane 5\n    compute 7ps launch(host graph=2) @0\n" +
		"    compute 7ps launch(host graph=2) @0\n")
	text := b.String()
	one := text[strings.Index(text, "rank 0\n")+len("rank 0\n"):]
	for _, rank := range []string{"1", "2", "3"} {
		text += "rank " + rank + "\n" + one
	}
	s, err := schedule.Parse(text)
	require.NoError(t, err, text)
	return s
}
