package device

// Cards without an NVSwitch: for inference and for games.

const (
	t4Brief = "NVIDIA, T4 Tensor Core GPU product brief (PB-09256)"
	turing  = "NVIDIA, Turing GPU Architecture (white paper), table 1, GeForce RTX 2080 Ti, " +
		"reference"
	a10gDS     = "NVIDIA, A10G datasheet"
	ada        = "NVIDIA, Ada GPU Architecture (white paper, v2.1), appendix A, RTX 4090"
	upToVolta  = "Volta, which it takes for all before Ampere"
	upToAmpere = "Ampere, which it takes for all before Hopper"
)

func t4() gpu {
	return gpu{name: "t4", about: "NVIDIA T4, 16 GB",
		kernels: voltaKernels("assumed: as V100 SXM2's"),
		lane:    lane("20 GB/s", upToVolta),
		values: append([]Value{
			{"sms", "40", "NVIDIA, Turing GPU Architecture (white paper), appendix A, Tesla T4"},
			{"blocks_per_sm", "16", cudaBlocks},
			{"clock", "1590 MHz", t4Brief},
			{"tensor_clock", "1590 MHz", t4Brief},
			{"tensor_float16", "65 TFLOP/s", "NVIDIA, T4 datasheet"},
			{"tensor_int8", "130 TFLOP/s", "NVIDIA, T4 datasheet"},
			{"vector_float64", "0.254 TFLOP/s", "assumed: a 32nd of float32's, as of TU104"},
			{"vector_float32", "8.1 TFLOP/s", "NVIDIA, T4 datasheet"},
			{"vector_float16", "16.2 TFLOP/s", "assumed: twice float32's, as of TU102"},
			{"hbm_bandwidth", "320 GB/s", t4Brief},
			{"hbm_capacity", "16 GiB", t4Brief},
			{"memory_bus", "256", t4Brief},
			{"memory_data_rate", "10 Gbit/s", t4Brief + ": 5001 MHz, twice a cycle"},
			{"l2", "4096 KiB", "NVIDIA, Turing GPU Architecture (white paper), appendix A, Tesla T4"},
			{"copy_engines", "3", "assumed: as A100's"},
			{"copy_engine_rate", "16 GB/s", oneEngine},
			{"launch", "2.7 us", asA100},
			{"graph_node", "1.4 us", asA100},
			{"pcie", "16 GB/s", t4Brief},
		}, launches()...)}
}

func rtx2080Ti() gpu {
	return gpu{name: "rtx-2080ti", about: "NVIDIA GeForce RTX 2080 Ti, 11 GB",
		kernels: voltaKernels("assumed: as V100 SXM2's"),
		lane:    lane("20 GB/s", upToVolta),
		values: append([]Value{
			{"sms", "68", turing},
			{"blocks_per_sm", "16", cudaBlocks},
			{"clock", "1545 MHz", turing},
			{"tensor_clock", "1545 MHz", turing},
			{"tensor_float16", "53.8 TFLOP/s", turing + "; float32 accumulation"},
			{"tensor_int8", "215.2 TFLOP/s", turing},
			{"vector_float64", "0.42 TFLOP/s", "assumed: a 32nd of float32's, as of TU102"},
			{"vector_float32", "13.4 TFLOP/s", turing},
			{"vector_float16", "26.9 TFLOP/s", turing},
			{"hbm_bandwidth", "616 GB/s", turing},
			{"hbm_capacity", "11 GiB", turing},
			{"memory_bus", "352", turing},
			{"memory_data_rate", "14 Gbit/s", turing},
			{"l2", "5632 KiB", turing},
			{"copy_engines", "3", "assumed: as A100's"},
			{"copy_engine_rate", "16 GB/s", oneEngine},
			{"launch", "2.7 us", asA100},
			{"graph_node", "1.4 us", asA100},
			{"nvlink", "50 GB/s", "NVIDIA, Turing GPU Architecture (white paper), NVLink; with a bridge"},
			{"pcie", "16 GB/s", "PCIe 3.0, 16 lanes"},
		}, launches()...)}
}

func a10g() gpu {
	return gpu{name: "a10g", about: "NVIDIA A10G, 24 GB",
		kernels: ampereKernels("assumed: as those of A100 with 80 GB"),
		lane:    lane("20 GB/s", upToAmpere),
		values: append([]Value{
			{"sms", "80", "AWS, EC2 G5 instances: 80 RT cores, of which an SM has one"},
			{"blocks_per_sm", "16", cudaBlocks},
			{"clock", "1710 MHz", "assumed: at which 80 SMs have the datasheet's peaks"},
			{"tensor_clock", "1710 MHz", "assumed: at which 80 SMs have the datasheet's peaks"},
			{"tensor_float32", "35 TFLOP/s", a10gDS},
			{"tensor_float16", "70 TFLOP/s", a10gDS},
			{"tensor_bfloat16", "70 TFLOP/s", a10gDS},
			{"tensor_int8", "140 TFLOP/s", a10gDS},
			{"vector_float64", "0.547 TFLOP/s", "assumed: a 64th of float32's, as of GA102"},
			{"vector_float32", "35 TFLOP/s", a10gDS},
			{"vector_float16", "35 TFLOP/s", "assumed: float32's, as of GA102"},
			{"vector_bfloat16", "35 TFLOP/s", "assumed: float32's, as of GA102"},
			{"hbm_bandwidth", "600 GB/s", a10gDS},
			{"hbm_capacity", "24 GiB", a10gDS},
			{"memory_bus", "384", "assumed: all of GA102's"},
			{"memory_data_rate", "12.5 Gbit/s", "assumed: at which 384 pins have the datasheet's bandwidth"},
			{"l2", "6144 KiB", "assumed: all of GA102's"},
			{"copy_engines", "2", "assumed: as RTX 4090's"},
			{"copy_engine_rate", "32 GB/s", oneEngine},
			{"launch", "2.7 us", asA100},
			{"graph_node", "1.4 us", asA100},
			{"pcie", "32 GB/s", a10gDS},
		}, launches()...)}
}

func rtx4090() gpu {
	return gpu{name: "rtx-4090", about: "NVIDIA GeForce RTX 4090, 24 GB",
		kernels: ampereKernels("assumed: as those of A100 with 80 GB"),
		lane:    lane("20 GB/s", upToAmpere),
		values: append([]Value{
			{"sms", "128", ada},
			{"blocks_per_sm", "24", cudaBlocks},
			{"clock", "2520 MHz", ada},
			{"tensor_clock", "2520 MHz", ada},
			{"tensor_float32", "82.6 TFLOP/s", ada},
			{"tensor_float16", "165.2 TFLOP/s", ada + "; float32 accumulation"},
			{"tensor_bfloat16", "165.2 TFLOP/s", ada},
			{"tensor_float8", "330.3 TFLOP/s", ada + "; float32 accumulation"},
			{"tensor_int8", "660.6 TFLOP/s", ada},
			{"vector_float64", "1.29 TFLOP/s", "assumed: a 64th of float32's, as of AD102"},
			{"vector_float32", "82.6 TFLOP/s", ada},
			{"vector_float16", "82.6 TFLOP/s", ada},
			{"vector_bfloat16", "82.6 TFLOP/s", ada},
			{"hbm_bandwidth", "1008 GB/s", ada},
			{"hbm_capacity", "24 GiB", ada},
			{"memory_bus", "384", ada},
			{"memory_data_rate", "21 Gbit/s", ada},
			{"l2", "73728 KiB", ada},
			{"copy_engines", "2", asked},
			{"copy_engine_rate", "32 GB/s", oneEngine},
			{"launch", "1.6 us", "assumed: as L40's, " + smallKernels +
				"/l40.txt: 64 KiB a kernel at 40 GB/s"},
			{"graph_node", "1 us", "assumed: as L40's, " + smallKernels +
				"/l40_graph.txt: 64 KiB a kernel at 67 GB/s"},
			{"pcie", "32 GB/s", "PCIe 4.0, 16 lanes"},
		}, launches()...)}
}
