package arrays

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"collsim/dtype"
	"collsim/formats/internal/tensor"
)

// BenchmarkRead reads 256 MiB of float32, 8 ranks' worth: as written, and as others may write it.
func BenchmarkRead(b *testing.B) {
	const size = 256 << 20
	a := Array{Name: "all", Type: dtype.Float32, Shape: []int64{8, size / 32},
		Data: make([]byte, size)}
	_, err := rand.NewChaCha8([32]byte{}).Read(a.Data[:size/2]) // the rest can be compressed
	require.NoError(b, err)
	replaced := func(from, to string) func(string) {
		return func(path string) {
			file := bytes.Replace(whole(b, a), []byte(from), []byte(to), 1)
			require.NoError(b, os.WriteFile(path, file, 0o600))
		}
	}
	plain := func(path string) { require.NoError(b, Write(path, []Array{a})) }
	files := []struct {
		name, format string
		make         func(path string)
	}{
		{"npy", tensor.NPY, plain}, {"npz", tensor.NPZ, plain},
		{"safetensors", tensor.Safetensors, plain},
		{"npy/big-endian", tensor.NPY, replaced("<f4", ">f4")},
		{"npy/fortran", tensor.NPY, replaced("False", "True ")},
		{"npz/deflated", tensor.NPZ, func(path string) {
			f, err := os.Create(path)
			require.NoError(b, err)
			w := zip.NewWriter(f)
			member, err := w.Create("all.npy")
			require.NoError(b, err)
			_, err = io.Copy(member, bytes.NewReader(whole(b, a)))
			require.NoError(b, err)
			require.NoError(b, w.Close())
			require.NoError(b, f.Close())
		}},
	}
	for _, file := range files {
		b.Run(file.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "a"+file.format)
			file.make(path)
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				ranks, err := ReadRanks(path, Want{Ranks: 8, Type: dtype.Float32})
				require.NoError(b, err)
				require.Len(b, ranks, 8)
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	a := Array{Name: "all", Type: dtype.Float32, Shape: []int64{64 << 20},
		Data: make([]byte, 256<<20)}
	for _, format := range []string{tensor.NPY, tensor.NPZ, tensor.Safetensors} {
		b.Run(format[1:], func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "a"+format)
			b.SetBytes(int64(len(a.Data)))
			for b.Loop() {
				require.NoError(b, Write(path, []Array{a}))
			}
		})
	}
}

// BenchmarkHeader reads the header of a .safetensors of 20,000 tensors, and nothing else.
func BenchmarkHeader(b *testing.B) {
	all := make([]Array, 20_000)
	for i := range all {
		all[i] = Array{Name: fmt.Sprintf("model.layers.%d.weight", i), Type: dtype.BFloat16,
			Shape: []int64{1, 2}, Data: make([]byte, 4)}
	}
	path := filepath.Join(b.TempDir(), "a.safetensors")
	require.NoError(b, Write(path, all))
	for b.Loop() {
		f, err := Open(path, 0)
		require.NoError(b, err)
		require.Len(b, f.Arrays(), len(all))
		require.NoError(b, f.Close())
	}
}
