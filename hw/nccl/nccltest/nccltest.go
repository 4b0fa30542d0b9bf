// Package nccltest has tests run on the stand-in for NCCL and CUDA's driver (hw/nccl/standin).
package nccltest

import (
	"fmt"
	"path/filepath"

	"collsim/hw/internal/clib"
	"collsim/internal/input"
	"collsim/internal/output"
)

// Standin puts the stand-in whose sources are in a folder into another, as a file of its own: what
// is loaded from there begins anew. It is compiled if it is not at hand. Without a C compiler, that
// is the error.
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
