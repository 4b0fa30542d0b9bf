package device

import (
	"slices"

	"collsim/dtype"
	"collsim/unit"
)

// GPU is what a GPU is described by beside the costs of steps: the engines that compute and copy,
// its memory, and what starting work on it costs. A device with SMs has a GPU model (package
// sim/model); of the ideal device all is zero, and costs nothing.
type GPU struct {
	// SMs is the number of streaming multiprocessors (AMD: compute units), each of which has at
	// most BlocksPerSM blocks at a time.
	SMs, BlocksPerSM int
	// Clock is the boost clock at which Vector peaks are counted, TensorClock that of Tensor peaks.
	Clock, TensorClock Hertz
	// Tensor and Vector are peaks of all SMs together, of dense operands.
	Tensor, Vector Peaks
	// MatmulEfficiency is the part of a peak that a large matmul of whole waves reaches.
	MatmulEfficiency unit.Share
	Tile             Tile
	// HBM is the bandwidth of its memory: BusBits pins of DataRate each.
	HBM      unit.Rate
	Capacity unit.Bytes
	BusBits  int
	DataRate unit.Rate
	L2       unit.Bytes
	// CopyEngines work beside the SMs, each at CopyEngineRate.
	CopyEngines    int
	CopyEngineRate unit.Rate
	// LaunchLatency is how long after its launch a kernel starts; GraphLaunch is the host's time
	// for a whole graph, GraphNode what each kernel in it adds, EventLatency what an event between
	// two streams takes.
	LaunchLatency, GraphLaunch, GraphNode, EventLatency unit.Time
	// Priorities is how many priorities streams may have.
	Priorities int
	// NVLink (AMD: Infinity Fabric) and PCIe are the rates of all its links, each way.
	NVLink, PCIe unit.Rate
}

// Peaks are operations per second by the type of what is multiplied; 0 where there is no such unit.
type Peaks struct{ Float64, Float32, Float16, BFloat16, Float8, Int8 FLOPS }

// Of is the peak of a type; there is none of integers of more than 8 bits.
func (p *Peaks) Of(t dtype.Type) FLOPS {
	switch t {
	case dtype.Float64:
		return p.Float64
	case dtype.Float32:
		return p.Float32
	case dtype.Float16:
		return p.Float16
	case dtype.BFloat16:
		return p.BFloat16
	case dtype.Float8E4M3, dtype.Float8E5M2:
		return p.Float8
	case dtype.Int8, dtype.Uint8:
		return p.Int8
	}
	return 0
}

// gpuNumber, gpuRate and gpuSize are rows of GPU.
func gpuNumber(name, example, about string, of func(*GPU) *int) Figure {
	return Figure{Name: name, Unit: InNumber, Example: example, About: about, Most: mostNumber,
		Want: "a whole number", of: func(d *Device) any { return of(&d.GPU) }}
}

func gpuRate(name, example, about string, of func(*GPU) *unit.Rate) Figure {
	return Figure{Name: name, Unit: InRate, Example: example, About: about, Most: mostRate,
		Want: "a rate", of: func(d *Device) any { return of(&d.GPU) }}
}

func gpuSize(name, example, about string, of func(*GPU) *unit.Bytes) Figure {
	return Figure{Name: name, Unit: InBytes, Example: example, About: about, Most: mostBytes,
		Want: "a size", of: func(d *Device) any { return of(&d.GPU) }}
}

// gpuFigures are the rows of GPU.
func gpuFigures() []Figure {
	list := []Figure{
		gpuNumber("sms", "132", "Streaming multiprocessors; AMD calls them compute units. A device with "+
			"any has a GPU model; 0 is none.",
			func(g *GPU) *int { return &g.SMs }),
		gpuNumber("blocks_per_sm", "32", "Blocks that an SM has at most at a time; 0 is any number.",
			func(g *GPU) *int { return &g.BlocksPerSM }),
	}
	list = append(append(list, clockFigures()...), peakFigures()...)
	list = append(list,
		Figure{Name: "matmul_efficiency", Unit: InShare, Example: "80 %",
			Most: int64(AllEfficiency), Want: "at most 100 %",
			About: "Part of the tensor peak that a large matmul reaches whose blocks fill whole waves.",
			of:    func(d *Device) any { return &d.GPU.MatmulEfficiency }},
		Figure{Name: "tile", Unit: InTile, Example: "128x256", Most: mostNumber * mostNumber,
			Want:  "rows x columns",
			About: "Part of a matmul's result that one block computes.",
			of:    func(d *Device) any { return &d.GPU.Tile }})
	list = append(append(list, memoryFigures()...), launchFigures()...)
	list = append(list,
		gpuNumber("priorities", "6", "Priorities that streams may have: 0 to one less; a higher one is "+
			"the highest. 0 is any number.",
			func(g *GPU) *int { return &g.Priorities }),
		gpuRate("nvlink", "450 GB/s", "All its links to other GPUs, each way; AMD's is Infinity Fabric. "+
			"For information: a topology has its links.",
			func(g *GPU) *unit.Rate { return &g.NVLink }),
		gpuRate("pcie", "64 GB/s", "Its link to the host, each way. For information.",
			func(g *GPU) *unit.Rate { return &g.PCIe }))
	for i := range list {
		list[i].OfGPU = true
		if !slices.Contains(unspent(), list[i].Name) {
			list[i].Key = "device." + list[i].Name
		}
	}
	return list
}

// memoryFigures are those of its memory, and of what copies.
func memoryFigures() []Figure {
	list := []Figure{
		gpuRate("hbm_bandwidth", "3350 GB/s", "Bandwidth of its memory, HBM or GDDR, that kernels, "+
			"copies and messages share; 0 is no limit.",
			func(g *GPU) *unit.Rate { return &g.HBM }),
		gpuSize("hbm_capacity", "80 GiB", "Size of its memory; vendors write GB for 2³⁰ bytes.",
			func(g *GPU) *unit.Bytes { return &g.Capacity }),
		gpuNumber("memory_bus", "5120", "Pins of the memory's bus that carry data.",
			func(g *GPU) *int { return &g.BusBits }),
		gpuRate("memory_data_rate", "5.238 Gbit/s", "What each of these pins carries.",
			func(g *GPU) *unit.Rate { return &g.DataRate }),
		gpuSize("l2", "50 MiB", "Cache before its memory, in which a matmul's blocks find what those "+
			"before them have read; 0 is none.",
			func(g *GPU) *unit.Bytes { return &g.L2 }),
		gpuNumber("copy_engines", "3", "Engines that copy beside the SMs, with a queue each.",
			func(g *GPU) *int { return &g.CopyEngines }),
		gpuRate("copy_engine_rate", "450 GB/s", "What one copy engine copies; 0 is no limit.",
			func(g *GPU) *unit.Rate { return &g.CopyEngineRate }),
	}
	list[0].Most = mostMemory
	return list
}

// unspent are the figures that no simulation spends: other figures follow from them, they are for
// information, or they round operands as numbers do not (TF32).
func unspent() []string {
	return []string{"clock", "tensor_clock", "tensor_float32", "hbm_capacity", "memory_bus",
		"memory_data_rate", "nvlink", "pcie"}
}

func clockFigures() (list []Figure) {
	clock := func(name, about string, of func(*GPU) *Hertz) {
		list = append(list, Figure{Name: name, Unit: InHertz, Example: "1830 MHz", About: about,
			Most: mostWork, Want: "a frequency", of: func(d *Device) any { return of(&d.GPU) }})
	}
	clock("clock", "Boost clock at which the vector peaks are counted.",
		func(g *GPU) *Hertz { return &g.Clock })
	clock("tensor_clock", "Boost clock at which the tensor peaks of up to 32 bits are counted.",
		func(g *GPU) *Hertz { return &g.TensorClock })
	return list
}

func peakFigures() (list []Figure) {
	for _, kind := range []struct {
		name, about string
		of          func(*GPU) *Peaks
	}{
		{"tensor_", "Peak of the matrix units for dense operands of this type.",
			func(g *GPU) *Peaks { return &g.Tensor }},
		{"vector_", "Peak without the matrix units, two operations for a multiply-add.",
			func(g *GPU) *Peaks { return &g.Vector }},
	} {
		for _, peak := range []struct {
			name string
			of   func(*Peaks) *FLOPS
		}{
			{"float64", func(p *Peaks) *FLOPS { return &p.Float64 }},
			{"float32", func(p *Peaks) *FLOPS { return &p.Float32 }},
			{"float16", func(p *Peaks) *FLOPS { return &p.Float16 }},
			{"bfloat16", func(p *Peaks) *FLOPS { return &p.BFloat16 }},
			{"float8", func(p *Peaks) *FLOPS { return &p.Float8 }},
			{"int8", func(p *Peaks) *FLOPS { return &p.Int8 }},
		} {
			about := kind.about
			if kind.name+peak.name == "tensor_float32" {
				about = "Peak of the matrix units for float32 operands, of which they see TF32's 19 bits."
			}
			list = append(list, Figure{Name: kind.name + peak.name, Unit: InFLOPS, About: about,
				Example: "989.4 TFLOP/s", Most: mostWork, Want: "operations per second",
				of: func(d *Device) any { return peak.of(kind.of(&d.GPU)) }})
		}
	}
	return list
}

func launchFigures() (list []Figure) {
	duration := func(name, example, about string, of func(*GPU) *unit.Time) {
		list = append(list, Figure{Name: name, Unit: InTime, Example: example, About: about,
			Most: int64(MaxCost), Want: "a time from 0 s to 1000 s",
			of: func(d *Device) any { return of(&d.GPU) }})
	}
	duration("launch_latency", "3 us", "How long after its launch a kernel starts, at the earliest.",
		func(g *GPU) *unit.Time { return &g.LaunchLatency })
	duration("graph_launch", "3.5 us", "The host's time for the launch of a graph.",
		func(g *GPU) *unit.Time { return &g.GraphLaunch })
	duration("graph_node", "1.3 us", "From a kernel of a graph to the next, on the device.",
		func(g *GPU) *unit.Time { return &g.GraphNode })
	duration("event_latency", "1 us", "From an event on one stream to what waits for it on another.",
		func(g *GPU) *unit.Time { return &g.EventLatency })
	return list
}
