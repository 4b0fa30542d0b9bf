package arrays_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"collsim/dtype"
	"collsim/formats/arrays"
)

func ExampleReadRanks() {
	// What torch and safetensors.torch.save_file made of {"rank0": …, "rank1": …} in bfloat16.
	ranks, err := arrays.ReadRanks("testdata/files/bfloat16.safetensors",
		arrays.Want{Ranks: 2, Type: dtype.BFloat16})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range ranks {
		fmt.Printf("%s %s %v %x\n", a.Name, a.Type, a.Shape, a.Data)
	}
	_, err = arrays.ReadRanks("testdata/files/bfloat16.safetensors",
		arrays.Want{Ranks: 2, Type: dtype.Float32})
	var wrong *arrays.Error
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Tensor, wrong.Text)
	}
	// Output:
	// rank0 bfloat16 [3] 803f00c04040
	// rank1 bfloat16 [3] 003f0000c0bf
	// rank0 holds bfloat16 ("BF16"); float32 is expected, or an integer or void of 4 bytes
}

func ExampleWriteRanks() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ranks := []arrays.Array{
		{Type: dtype.Uint16, Shape: []int64{2}, Data: []byte{1, 0, 2, 0}},
		{Type: dtype.Uint16, Shape: []int64{1}, Data: []byte{3, 0}},
	}
	path := filepath.Join(dir, "sums.npz")
	if err := arrays.WriteRanks(path, ranks); err != nil {
		fmt.Println(err)
	}
	f, err := arrays.Open(path, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	for _, a := range f.Arrays() {
		fmt.Println(a.Name, a.Type, a.Shape, a.Stored)
	}
	// Output:
	// rank0 uint16 [2] <u2
	// rank1 uint16 [1] <u2
}
