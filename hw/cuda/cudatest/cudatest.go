// Package cudatest lets tests run on the stand-in for CUDA's driver and compiler (hw/cuda/standin).
package cudatest

import (
	"fmt"
	"os"
	"path/filepath"

	"collsim/hw/internal/clib"
)

// Standin compiles the stand-in in a folder, unless a compiled one is cached. It returns the
// environment that loads the stand-in in place of CUDA and caches its kernels. It fails without a C
// compiler.
func Standin(folder string) (map[string]string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("the stand-in for CUDA: %w", err)
	}
	header := filepath.Join(folder, "device.h")
	path, err := clib.Build([]string{filepath.Join(folder, "standin.c"), header}, "-std=gnu11", "-O1",
		fmt.Sprintf("-DDEVICE_HEADER=%q", header), "-lpthread", "-ldl")
	if err != nil {
		return nil, fmt.Errorf("the stand-in for CUDA: %w", err)
	}
	kernels := filepath.Join(filepath.Dir(path), "kernels") // of this header and compiler
	if err := os.MkdirAll(kernels, 0o700); err != nil {
		return nil, fmt.Errorf("the stand-in for CUDA: %w", err)
	}
	return map[string]string{"COLLSIM_LIBCUDA": path, "COLLSIM_LIBNVRTC": path,
		"COLLSIM_STANDIN_KERNELS": kernels}, nil
}

// Products compiles the stand-in for cuBLASLt in a folder, unless a compiled one is cached. It
// returns its path.
func Products(folder string) (string, error) {
	path, err := clib.Build([]string{filepath.Join(folder, "cublaslt.c")}, "-std=gnu11", "-O1",
		"-Wall", "-Wextra", "-Werror")
	if err != nil {
		return "", fmt.Errorf("the stand-in for cuBLASLt: %w", err)
	}
	return path, nil
}
