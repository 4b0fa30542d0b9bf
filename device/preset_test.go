package device

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/unit"
)

// TestFigures: names are unique, every row says what it is, and its example can be set and is
// within its bounds.
func TestFigures(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Figures() {
		require.False(t, seen[f.Name], f.Name)
		seen[f.Name] = true
		require.NotEmpty(t, f.Unit.String(), f.Name)
		require.True(t, strings.HasSuffix(f.About, "."), f.Name)
		require.NotEmpty(t, f.Want, f.Name)
		var d Device
		require.NoError(t, f.Set(&d, f.Example))
		require.LessOrEqual(t, f.Least, f.value(&d), f.Name)
		require.LessOrEqual(t, f.value(&d), f.Most, f.Name)
		require.False(t, f.Same(&d, &Device{}), f.Name)
		again := Device{}
		require.NoError(t, f.Set(&again, f.Print(&d)), "what is printed can be read")
		require.Equal(t, d, again)
		for _, other := range Figures() { // a row is of one place
			require.Equal(t, other.Name != f.Name, other.Same(&d, &Device{}), other.Name)
		}
	}
	require.EqualError(t, Find("tile").Set(&Device{}, "128 by 256"),
		`tile = "128 by 256": rows x columns such as 128x256 is expected`)
	require.EqualError(t, Find("clock").Set(&Device{}, "1830"),
		`clock = "1830": frequency such as 1830 MHz is expected`)
	require.EqualError(t, Find("sms").Set(&Device{}, "many"),
		`sms = "many": whole number such as 132 is expected`)
	require.Panics(t, func() { Find("colour") })
}

// TestCatalogue: every value of a preset has a figure of that name, once, within its bounds, and a
// source; what is assumed says so. All can be named.
func TestCatalogue(t *testing.T) {
	var names []string
	seen := map[string]bool{}
	for _, p := range Catalogue() {
		require.False(t, seen[p.Name], p.Name)
		seen[p.Name] = true
		require.NotEmpty(t, p.About)
		names = append(names, p.Name)
		require.NoError(t, p.Validate())
		found, err := Lookup(p.Name)
		require.NoError(t, err)
		require.Equal(t, p.Device, found)
		var d Device
		has := map[string]bool{}
		for _, v := range p.Values {
			require.False(t, has[v.Figure], "%s: %s", p.Name, v.Figure)
			has[v.Figure] = true
			f := Find(v.Figure)
			require.NoError(t, f.Set(&d, v.Text), "%s: %s", p.Name, v.Figure)
			if v.Text != "unlimited" {
				require.LessOrEqual(t, f.Least, f.value(&d))
				require.LessOrEqual(t, f.value(&d), f.Most)
			}
			require.NotEmpty(t, v.Source, "%s: %s", p.Name, v.Figure)
		}
		d.Name, d.Protocols = p.Name, p.Protocols // these stand apart, with sources of their own
		require.Equal(t, p.Device, d, "the device is its values")
	}
	require.Equal(t, Names(), names)
	require.Equal(t, GPU{}, Ideal().GPU, "nothing of it costs anything on ideal")
}

// TestProtocols: NVIDIA's GPUs have the latencies of NCCL's protocols, each with its source, as its
// own tables have them: base, and a hop over NVLink, PCIe and a network. No other device has any.
func TestProtocols(t *testing.T) {
	for _, p := range Catalogue() {
		if !strings.HasPrefix(p.About, "NVIDIA") {
			require.Empty(t, p.Protocols, p.Name)
			continue
		}
		for _, row := range p.Protocols {
			require.NotEmpty(t, row.Source, "%s: %s %s", p.Name, row.Shape, row.Protocol)
			ll, ok := p.ProtocolOf(row.Shape, "ll")
			require.True(t, !ok || row.Network >= ll.Network && ll.Network == 0)
		}
		ring, ok := p.ProtocolOf("ring", "ll128")
		require.True(t, ok)
		require.Equal(t, []unit.Time{14_000_000, 1_900_000, 2_500_000, 4_000_000 - 2_700_000},
			[]unit.Time{ring.Base, ring.NVLink, ring.PCIe, ring.Network})
		least, ok := p.LeastHop()
		require.True(t, ok)
		require.Equal(t, 600*unit.Nanosecond, least.NVLink)
	}
}

// TestEveryGPUHasWhatASimulationNeeds: the figures without which no kernel has a time.
func TestEveryGPUHasWhatASimulationNeeds(t *testing.T) {
	for _, p := range Catalogue()[1:] {
		for _, name := range []string{"sms", "blocks_per_sm", "tensor_float16", "vector_float32",
			"matmul_efficiency", "vector_efficiency", "kernel_start", "matmul_start", "block_start",
			"unhidden", "hbm_efficiency", "l2_bandwidth", "hbm_bandwidth", "hbm_capacity", "l2",
			"copy_engines", "copy_engine_rate", "launch", "launch_latency", "graph_launch", "graph_node",
			"event_latency", "priorities", "pcie", "overhead", "reduce_rate", "copy_rate", "lane_rate"} {
			require.False(t, Find(name).Same(&p.Device, &Device{}), "%s: %s", p.Name, name)
		}
	}
}

// gpuOf is the preset of a name.
func gpuOf(t *testing.T, name string) GPU {
	for _, p := range Catalogue() {
		if p.Name == name {
			return p.GPU
		}
	}
	t.Fatal("no device of the name " + name)
	return GPU{}
}

// TestPeaks: a peak is SMs times operations per clock and SM times the clock, within 1 %. The
// operations are those of the same documents: multiply-adds of the units of an SM, two each.
func TestPeaks(t *testing.T) {
	for name, peaks := range map[string]map[string]int64{
		"v100-16gb":  voltaOperations(),
		"v100-pcie":  voltaOperations(),
		"t4":         turingOperations(128),
		"rtx-2080ti": turingOperations(64), // that accumulate in float32
		"a100-40gb":  ampereOperations(),
		"a100-80gb":  ampereOperations(),
		"a100-pcie":  ampereOperations(),
		"a100-64gb":  ampereOperations(),
		"a10g": {"tensor_float32": 4 * 32 * 2, "tensor_float16": 4 * 64 * 2,
			"tensor_bfloat16": 4 * 64 * 2, "tensor_int8": 4 * 128 * 2, "vector_float64": 2 * 2,
			"vector_float32": 128 * 2, "vector_float16": 128 * 2, "vector_bfloat16": 128 * 2},
		"h100-sxm":  hopperOperations(),
		"h100-pcie": hopperOperations(),
		"h100-64gb": hopperOperations(),
		"h200":      hopperOperations(),
		"gh200":     hopperOperations(),
		"rtx-4090": {"tensor_float32": 4 * 32 * 2, "tensor_float16": 4 * 64 * 2,
			"tensor_bfloat16": 4 * 64 * 2, "tensor_float8": 4 * 128 * 2, "tensor_int8": 4 * 256 * 2,
			"vector_float64": 2 * 2, "vector_float32": 128 * 2, "vector_float16": 128 * 2,
			"vector_bfloat16": 128 * 2},
		"mi250x": {"tensor_float64": 4 * 32 * 2, "tensor_float32": 4 * 32 * 2,
			"tensor_float16": 4 * 128 * 2, "tensor_bfloat16": 4 * 128 * 2, "tensor_int8": 4 * 128 * 2,
			"vector_float64": 64 * 2, "vector_float32": 64 * 2},
		"mi300x": {"tensor_float64": 4 * 32 * 2, "tensor_float32": 4 * 128 * 2,
			"tensor_float16": 4 * 256 * 2, "tensor_bfloat16": 4 * 256 * 2, "tensor_float8": 4 * 512 * 2,
			"tensor_int8": 4 * 512 * 2, "vector_float64": 64 * 2, "vector_float32": 128 * 2},
		"mi355x": {"tensor_float64": 64 * 2, "tensor_float32": 128 * 2,
			"tensor_float16": 4 * 512 * 2, "tensor_bfloat16": 4 * 512 * 2, "tensor_float8": 4 * 1024 * 2,
			"tensor_int8": 4 * 1024 * 2, "vector_float64": 64 * 2, "vector_float32": 128 * 2},
	} {
		d := Device{GPU: gpuOf(t, name)}
		for _, f := range peakFigures() {
			if f.value(&d) == 0 {
				require.Zero(t, peaks[f.Name], "%s: %s", name, f.Name)
				continue
			}
			clock := d.GPU.Clock
			if strings.HasPrefix(f.Name, "tensor_") && f.Name != "tensor_float64" {
				clock = d.GPU.TensorClock
			}
			want := int64(d.GPU.SMs) * peaks[f.Name] * int64(clock)
			require.InEpsilon(t, want, f.value(&d), 0.01, "%s: %s", name, f.Name)
		}
	}
}

func voltaOperations() map[string]int64 {
	return map[string]int64{"tensor_float16": 8 * 64 * 2, "vector_float64": 32 * 2,
		"vector_float32": 64 * 2, "vector_float16": 128 * 2}
}

// turingOperations are those of an SM that does so many products of float16 in a quarter.
func turingOperations(ofHalf int64) map[string]int64 {
	return map[string]int64{"tensor_float16": 4 * ofHalf * 2, "tensor_int8": 8 * 128 * 2,
		"vector_float64": 2 * 2, "vector_float32": 64 * 2, "vector_float16": 128 * 2}
}

func ampereOperations() map[string]int64 {
	return map[string]int64{"tensor_float64": 4 * 16 * 2, "tensor_float32": 4 * 128 * 2,
		"tensor_float16": 4 * 256 * 2, "tensor_bfloat16": 4 * 256 * 2, "tensor_int8": 4 * 512 * 2,
		"vector_float64": 32 * 2, "vector_float32": 64 * 2, "vector_float16": 256 * 2,
		"vector_bfloat16": 128 * 2}
}

func hopperOperations() map[string]int64 {
	return map[string]int64{"tensor_float64": 4 * 32 * 2, "tensor_float32": 4 * 256 * 2,
		"tensor_float16": 4 * 512 * 2, "tensor_bfloat16": 4 * 512 * 2, "tensor_float8": 4 * 1024 * 2,
		"tensor_int8": 4 * 1024 * 2, "vector_float64": 64 * 2, "vector_float32": 128 * 2,
		"vector_float16": 256 * 2, "vector_bfloat16": 256 * 2}
}

// TestMemory: a bandwidth is that of all pins, within 1 %.
func TestMemory(t *testing.T) {
	checked := 0
	for _, p := range Catalogue() {
		if p.GPU.BusBits > 0 {
			checked++
			require.InEpsilon(t, int64(p.GPU.BusBits)*int64(p.GPU.DataRate), int64(p.GPU.HBM), 0.01,
				p.Name)
		}
	}
	require.Equal(t, 15, checked)
}

func TestPeaksOf(t *testing.T) {
	p := gpuOf(t, "h100-sxm").Tensor
	require.Equal(t, p.Float8, p.Of(dtype.Float8E5M2))
	require.Equal(t, "989.4 TFLOP/s", p.Of(dtype.BFloat16).String())
	require.Equal(t, p.Int8, p.Of(dtype.Uint8))
	require.Zero(t, p.Of(dtype.Int64))
	require.Equal(t, "1.83 GHz", gpuOf(t, "h100-sxm").TensorClock.String())
	require.Equal(t, FLOPS(4_500_000*unit.GB), gpuOf(t, "b200").Tensor.Float8)
}

// TestAssign: what has been read of a scenario is the figure that its text is.
func TestAssign(t *testing.T) {
	for _, f := range Figures() {
		var want, have Device
		require.NoError(t, f.Set(&want, f.Example))
		var value any = f.Example
		switch p := f.of(&want).(type) {
		case *unit.Time:
			value = *p
		case *unit.Rate:
			value = *p
		case *unit.Bytes:
			value = *p
		case *unit.Share:
			value = *p
		case *int:
			value = int64(*p)
		case *bool:
			value = *p
		}
		require.NoError(t, f.Assign(&have, value))
		require.Equal(t, want, have, f.Name)
	}
	require.ErrorContains(t, Find("tile").Assign(&Device{}, "8"), `tile = "8": rows x columns`)
}

// TestMulticastsAllocs: every point of a scenario asks, so that the presets are not made again.
func TestMulticastsAllocs(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(10, func() { require.True(t, Multicasts("h100-sxm")) }))
}

// TestPresetsApart: presets that are asked for share no figures that a caller could change.
func TestPresetsApart(t *testing.T) {
	a, b := Catalogue(), Catalogue()
	for i := range a {
		for j := range a[i].Values {
			a[i].Values[j].Text = "changed"
		}
		a[i].Values = append(a[i].Values, Value{Text: "changed"})
		for j := range a[i].Protocols {
			a[i].Protocols[j].Rate = 1
		}
	}
	require.Equal(t, b, Catalogue())
}
