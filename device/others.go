package device

// Documents of AMD. Links in both directions together are halved.
const (
	mi300DS = "AMD, Instinct MI300X data sheet"
	mi250DS = "AMD, Instinct MI250X data sheet, half"
	mi355DS = "AMD, Instinct MI355X data sheet"
	mi300ua = "AMD, ROCm documentation, MI300 series microarchitecture"
)

func mi300x() gpu {
	return gpu{name: "mi300x", about: "AMD Instinct MI300X OAM, 192 GB",
		kernels: cdnaKernels("27 %", fitted+"aiter's; of 8-bit floats it has kernels that scale by "+
			"blocks"),
		lane: Value{"lane_rate", "20 GB/s", "assumed: as NVIDIA's Ampere"}, values: []Value{
			{"sms", "304", mi300DS},
			{"blocks_per_sm", "32", "assumed: as many as waves fit"},
			{"clock", "2100 MHz", mi300DS},
			{"tensor_clock", "2100 MHz", mi300DS},
			{"tensor_float64", "163.4 TFLOP/s", mi300DS},
			{"tensor_float32", "653.7 TFLOP/s", mi300DS},
			{"tensor_float16", "1307.4 TFLOP/s", mi300DS},
			{"tensor_bfloat16", "1307.4 TFLOP/s", mi300DS},
			{"tensor_float8", "2614.9 TFLOP/s", mi300DS},
			{"tensor_int8", "2614.9 TFLOP/s", mi300DS},
			{"vector_float64", "81.7 TFLOP/s", mi300DS},
			{"vector_float32", "163.4 TFLOP/s", mi300DS},
			{"hbm_bandwidth", "5300 GB/s", mi300DS},
			{"hbm_capacity", "192 GiB", mi300DS},
			{"memory_bus", "8192", mi300DS},
			{"memory_data_rate", "5.2 Gbit/s", mi300DS},
			{"l2", "256 MiB", mi300ua + ": Infinity Cache; before it 4 MB of L2 a die, 8 dies"},
			{"copy_engines", "16", "assumed: two a die"},
			{"copy_engine_rate", "64 GB/s", "assumed: an engine fills one of 7 links of Infinity Fabric"},
			{"launch", "2.1 us", "assumed: as MI210's, " + smallKernels +
				"/mi210.txt: 64 KiB a kernel at 31 GB/s"},
			{"launch_latency", "3 us", assumed},
			{"graph_launch", "3.5 us", assumed},
			{"graph_node", "2 us", "assumed: as MI210's, " + smallKernels +
				"/mi210_graph.txt: 64 KiB a kernel at 32 GB/s"},
			{"event_latency", "1 us", assumed},
			{"priorities", "3", "assumed: HIP has high, normal and low"},
			{"nvlink", "448 GB/s", mi300DS},
			{"pcie", "64 GB/s", mi300DS},
		}}
}

// mi250x returns one of the two dies of an MI250X. Each is a GPU to its host.
func mi250x() gpu {
	return gpu{name: "mi250x", about: "AMD Instinct MI250X, one of its two dies (GCD), 64 GB",
		kernels: cdnaKernels("", "assumed: as MI300X's"),
		lane:    Value{"lane_rate", "20 GB/s", "assumed: as NVIDIA's Ampere"},
		values: with(without(mi300x().values, "tensor_float8"),
			Value{"sms", "110", mi250DS},
			Value{"clock", "1700 MHz", mi250DS},
			Value{"tensor_clock", "1700 MHz", mi250DS},
			Value{"tensor_float64", "47.9 TFLOP/s", mi250DS},
			Value{"tensor_float32", "47.9 TFLOP/s", mi250DS},
			Value{"tensor_float16", "191.5 TFLOP/s", mi250DS},
			Value{"tensor_bfloat16", "191.5 TFLOP/s", mi250DS},
			Value{"tensor_int8", "191.5 TFLOP/s", mi250DS},
			Value{"vector_float64", "23.9 TFLOP/s", mi250DS},
			Value{"vector_float32", "23.9 TFLOP/s", mi250DS},
			Value{"hbm_bandwidth", "1638.4 GB/s", mi250DS},
			Value{"hbm_capacity", "64 GiB", mi250DS},
			Value{"memory_bus", "4096", mi250DS},
			Value{"memory_data_rate", "3.2 Gbit/s", mi250DS},
			Value{"l2", "8 MiB", "AMD, CDNA 2 (white paper): L2 of a die; there is no Infinity Cache"},
			Value{"copy_engines", "8", "assumed: an engine a link"},
			Value{"copy_engine_rate", "50 GB/s", "assumed: an engine fills one link of Infinity Fabric"},
			Value{"nvlink", "200 GB/s", mi250DS + ": 4 links out of the package, 50 GB/s each"},
			Value{"pcie", "32 GB/s", mi250DS})}
}

func mi355x() gpu {
	return gpu{name: "mi355x", about: "AMD Instinct MI355X OAM, 288 GB",
		kernels: cdnaKernels("", "assumed: as MI300X's"),
		lane:    Value{"lane_rate", "20 GB/s", "assumed: as NVIDIA's Ampere"},
		values: with(without(mi300x().values, "memory_bus", "memory_data_rate"),
			Value{"sms", "256", mi355DS},
			Value{"clock", "2400 MHz", mi355DS},
			Value{"tensor_clock", "2400 MHz", mi355DS},
			Value{"tensor_float64", "78.6 TFLOP/s", mi355DS},
			Value{"tensor_float32", "157.3 TFLOP/s", mi355DS},
			Value{"tensor_float16", "2516.6 TFLOP/s", mi355DS},
			Value{"tensor_bfloat16", "2516.6 TFLOP/s", mi355DS},
			Value{"tensor_float8", "5033.2 TFLOP/s", mi355DS},
			Value{"tensor_int8", "5033.2 TFLOP/s", mi355DS},
			Value{"vector_float64", "78.6 TFLOP/s", mi355DS},
			Value{"vector_float32", "157.3 TFLOP/s", mi355DS},
			Value{"hbm_bandwidth", "8000 GB/s", mi355DS},
			Value{"hbm_capacity", "288 GB", mi355DS},
			Value{"l2", "256 MiB", mi355DS + ": Infinity Cache"},
			Value{"copy_engine_rate", "76.5 GB/s", "assumed: an engine fills one of 7 links of Infinity " +
				"Fabric"},
			Value{"nvlink", "535.5 GB/s", "S. Bekman, Machine Learning Engineering, network: 7 links of " +
				"76.5 GB/s"},
			Value{"pcie", "64 GB/s", mi355DS})}
}

// generic has round numbers similar to an H100's, for what-if studies.
func generic() gpu {
	var values []Value
	for _, v := range []Value{{"sms", "128", ""}, {"blocks_per_sm", "32", ""},
		{"tensor_float64", "50 TFLOP/s", ""}, {"tensor_float32", "500 TFLOP/s", ""},
		{"tensor_float16", "1000 TFLOP/s", ""}, {"tensor_bfloat16", "1000 TFLOP/s", ""},
		{"tensor_float8", "2000 TFLOP/s", ""}, {"tensor_int8", "2000 TFLOP/s", ""},
		{"vector_float64", "25 TFLOP/s", ""}, {"vector_float32", "50 TFLOP/s", ""},
		{"vector_float16", "100 TFLOP/s", ""}, {"vector_bfloat16", "100 TFLOP/s", ""},
		{"hbm_bandwidth", "3000 GB/s", ""},
		{"hbm_capacity", "80 GiB", ""}, {"l2", "50 MiB", ""}, {"copy_engines", "2", ""},
		{"copy_engine_rate", "400 GB/s", ""}, {"launch", "2.5 us", ""},
		{"launch_latency", "3 us", ""}, {"graph_launch", "3.5 us", ""}, {"graph_node", "1 us", ""},
		{"event_latency", "1 us", ""}, {"priorities", "6", ""}, {"nvlink", "400 GB/s", ""},
		{"pcie", "50 GB/s", ""}} {
		v.Source = "assumed: a round number"
		values = append(values, v)
	}
	return gpu{name: "generic", about: "no GPU in particular: round numbers",
		lane: Value{"lane_rate", "40 GB/s", "assumed: a round number"}, values: values}
}
