package device

// GPUs that differ from another one in memory, clocks or the number of SMs.

// Documents of several of them.
const (
	gh200DS   = "NVIDIA, GH200 Grace Hopper Superchip datasheet, HBM3"
	nvl72     = "NVIDIA, GB200 NVL72 datasheet, a 72nd"
	nvl72u    = "NVIDIA, GB300 NVL72 datasheet, a 72nd"
	hgxB300   = "NVIDIA, HGX B300 specifications, an eighth"
	ultraBlog = "NVIDIA, Inside NVIDIA Blackwell Ultra (2025)"
	// pr196944 has the data sheet's figures of one GB300.
	pr196944 = "github.com/pytorch/pytorch, pull 196944"
	leonardo = "M. Turisini and others, LEONARDO (arXiv:2307.16885), table of the GPU, as recalled"
	asB200   = "assumed: as B200's"
	asA100   = "assumed: as A100's"
	asH100   = "assumed: as H100 SXM's"
)

// without drops figures of a related GPU that are not published for this one.
func without(values []Value, figures ...string) (list []Value) {
	for _, v := range values {
		keep := true
		for _, f := range figures {
			keep = keep && v.Figure != f
		}
		if keep {
			list = append(list, v)
		}
	}
	return list
}

func v100PCIe() gpu {
	return gpu{name: "v100-pcie", about: "NVIDIA V100 PCIe, 32 GB",
		kernels: voltaKernels("assumed: as V100 SXM2's"),
		lane:    lane("20 GB/s", "Volta"),
		values: with(without(v100(32).values, "nvlink"),
			Value{"clock", "1380 MHz", v100DS + ": at which 80 SMs have its peaks"},
			Value{"tensor_clock", "1380 MHz", v100DS + ": at which 80 SMs have its peaks"},
			Value{"tensor_float16", "112 TFLOP/s", v100DS},
			Value{"vector_float64", "7 TFLOP/s", v100DS},
			Value{"vector_float32", "14 TFLOP/s", v100DS},
			Value{"vector_float16", "28 TFLOP/s", "assumed: twice float32's, as V100 SXM2's"},
			Value{"copy_engine_rate", "16 GB/s", oneEngine})}
}

func a100PCIe() gpu {
	return gpu{name: "a100-pcie", about: "NVIDIA A100 PCIe, 80 GB",
		kernels: ampereKernels("assumed: as those of A100 with 80 GB"),
		lane:    lane("20 GB/s", "Ampere"),
		values: with(a100x80().values,
			Value{"hbm_bandwidth", "1935 GB/s", a100DS},
			Value{"memory_data_rate", "3.024 Gbit/s", "assumed: 1512 MHz, twice a cycle, which is the " +
				"datasheet's bandwidth"},
			Value{"nvlink", "300 GB/s", a100DS + "; with a bridge"})}
}

func a100x64() gpu {
	return gpu{name: "a100-64gb", about: "NVIDIA A100 of Leonardo, 64 GB",
		kernels: ampereKernels("assumed: as those of A100 with 80 GB"),
		lane:    lane("20 GB/s", "Ampere"),
		values: with(without(a100x40().values, "memory_bus", "memory_data_rate"),
			Value{"sms", "124", leonardo},
			Value{"tensor_float64", "22.4 TFLOP/s", leonardo},
			Value{"tensor_float32", "179 TFLOP/s", "assumed: that of 124 SMs at A100's clock"},
			Value{"tensor_float16", "358 TFLOP/s", "assumed: that of 124 SMs at A100's clock"},
			Value{"tensor_bfloat16", "358 TFLOP/s", "assumed: that of 124 SMs at A100's clock"},
			Value{"tensor_int8", "716 TFLOP/s", "assumed: that of 124 SMs at A100's clock"},
			Value{"vector_float64", "11.2 TFLOP/s", leonardo},
			Value{"vector_float32", "22.4 TFLOP/s", leonardo},
			Value{"vector_float16", "89.5 TFLOP/s", "assumed: that of 124 SMs at A100's clock"},
			Value{"vector_bfloat16", "44.8 TFLOP/s", "assumed: that of 124 SMs at A100's clock"},
			Value{"hbm_bandwidth", "1640 GB/s", leonardo},
			Value{"hbm_capacity", "64 GiB", "CINECA, Leonardo, hardware overview"},
			Value{"l2", "32 MiB", "assumed: four fifths of A100's, as its memory's stacks are"})}
}

func h100x64() gpu {
	return gpu{name: "h100-64gb", about: "NVIDIA H100 of MareNostrum 5, 64 GB",
		kernels: hopperKernels("assumed: as H100 SXM's"),
		lane:    lane("36.7 GB/s", "Hopper"),
		values: with(without(h100SXM().values, "memory_bus", "memory_data_rate"),
			Value{"sms", "132", asH100},
			Value{"hbm_bandwidth", "1640 GB/s", "assumed: as that of a100-64gb, of HBM2e as this one is " +
				"(BSC, MareNostrum 5 overview); nobody gives it"},
			Value{"hbm_capacity", "64 GiB", "BSC, MareNostrum 5 overview"},
			Value{"l2", "50 MiB", asH100})}
}

func gh200() gpu {
	return gpu{name: "gh200", about: "NVIDIA GH200 Grace Hopper, 96 GB",
		kernels: hopperKernels("assumed: as H100 SXM's"),
		lane:    lane("36.7 GB/s", "Hopper"),
		values: with(without(h100SXM().values, "memory_bus", "memory_data_rate"),
			Value{"sms", "132", asH100},
			Value{"hbm_bandwidth", "4000 GB/s", gh200DS},
			Value{"hbm_capacity", "96 GiB", gh200DS},
			Value{"l2", "50 MiB", asH100},
			Value{"nvlink", "450 GB/s", gh200DS},
			Value{"pcie", "64 GB/s", gh200DS})}
}

// gb200 returns one GPU of a GB200. Data sheets describe racks of 72 GPUs, with peaks for sparse
// operands.
func gb200() gpu {
	return gpu{name: "gb200", about: "NVIDIA GB200, one of its two GPUs, 186 GB",
		kernels: blackwellKernels(asB200),
		lane:    lane("40 GB/s", "Blackwell"), multicasts: true,
		values: with(without(b200().values, "clock", "memory_bus", "memory_data_rate"),
			Value{"sms", "152", "cudaGetDeviceProperties, in several public repositories' tests"},
			Value{"tensor_float64", "40 TFLOP/s", nvl72},
			Value{"tensor_float32", "1250 TFLOP/s", nvl72},
			Value{"tensor_float16", "2500 TFLOP/s", nvl72},
			Value{"tensor_bfloat16", "2500 TFLOP/s", nvl72},
			Value{"tensor_float8", "5000 TFLOP/s", nvl72},
			Value{"tensor_int8", "5000 TFLOP/s", nvl72},
			Value{"vector_float64", "40 TFLOP/s", nvl72},
			Value{"vector_float32", "80 TFLOP/s", nvl72},
			Value{"hbm_bandwidth", "8000 GB/s", nvl72},
			Value{"hbm_capacity", "186 GiB", nvl72},
			Value{"l2", "129536 KiB", asB200},
			Value{"nvlink", "900 GB/s", nvl72})}
}

func b300() gpu {
	return gpu{name: "b300", about: "NVIDIA B300 SXM, 288 GB",
		kernels: blackwellKernels(asB200),
		lane:    lane("40 GB/s", "Blackwell"), multicasts: true,
		values: with(without(b200().values, "clock", "memory_bus", "memory_data_rate"),
			Value{"sms", "148", "cudaGetDeviceProperties, in several public repositories' tests"},
			Value{"tensor_float64", "1.25 TFLOP/s", hgxB300},
			Value{"tensor_float32", "1125 TFLOP/s", hgxB300},
			Value{"tensor_float16", "2250 TFLOP/s", hgxB300},
			Value{"tensor_bfloat16", "2250 TFLOP/s", hgxB300},
			Value{"tensor_float8", "4500 TFLOP/s", hgxB300},
			Value{"tensor_int8", "165 TFLOP/s", ultraBlog + ": most of its units gave way " +
				"to 4-bit floats"},
			Value{"vector_float64", "1.25 TFLOP/s", hgxB300},
			Value{"vector_float32", "75 TFLOP/s", hgxB300},
			Value{"hbm_bandwidth", "8000 GB/s", ultraBlog},
			Value{"hbm_capacity", "288 GB", ultraBlog},
			Value{"l2", "129536 KiB", asB200},
			Value{"pcie", "128 GB/s", ultraBlog + ": PCIe 6.0, 16 lanes"})}
}

func gb300() gpu {
	return gpu{name: "gb300", about: "NVIDIA GB300, one of its four GPUs, 279 GB",
		kernels: blackwellKernels(asB200),
		lane:    lane("40 GB/s", "Blackwell"), multicasts: true,
		values: with(b300().values,
			Value{"sms", "152", "cudaGetDeviceProperties, in several public repositories' tests"},
			Value{"tensor_float64", "1.39 TFLOP/s", nvl72u},
			Value{"tensor_float32", "1250 TFLOP/s", nvl72u},
			Value{"tensor_float16", "2500 TFLOP/s", pr196944 + ", and " + nvl72u},
			Value{"tensor_bfloat16", "2500 TFLOP/s", pr196944 + ", and " + nvl72u},
			Value{"tensor_float8", "5000 TFLOP/s", nvl72u},
			Value{"vector_float64", "1.39 TFLOP/s", nvl72u},
			Value{"vector_float32", "83 TFLOP/s", nvl72u},
			Value{"hbm_bandwidth", "8000 GB/s", pr196944},
			Value{"hbm_capacity", "279 GB", pr196944},
			Value{"nvlink", "900 GB/s", nvl72u})}
}
