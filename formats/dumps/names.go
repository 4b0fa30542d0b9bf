package dumps

import (
	"strings"

	"collsim/collective"
)

// kindOf returns the collective that a name stands for, as PyTorch, its watchdog and NCCL spell it:
// "_all_gather_base", "_ALLGATHER_BASE", "AllGather". A barrier is an all_reduce of one element.
// name is how reports spell it.
func kindOf(spelt string) (kind collective.Kind, name string) {
	plain := strings.ToLower(strings.ReplaceAll(spelt, "_", ""))
	for _, rest := range []string{"coalesced", "tensor", "into", "base", "oop"} {
		if cut := strings.TrimSuffix(plain, rest); cut != "" {
			plain = cut
		}
	}
	switch plain {
	case "allreducebarrier":
		plain = "barrier"
	case "allreducesparse":
		plain = "allreduce"
	case "alltoallv":
		plain = "alltoall"
	}
	for _, k := range collective.Kinds() {
		if strings.ReplaceAll(k.String(), "_", "") == plain {
			return k, k.String()
		}
	}
	return 0, strings.ToLower(spelt)
}

// typeOf returns the name of a type that PyTorch spells "BFloat16"; other names stay.
func typeOf(spelt string) string {
	switch spelt {
	case "Float":
		return "float32"
	case "Double":
		return "float64"
	case "Half":
		return "float16"
	case "Byte":
		return "uint8"
	case "Char":
		return "int8"
	case "Short":
		return "int16"
	case "Int":
		return "int32"
	case "Long":
		return "int64"
	}
	return strings.ToLower(spelt)
}

// ncclTypes and ncclOps name NCCL's ncclDataType_t and ncclRedOp_t.
var (
	ncclTypes = [...]string{"int8", "uint8", "int32", "uint32", "int64", "uint64", "float16",
		"float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"}
	ncclOps = [...]string{"sum", "prod", "max", "min", "avg"}
)
