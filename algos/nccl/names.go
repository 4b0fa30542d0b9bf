package nccl

import (
	"strings"

	"collsim/internal/ncclnames"
	"collsim/internal/nearest"
)

// unknown says why a variable is not read here.
func unknown(name string) string {
	known, _ := Variables()
	if ncclnames.IsReal(name) {
		return "has no effect on choice or time here; these have: " + strings.Join(known, ", ")
	}
	if near := nearest.To(name, known, 1); len(near) > 0 {
		return "is no variable of NCCL's; did you mean " + near[0] + "?"
	}
	return "is no variable of NCCL's that has an effect here; these have: " + strings.Join(known, ", ")
}
