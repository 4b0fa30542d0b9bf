// Package ncclnames has the names of the environment variables that NCCL reads. They distinguish a
// name without an effect in a simulation from a misspelt one.
package ncclnames

import (
	_ "embed"
	"slices"
	"strings"
)

// names lists the variables of NCCL 2.30.7, one a line: the arguments of NCCL_PARAM and ncclGetEnv
// in src, and docs/userguide/source/env.rst.
//
//go:embed names.txt
var names string

// IsReal reports whether NCCL reads a variable with that name.
func IsReal(name string) bool { return slices.Contains(strings.Fields(names), name) }
