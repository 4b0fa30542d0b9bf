// Package ncclnames has the names of the environment variables that NCCL reads, so that a name
// without an effect in a simulation is told from a misspelt one.
package ncclnames

import (
	_ "embed"
	"slices"
	"strings"
)

// names are those of NCCL 2.30.7: of src what NCCL_PARAM and ncclGetEnv name, and
// docs/userguide/source/env.rst; one a line.
//
//go:embed names.txt
var names string

// IsReal reports whether NCCL reads a variable of that name.
func IsReal(name string) bool { return slices.Contains(strings.Fields(names), name) }
