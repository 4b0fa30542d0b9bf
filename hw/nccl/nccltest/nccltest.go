// Package nccltest lets tests run on the stand-in for NCCL and CUDA's driver (hw/nccl/standin).
package nccltest

import (
	"fmt"
	"path/filepath"

	"collsim/hw/internal/clib"
	"collsim/internal/input"
	"collsim/internal/output"
)

// Standin compiles the stand-in in a folder, unless a compiled one is cached, and copies it into
// another folder. A copy has a state of its own when loaded. It fails without a C compiler.
func Standin(folder, into string) (path string, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.[ch]"))
	if err != nil {
		return "", fmt.Errorf("the stand-in for NCCL: %w", err)
	}
	built, err := clib.Build(files, "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off",
		"-pthread", "-lm")
	if err != nil {
		return "", fmt.Errorf("the stand-in for NCCL: %w", err)
	}
	library, err := input.Limit{}.File(built)
	if err != nil {
		return "", fmt.Errorf("the stand-in for NCCL: %w", err)
	}
	path = filepath.Join(into, "standin.so")
	return path, output.Bytes(path, library)
}
