package device

// kernels holds the figures of a GPU, besides the peaks, from which the time of a matmul follows.
// The zero value stands for those of no GPU in particular.
type kernels struct {
	matmul, float8         string // efficiencies; the second is the first if empty
	l2, matmulStart, block string
	source                 string
}

// Sources of these rows.
const (
	fitted  = "fitted to published times, internal/kernelfit/testdata: "
	forAll  = "assumed, of all devices; the figures that are fitted are so beside it"
	leastOf = "the least of vidur's profiles of a + b on A100 and H100, 1 to 2 us in whole us"
)

func voltaKernels(source string) kernels {
	return kernels{"92 %", "", "2.7 TB/s", "8.5 us", "2.5 us", source}
}

func ampereKernels(source string) kernels {
	return kernels{"82 %", "", "7.8 TB/s", "3.7 us", "1.2 us", source}
}

func hopperKernels(source string) kernels {
	return kernels{"82 %", "", "10 TB/s", "2.1 us", "1.5 us", source}
}

func blackwellKernels(source string) kernels {
	return kernels{"85 %", "", "40 TB/s", "1.2 us", "1.5 us", source}
}

func cdnaKernels(float8, source string) kernels {
	return kernels{"50 %", float8, "16 TB/s", "3.5 us", "0.5 us", source}
}

// figures lists the figures in the order of documents.
func (k kernels) figures() []Value {
	if k == (kernels{}) {
		k = kernels{"80 %", "", "10 TB/s", "3 us", "1 us", "assumed: a round number"}
	}
	list := []Value{{"matmul_efficiency", k.matmul, k.source}}
	if k.float8 != "" {
		list = append(list, Value{"float8_efficiency", k.float8, k.source})
	}
	return append(list,
		Value{"vector_efficiency", "90 %", forAll},
		Value{"kernel_start", "1.5 us", leastOf},
		Value{"matmul_start", k.matmulStart, k.source},
		Value{"block_start", k.block, k.source},
		Value{"unhidden", "25 %", forAll},
		Value{"hbm_efficiency", "87 %", forAll + ": additions reach 88 to 97 % of HBM, matmuls less"},
		Value{"l2_bandwidth", k.l2, k.source})
}
