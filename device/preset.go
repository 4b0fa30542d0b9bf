package device

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"collsim/unit"
)

// Preset is a named device with the source of each of its figures.
type Preset struct {
	Device
	About  string
	Values []Value
	// Multicasts reports that every board with these GPUs has NVSwitches that multicast and reduce
	// (NVLink SHARP). A GH200 is sold without them, too.
	Multicasts bool
}

// Value is a figure of a preset, as its source states it. A source is a document and the place in
// it, or "assumed" and the reason.
type Value struct{ Figure, Text, Source string }

// Catalogue lists all devices that a scenario may name. Figures that a preset lacks are zero: there
// is no such engine, or it is not published.
func Catalogue() []Preset {
	all := []Preset{{Device: Ideal(), Values: []Value{
		{"reduce_rate", "unlimited", "by definition"}, {"copy_rate", "unlimited", "by definition"},
		{"lane_rate", "unlimited", "by definition"},
		{"slots", "8", "NCCL, NCCL_STEPS in src/include/device.h"}},
		About: "Only wires cost time: the published closed forms hold."}}
	for _, g := range gpus() {
		all = append(all, g.preset())
	}
	return all
}

// preset converts the GPU to a Preset.
func (g gpu) preset() Preset {
	p := Preset{Device: Device{Name: g.name}, About: g.about, Values: g.all(),
		Multicasts: g.multicasts}
	if strings.HasPrefix(g.about, "NVIDIA") {
		p.Protocols = ncclProtocols()
	}
	for _, v := range p.Values {
		if err := Find(v.Figure).Set(&p.Device, v.Text); err != nil {
			panic(g.name + ": " + err.Error()) // a row of ours; a test reads them all
		}
	}
	return p
}

// gpu is a preset in the notation of this package.
type gpu struct {
	name, about string
	lane        Value // its lane_rate
	values      []Value
	kernels     kernels
	multicasts  bool // Preset.Multicasts
}

// all lists its figures: first the costs of steps; few of these are published.
func (g gpu) all() []Value {
	var d Device
	for _, v := range g.values {
		if v.Figure == "hbm_bandwidth" {
			if err := Find(v.Figure).Set(&d, v.Text); err != nil {
				panic(err)
			}
		}
	}
	half := fmt.Sprintf("%g GB/s", float64(d.GPU.HBM)/2/float64(unit.GB))
	return slices.Concat([]Value{
		{"overhead", "1 us", hopLatency},
		{"reduce_rate", "unlimited", "assumed: a channel's loop adds while it copies, and its pace is " +
			"lane_rate"},
		{"copy_rate", half, "assumed: half of hbm_bandwidth, which a copy crosses twice"},
		g.lane,
		{"channels", "32", manyChannels},
		{"slots", "8", "NCCL, NCCL_STEPS in src/include/device.h"},
	}, g.values, g.kernels.figures())
}

// lane makes a lane_rate from NCCL's tuner.
func lane(rate, row string) Value {
	return Value{"lane_rate", rate, "NCCL, src/graph/tuning.cc, perChMaxRingLL128Bws, " + row +
		": what one channel of a ring moves at most"}
}

// multimem makes a multimem_efficiency from NCCL's tuner.
func multimem(share, row string) Value {
	return Value{"multimem_efficiency", share, "NCCL, src/graph/tuning.cc, nvlsEfficiency, " + row}
}

// gpus lists all presets: NVIDIA's and AMD's by generation, then the generic one. It is read-only.
var gpus = sync.OnceValue(func() []gpu {
	return []gpu{v100(16), v100(32), v100PCIe(), t4(), rtx2080Ti(),
		a100x40(), a100x80(), a100PCIe(), a100x64(), a10g(), rtx4090(),
		h100SXM(), h100PCIe(), h100x64(), h200(), gh200(), b200(), gb200(), b300(), gb300(),
		mi250x(), mi300x(), mi355x(), generic()}
})

// with replaces figures of a related GPU, or adds them.
func with(values []Value, others ...Value) []Value {
	var list []Value
	for _, v := range values {
		for i, o := range others {
			if o.Figure == v.Figure {
				v, others = o, append(append([]Value{}, others[:i]...), others[i+1:]...)
				break
			}
		}
		list = append(list, v)
	}
	return append(list, others...)
}

// Sources of several GPUs, and texts for figures that are not published.
const (
	cudaBlocks = "NVIDIA, CUDA C++ Programming Guide, table of technical specifications by compute " +
		"capability"
	smallKernels = "github.com/te42kyfo/gpu-benches, gpu-small-kernels"
	nullKernel   = "NVIDIA developer forum, thread 233645, reply 3: about that of a null kernel " +
		"on recent hardware and software"
	graphLaunch = "CUDA.jl documentation, Graphs: time of the host for a graph of 80 kernels"
	assumed     = "assumed"
	oneEngine   = "assumed: a copy engine fills the links, which NVIDIA's developer forum says of " +
		"the host's (thread 365145)"
	hopLatency = "assumed: half of the 1.9 us that NCCL's tuner counts for a hop of a ring over " +
		"NVLink with LL128 (src/graph/tuning.cc, hwLat), as the link has the other half"
	manyChannels = "the most that public logs of NCCL show on one node: B200, NVIDIA/nccl#1646; " +
		"H100, with a tuner of AWS's"
	sixPriorities = "assumed: cudaDeviceGetStreamPriorityRange gives 0 to -5 on recent drivers"
)

// launches lists NVIDIA's figures that no datasheet has, except launch and graph_node.
func launches() []Value {
	return []Value{
		{"launch_latency", "3 us", nullKernel},
		{"graph_launch", "3.5 us", graphLaunch},
		{"event_latency", "1 us", assumed},
		{"priorities", "6", sixPriorities},
	}
}
