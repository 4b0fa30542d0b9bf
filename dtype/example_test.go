package dtype_test

import (
	"fmt"

	"collsim/dtype"
)

// Four ones are added to 256 in bfloat16, whose neighbours are 2 apart there: one at a time, every
// sum is rounded and nothing is gained; in float32, rounded once, all four arrive.
func Example() {
	native := []dtype.BF16{dtype.From[dtype.BF16](256)}
	one := []dtype.BF16{dtype.From[dtype.BF16](1)}
	for range 4 {
		dtype.Sum(native, one)
	}

	total, next, once := make([]float32, 1), make([]float32, 1), make([]dtype.BF16, 1)
	dtype.Widen(total, []dtype.BF16{dtype.From[dtype.BF16](256)})
	for range 4 {
		dtype.Widen(next, one)
		dtype.Sum(total, next)
	}
	dtype.Narrow(once, total)

	fmt.Printf("native: %v, %04x\n", native[0], dtype.Bits(native[0]))
	fmt.Printf("float32: %v, %04x\n", once[0], dtype.Bits(once[0]))
	// Output:
	// native: 256, 4380
	// float32: 260, 4382
}

// CUDA's conversions to 8-bit floats saturate, PyTorch's do not.
func ExampleFrom() {
	fmt.Println(dtype.From[dtype.E4M3](1000), dtype.FromUnsaturated[dtype.E4M3](1000))
	fmt.Println(dtype.From[dtype.E5M2](1e6), dtype.FromUnsaturated[dtype.E5M2](1e6))
	// Output:
	// 448 NaN
	// 57344 +Inf
}
