package device

import (
	"math/bits"
	"slices"

	"collsim/dtype"
	"collsim/unit"
)

// GPU describes a GPU beyond the costs of steps: the engines that compute and copy, its memory, and
// the cost of launching work. A device with SMs has a GPU model (package sim/model). Of the ideal
// device all fields are zero and nothing of the GPU takes time.
type GPU struct {
	// SMs is the number of streaming multiprocessors (AMD: compute units). Each holds at most
	// BlocksPerSM blocks at a time.
	SMs, BlocksPerSM int
	// Clock is the boost clock for which Vector peaks are stated, TensorClock that of Tensor peaks.
	Clock, TensorClock Hertz
	// Tensor and Vector are peaks of all SMs together, for dense operands.
	Tensor, Vector Peaks
	// MatmulEfficiency is the share of a tensor peak at which a matmul's blocks compute,
	// Float8Efficiency that for 8-bit floats, VectorEfficiency that of a vector peak. 0 means
	// MatmulEfficiency for the second, all for the others.
	MatmulEfficiency, Float8Efficiency, VectorEfficiency unit.Share
	// Tile is the tile of all matmuls; 0x0 chooses one by shape.
	Tile Tile
	// KernelStart is the least duration of a kernel, and MatmulStart an additional time of a
	// matmul. BlockStart is the time of each of its blocks before and after its products.
	KernelStart, MatmulStart, BlockStart unit.Time
	// Unhidden is the share of the shorter of a wave's arithmetic and memory time that does not
	// overlap with the longer.
	Unhidden unit.Share
	// HBM is the bandwidth of the memory: BusBits pins of DataRate each. Kernels, copies and
	// messages reach the share HBMEfficiency of it; 0 is all.
	HBM           unit.Rate
	HBMEfficiency unit.Share
	Capacity      unit.Bytes
	BusBits       int
	DataRate      unit.Rate
	L2            unit.Bytes
	// L2Bandwidth is the rate at which the blocks of a matmul, on all SMs together, read the L2; 0
	// is no limit.
	L2Bandwidth unit.Rate
	// CopyEngines is the number of engines that copy beside the SMs, each at CopyEngineRate.
	CopyEngines    int
	CopyEngineRate unit.Rate
	// LaunchLatency is the time from the launch of a kernel until it starts. GraphLaunch is the
	// host's time for a whole graph, and GraphNode the time that each kernel in it adds.
	// EventLatency is the time of an event between two streams.
	LaunchLatency, GraphLaunch, GraphNode, EventLatency unit.Time
	// Priorities is the number of stream priorities.
	Priorities int
	// NVLink (AMD: Infinity Fabric) and PCIe are the rates of all its links, in each direction.
	NVLink, PCIe unit.Rate
}

// Peaks holds operations per second by the type of the operands; 0 where there is no such unit.
type Peaks struct{ Float64, Float32, Float16, BFloat16, Float8, Int8 FLOPS }

// Of returns the peak of a type, of complex numbers that of their components; 0 for bool and for
// integers of more than 8 bits.
func (p *Peaks) Of(t dtype.Type) FLOPS {
	switch t.Component() {
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

// Memory returns the achievable bandwidth of the memory.
func (g *GPU) Memory() unit.Rate {
	if g.HBMEfficiency == 0 || g.HBM == unit.Unlimited {
		return g.HBM
	}
	hi, lo := bits.Mul64(uint64(g.HBM), uint64(g.HBMEfficiency))
	rate, _ := bits.Div64(hi, lo, uint64(AllEfficiency)) // a share is at most all
	return unit.Rate(max(rate, 1))
}

// gpuNumber, gpuRate, gpuSize, gpuShare and gpuTime make rows for fields of GPU.
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

func gpuShare(name, example, about string, of func(*GPU) *unit.Share) Figure {
	return Figure{Name: name, Unit: InShare, Example: example, About: about,
		Most: int64(AllEfficiency), Want: "at most 100 %",
		of: func(d *Device) any { return of(&d.GPU) }}
}

func gpuTime(name, example, about string, of func(*GPU) *unit.Time) Figure {
	return Figure{Name: name, Unit: InTime, Example: example, About: about,
		Most: int64(MaxCost), Want: "a time from 0 s to 1000 s",
		of: func(d *Device) any { return of(&d.GPU) }}
}

// gpuFigures lists the figures of GPU.
func gpuFigures() []Figure {
	list := []Figure{
		gpuNumber("sms", "132", "Streaming multiprocessors; AMD calls them compute units. A device with "+
			"any has a GPU model; 0 is none.",
			func(g *GPU) *int { return &g.SMs }),
		gpuNumber("blocks_per_sm", "32", "Blocks that an SM has at most at a time; 0 is any number.",
			func(g *GPU) *int { return &g.BlocksPerSM }),
	}
	list = append(append(list, clockFigures()...), peakFigures()...)
	list = append(append(list, kernelFigures()...), memoryFigures()...)
	list = append(list, launchFigures()...)
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

// kernelFigures lists the figures that determine a kernel's time.
func kernelFigures() []Figure {
	return []Figure{
		gpuShare("matmul_efficiency", "80 %", "Part of the tensor peak at which a matmul's blocks "+
			"compute where nothing else holds them back.",
			func(g *GPU) *unit.Share { return &g.MatmulEfficiency }),
		gpuShare("float8_efficiency", "40 %", "The same of 8-bit floats, where their kernels are "+
			"others; 0 is matmul_efficiency.",
			func(g *GPU) *unit.Share { return &g.Float8Efficiency }),
		gpuShare("vector_efficiency", "93 %", "The same of the vector peak, for matmuls without matrix "+
			"units; 0 is matmul_efficiency.",
			func(g *GPU) *unit.Share { return &g.VectorEfficiency }),
		{Name: "tile", Unit: InTile, Example: "128x256", Most: mostNumber * mostNumber,
			Want: "rows x columns",
			About: "Part of a matmul's result that one block computes; where none is given, the one of a " +
				"list by which it ends first, with K split where that helps.",
			of: func(d *Device) any { return &d.GPU.Tile }},
		gpuTime("kernel_start", "2 us", "The least duration of a kernel, which comes to what its blocks "+
			"take.", func(g *GPU) *unit.Time { return &g.KernelStart }),
		gpuTime("matmul_start", "4 us", "What a matmul takes besides.",
			func(g *GPU) *unit.Time { return &g.MatmulStart }),
		gpuTime("block_start", "1 us", "What each block of a matmul takes before and after its products.",
			func(g *GPU) *unit.Time { return &g.BlockStart }),
		gpuShare("unhidden", "20 %", "Part of the shorter of a wave's arithmetic and its memory "+
			"that takes time beside the longer.",
			func(g *GPU) *unit.Share { return &g.Unhidden }),
	}
}

// memoryFigures lists the figures of the memory and the copy engines.
func memoryFigures() []Figure {
	list := []Figure{
		gpuRate("hbm_bandwidth", "3350 GB/s", "Bandwidth of its memory, HBM or GDDR, that kernels, "+
			"copies and messages share; 0 is no limit.",
			func(g *GPU) *unit.Rate { return &g.HBM }),
		gpuShare("hbm_efficiency", "80 %", "Part of hbm_bandwidth that they reach together; 0 is all.",
			func(g *GPU) *unit.Share { return &g.HBMEfficiency }),
		gpuSize("hbm_capacity", "80 GiB", "Size of its memory; vendors write GB for 2³⁰ bytes.",
			func(g *GPU) *unit.Bytes { return &g.Capacity }),
		gpuNumber("memory_bus", "5120", "Pins of the memory's bus that carry data.",
			func(g *GPU) *int { return &g.BusBits }),
		gpuRate("memory_data_rate", "5.238 Gbit/s", "What each of these pins carries.",
			func(g *GPU) *unit.Rate { return &g.DataRate }),
		gpuSize("l2", "50 MiB", "Cache before its memory, in which a matmul's blocks find what those "+
			"before them have read; 0 is none.",
			func(g *GPU) *unit.Bytes { return &g.L2 }),
		gpuRate("l2_bandwidth", "7 TB/s", "What all SMs together read of that cache: smaller tiles read "+
			"more. Without it no tile is chosen, and one is 128x128; 0 is no limit.",
			func(g *GPU) *unit.Rate { return &g.L2Bandwidth }),
		gpuNumber("copy_engines", "3", "Engines that copy beside the SMs, with a queue each.",
			func(g *GPU) *int { return &g.CopyEngines }),
		gpuRate("copy_engine_rate", "450 GB/s", "What one copy engine copies; 0 is no limit.",
			func(g *GPU) *unit.Rate { return &g.CopyEngineRate }),
	}
	list[0].Most = mostMemory
	return list
}

// unspent lists the figures that no simulation uses. Other figures follow from them, or they are
// for information, or their units round operands as package dtype does not (TF32).
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

func launchFigures() []Figure {
	return []Figure{
		gpuTime("launch_latency", "3 us", "How long after its launch a kernel starts, at the earliest.",
			func(g *GPU) *unit.Time { return &g.LaunchLatency }),
		gpuTime("graph_launch", "3.5 us", "The host's time for the launch of a graph.",
			func(g *GPU) *unit.Time { return &g.GraphLaunch }),
		gpuTime("graph_node", "1.3 us", "From a kernel of a graph to the next, on the device.",
			func(g *GPU) *unit.Time { return &g.GraphNode }),
		gpuTime("event_latency", "1 us", "From an event on one stream to what waits for it on another.",
			func(g *GPU) *unit.Time { return &g.EventLatency }),
	}
}
