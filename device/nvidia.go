package device

import "fmt"

// Documents of NVIDIA. Figures with sparsity are halved, and so are those of links in both
// directions together.
const (
	ampere = "NVIDIA, Ampere Architecture In-Depth (2020), table 3"
	limits = "NVIDIA, Ampere Architecture In-Depth (2020), table 4"
	hopper = "NVIDIA, H100 Tensor Core GPU Architecture (white paper), table 3"
	h100DS = "NVIDIA, H100 Tensor Core GPU datasheet"
	h200DS = "NVIDIA, H200 Tensor Core GPU datasheet"
	b200DS = "NVIDIA, HGX B200 datasheet, individual Blackwell GPU"
	v100DS = "NVIDIA, V100 Tensor Core GPU datasheet"
	a100DS = "NVIDIA, A100 Tensor Core GPU datasheet"
	// asked is the driver's report on a device.
	asked   = "cudaGetDeviceProperties of one"
	askB200 = "cudaGetDeviceProperties and nvidia-smi of one, in github.com/pytorch/ao, pull 4002"
)

func v100(gb int) gpu {
	about := fmt.Sprintf("NVIDIA V100 SXM2, %d GB", gb)
	return gpu{name: fmt.Sprintf("v100-%dgb", gb), about: about,
		kernels: voltaKernels(fitted + "DeepBench's, with cuBLAS 10.1, whose times have something of " +
			"the launch"),
		lane: lane("20 GB/s", "Volta"),
		values: append([]Value{
			{"sms", "80", ampere},
			{"blocks_per_sm", "32", limits},
			{"clock", "1530 MHz", ampere},
			{"tensor_clock", "1530 MHz", ampere},
			{"tensor_float16", "125 TFLOP/s", ampere},
			{"vector_float64", "7.8 TFLOP/s", ampere},
			{"vector_float32", "15.7 TFLOP/s", ampere},
			{"vector_float16", "31.4 TFLOP/s", ampere},
			{"hbm_bandwidth", "900 GB/s", ampere},
			{"hbm_capacity", fmt.Sprintf("%d GiB", gb), ampere},
			{"memory_bus", "4096", ampere},
			{"memory_data_rate", "1.755 Gbit/s", ampere},
			{"l2", "6144 KiB", ampere},
			{"copy_engines", "6", asked + ", a V100-SXM2-32GB"},
			{"copy_engine_rate", "150 GB/s", oneEngine},
			{"launch", "2.7 us", "assumed: as A100's"},
			{"graph_node", "1.4 us", "assumed: as A100's"},
			{"nvlink", "150 GB/s", v100DS},
			{"pcie", "16 GB/s", v100DS},
		}, launches()...)}
}

func a100x40() gpu {
	return gpu{name: "a100-40gb", about: "NVIDIA A100 SXM4, 40 GB",
		kernels: ampereKernels("assumed: as those of A100 with 80 GB"),
		lane:    lane("20 GB/s", "Ampere"),
		values: append([]Value{
			{"sms", "108", ampere},
			{"blocks_per_sm", "32", limits},
			{"clock", "1410 MHz", ampere},
			{"tensor_clock", "1410 MHz", ampere},
			{"tensor_float64", "19.5 TFLOP/s", ampere},
			{"tensor_float32", "156 TFLOP/s", ampere},
			{"tensor_float16", "312 TFLOP/s", ampere},
			{"tensor_bfloat16", "312 TFLOP/s", ampere},
			{"tensor_int8", "624 TFLOP/s", ampere},
			{"vector_float64", "9.7 TFLOP/s", ampere},
			{"vector_float32", "19.5 TFLOP/s", ampere},
			{"vector_float16", "78 TFLOP/s", ampere},
			{"vector_bfloat16", "39 TFLOP/s", ampere},
			{"hbm_bandwidth", "1555 GB/s", ampere},
			{"hbm_capacity", "40 GiB", ampere},
			{"memory_bus", "5120", ampere},
			{"memory_data_rate", "2.43 Gbit/s", ampere},
			{"l2", "40960 KiB", ampere},
			{"copy_engines", "3", asked},
			{"copy_engine_rate", "300 GB/s", oneEngine},
			{"launch", "2.7 us", smallKernels + "/a100_80.txt: 64 KiB a kernel at 24 GB/s"},
			{"graph_node", "1.4 us", smallKernels + "/a100_80_graph.txt: 64 KiB a kernel at 48 GB/s"},
			{"nvlink", "300 GB/s", a100DS},
			{"pcie", "32 GB/s", a100DS},
		}, launches()...)}
}

func a100x80() gpu {
	return gpu{name: "a100-80gb", about: "NVIDIA A100 SXM4, 80 GB",
		kernels: ampereKernels(fitted + "vidur's and others'"),
		lane:    lane("20 GB/s", "Ampere"),
		values: with(a100x40().values,
			Value{"hbm_bandwidth", "2039 GB/s", a100DS},
			Value{"hbm_capacity", "80 GiB", a100DS},
			Value{"memory_data_rate", "3.186 Gbit/s", asked + ": 1593 MHz, twice a cycle"})}
}

func h100SXM() gpu {
	return gpu{name: "h100-sxm", about: "NVIDIA H100 SXM5, 80 GB",
		kernels: hopperKernels(fitted + "vidur's, DeepGEMM's and others', and to pipelines of " +
			"docs/published.md (decision 25)"),
		lane: lane("36.7 GB/s", "Hopper"), multicasts: true,
		values: append([]Value{
			multimem("85 %", "Hopper"),
			{"sms", "132", hopper},
			{"blocks_per_sm", "32", cudaBlocks},
			{"clock", "1980 MHz", hopper},
			{"tensor_clock", "1830 MHz", hopper},
			{"tensor_float64", "66.9 TFLOP/s", hopper},
			{"tensor_float32", "494.7 TFLOP/s", hopper},
			{"tensor_float16", "989.4 TFLOP/s", hopper},
			{"tensor_bfloat16", "989.4 TFLOP/s", hopper},
			{"tensor_float8", "1978.9 TFLOP/s", hopper},
			{"tensor_int8", "1978.9 TFLOP/s", hopper},
			{"vector_float64", "33.5 TFLOP/s", hopper},
			{"vector_float32", "66.9 TFLOP/s", hopper},
			{"vector_float16", "133.8 TFLOP/s", hopper},
			{"vector_bfloat16", "133.8 TFLOP/s", hopper},
			{"hbm_bandwidth", "3350 GB/s", h100DS},
			{"hbm_capacity", "80 GiB", h100DS},
			{"memory_bus", "5120", hopper},
			{"memory_data_rate", "5.238 Gbit/s", asked + ": 2619 MHz, twice a cycle"},
			{"l2", "50 MiB", hopper},
			{"copy_engines", "3", "NVIDIA developer forum, thread 365145: asyncEngineCount"},
			{"copy_engine_rate", "450 GB/s", oneEngine},
			{"launch", "2.5 us", "assumed: as H200's"},
			{"graph_node", "1.3 us", "assumed: as H200's"},
			{"nvlink", "450 GB/s", h100DS},
			{"pcie", "64 GB/s", h100DS},
		}, launches()...)}
}

func h100PCIe() gpu {
	return gpu{name: "h100-pcie", about: "NVIDIA H100 PCIe, 80 GB",
		kernels: hopperKernels("assumed: as H100 SXM's"),
		lane:    lane("36.7 GB/s", "Hopper"),
		values: with(h100SXM().values,
			Value{"sms", "114", hopper},
			Value{"clock", "1755 MHz", hopper},
			Value{"tensor_clock", "1620 MHz", hopper},
			Value{"tensor_float64", "51.2 TFLOP/s", hopper},
			Value{"tensor_float32", "378 TFLOP/s", hopper},
			Value{"tensor_float16", "756 TFLOP/s", hopper},
			Value{"tensor_bfloat16", "756 TFLOP/s", hopper},
			Value{"tensor_float8", "1513 TFLOP/s", hopper},
			Value{"tensor_int8", "1513 TFLOP/s", hopper},
			Value{"vector_float64", "25.6 TFLOP/s", hopper},
			Value{"vector_float32", "51.2 TFLOP/s", hopper},
			Value{"vector_float16", "102.4 TFLOP/s", hopper},
			Value{"vector_bfloat16", "102.4 TFLOP/s", hopper},
			Value{"hbm_bandwidth", "2039 GB/s", asked + "; the datasheet has 2 TB/s"},
			Value{"memory_data_rate", "3.186 Gbit/s", asked + ": 1593 MHz, twice a cycle"},
			Value{"copy_engines", "3", asked},
			Value{"copy_engine_rate", "300 GB/s", oneEngine},
			Value{"nvlink", "300 GB/s", h100DS + "; with a bridge"})}
}

// h200 returns an H100 with other memory: its datasheet has the same peaks, in rounder numbers.
func h200() gpu {
	values := without(h100SXM().values, "memory_bus", "memory_data_rate") // not published
	return gpu{name: "h200", about: "NVIDIA H200 SXM5, 141 GB",
		kernels: hopperKernels("assumed: as H100 SXM's"),
		lane:    lane("36.7 GB/s", "Hopper"), multicasts: true,
		values: with(values,
			Value{"tensor_float64", "67 TFLOP/s", h200DS},
			Value{"tensor_float32", "494.5 TFLOP/s", h200DS},
			Value{"tensor_float16", "989.5 TFLOP/s", h200DS},
			Value{"tensor_bfloat16", "989.5 TFLOP/s", h200DS},
			Value{"tensor_float8", "1979 TFLOP/s", h200DS},
			Value{"tensor_int8", "1979 TFLOP/s", h200DS},
			Value{"vector_float64", "33.5 TFLOP/s", "assumed: as H100 SXM's; the datasheet rounds to 34"},
			Value{"vector_float32", "67 TFLOP/s", h200DS},
			Value{"vector_float16", "133.8 TFLOP/s", "assumed: as H100 SXM's"},
			Value{"vector_bfloat16", "133.8 TFLOP/s", "assumed: as H100 SXM's"},
			Value{"sms", "132", asked},
			Value{"clock", "1980 MHz", "assumed: as H100 SXM's"},
			Value{"tensor_clock", "1830 MHz", "assumed: as H100 SXM's"},
			Value{"hbm_bandwidth", "4800 GB/s", h200DS},
			Value{"hbm_capacity", "141 GiB", h200DS},
			Value{"l2", "50 MiB", "assumed: as H100's"},
			Value{"copy_engines", "3", "assumed: as H100's"},
			Value{"launch", "2.5 us", smallKernels + "/h200.txt: 64 KiB a kernel at 26 GB/s"},
			Value{"graph_node", "1.3 us", smallKernels + "/h200_graph.txt: 64 KiB a kernel at 51 GB/s"},
			Value{"nvlink", "450 GB/s", h200DS},
			Value{"pcie", "64 GB/s", h200DS})}
}

func b200() gpu {
	return gpu{name: "b200", about: "NVIDIA B200 SXM, 180 GB",
		kernels: blackwellKernels("by hand to seven published times, internal/kernelfit/testdata"),
		lane:    lane("40 GB/s", "Blackwell"), multicasts: true,
		values: append([]Value{
			multimem("74 %", "Blackwell"),
			{"sms", "148", askB200},
			{"blocks_per_sm", "32", cudaBlocks},
			{"clock", "1965 MHz", "nvidia-smi of one: the most that an SM may have"},
			{"tensor_float64", "37 TFLOP/s", b200DS},
			{"tensor_float32", "1100 TFLOP/s", b200DS},
			{"tensor_float16", "2250 TFLOP/s", b200DS},
			{"tensor_bfloat16", "2250 TFLOP/s", b200DS},
			{"tensor_float8", "4500 TFLOP/s", b200DS},
			{"tensor_int8", "4500 TFLOP/s", b200DS},
			{"vector_float64", "37 TFLOP/s", b200DS},
			{"vector_float32", "75 TFLOP/s", b200DS},
			{"hbm_bandwidth", "7700 GB/s", b200DS},
			{"hbm_capacity", "180 GiB", b200DS},
			{"memory_bus", "7680", askB200},
			{"memory_data_rate", "7.992 Gbit/s", askB200 + ": 3996 MHz, twice a cycle"},
			{"l2", "129536 KiB", askB200},
			{"copy_engines", "3", "assumed: as H100's"},
			{"copy_engine_rate", "900 GB/s", oneEngine},
			{"launch", "2.5 us", "assumed: as H200's"},
			{"graph_node", "1.3 us", "assumed: as H200's"},
			{"nvlink", "900 GB/s", b200DS},
			{"pcie", "64 GB/s", b200DS},
		}, launches()...)}
}
