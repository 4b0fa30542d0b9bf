package device

import "slices"

// kernelRow holds the figures, besides the peaks, from which the time of a matmul follows on some
// devices.
type kernelRow struct {
	devices                []string
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

// kernelRows lists rows that cover every device.
func kernelRows() []kernelRow {
	return []kernelRow{
		{[]string{"v100-16gb", "v100-32gb"}, "92 %", "", "2.7 TB/s", "8.5 us", "2.5 us",
			fitted + "DeepBench's, with cuBLAS 10.1, whose times have something of the launch"},
		{[]string{"v100-pcie", "t4", "rtx-2080ti"}, "92 %", "", "2.7 TB/s", "8.5 us", "2.5 us",
			"assumed: as V100 SXM2's"},
		{[]string{"a100-80gb"}, "82 %", "", "7.8 TB/s", "3.7 us", "1.2 us",
			fitted + "vidur's and others'"},
		{[]string{"a100-40gb", "a100-pcie", "a100-64gb", "a10g", "rtx-4090"}, "82 %", "", "7.8 TB/s",
			"3.7 us", "1.2 us", "assumed: as those of A100 with 80 GB"},
		{[]string{"h100-sxm"}, "82 %", "", "10 TB/s", "2.1 us", "1.5 us",
			fitted + "vidur's, DeepGEMM's and others', and to pipelines of docs/published.md (decision 25)"},
		{[]string{"h100-pcie", "h100-64gb", "h200", "gh200"}, "82 %", "", "10 TB/s", "2.1 us",
			"1.5 us", "assumed: as H100 SXM's"},
		{[]string{"b200"}, "85 %", "", "40 TB/s", "1.2 us", "1.5 us",
			"by hand to seven published times, internal/kernelfit/testdata"},
		{[]string{"b300", "gb200", "gb300"}, "85 %", "", "40 TB/s", "1.2 us", "1.5 us",
			"assumed: as B200's"},
		{[]string{"mi300x"}, "50 %", "27 %", "16 TB/s", "3.5 us", "0.5 us",
			fitted + "aiter's; of 8-bit floats it has kernels that scale by blocks"},
		{[]string{"mi250x", "mi355x"}, "50 %", "", "16 TB/s", "3.5 us", "0.5 us",
			"assumed: as MI300X's"},
		{[]string{"generic"}, "80 %", "", "10 TB/s", "3 us", "1 us", "assumed: a round number"},
	}
}

// kernelValues returns the figures of a device's row.
func kernelValues(name string) []Value {
	rows := kernelRows()
	i := slices.IndexFunc(rows, func(r kernelRow) bool { return slices.Contains(r.devices, name) })
	r := rows[i] // a test looks up all devices
	list := []Value{{"matmul_efficiency", r.matmul, r.source}}
	if r.float8 != "" {
		list = append(list, Value{"float8_efficiency", r.float8, r.source})
	}
	return append(list,
		Value{"vector_efficiency", "90 %", forAll},
		Value{"kernel_start", "1.5 us", leastOf},
		Value{"matmul_start", r.matmulStart, r.source},
		Value{"block_start", r.block, r.source},
		Value{"unhidden", "25 %", forAll},
		Value{"hbm_efficiency", "87 %", forAll + ": additions reach 88 to 97 % of HBM, matmuls less"},
		Value{"l2_bandwidth", r.l2, r.source})
}
