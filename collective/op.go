package collective

import (
	"fmt"
	"strconv"
	"strings"
)

// Op is the operator of a kind that reduces; zero for kinds that do not.
type Op uint8

// The operators of NCCL.
const (
	Sum Op = iota + 1
	Prod
	Min
	Max
	Avg       // the mean over the ranks, see Spec.Avg
	PremulSum // every input is multiplied by Spec.Factor before the sum
)

var opNames = [...]string{
	Sum: "sum", Prod: "prod", Min: "min", Max: "max", Avg: "avg", PremulSum: "premulsum",
}

// Ops lists all operators in the order of their declaration.
func Ops() []Op { return []Op{Sum, Prod, Min, Max, Avg, PremulSum} }

// String is the operator's name in scenarios and tables; empty for the zero Op.
func (o Op) String() string {
	if int(o) >= len(opNames) {
		return fmt.Sprintf("Op(%d)", o)
	}
	return opNames[o]
}

// ParseOp reads an operator's name. premulsum may carry its factor, as in "premulsum(factor=0.5)";
// without one, and for every other operator, the factor is 1.
func ParseOp(name string) (op Op, factor float64, err error) {
	base, argument, called := strings.Cut(strings.ToLower(strings.TrimSpace(name)), "(")
	for _, o := range Ops() {
		if o.String() != base {
			continue
		}
		if !called {
			return o, 1, nil
		}
		value, ok := strings.CutPrefix(strings.TrimSuffix(argument, ")"), "factor=")
		factor, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if o != PremulSum || !ok || err != nil || !strings.HasSuffix(argument, ")") {
			return 0, 0, fmt.Errorf("collective: op %q: only premulsum has a parameter, "+
				"as in premulsum(factor=0.5)", name)
		}
		return o, factor, nil
	}
	return 0, 0, fmt.Errorf("collective: no operator %q; operators are %s", name, join(Ops()))
}

// AvgMode is when the mean's division is made.
type AvgMode uint8

const (
	// AvgNCCL multiplies floats by 1/n, rounded, before the sum and divides integers after it,
	// truncating, as NCCL does.
	AvgNCCL AvgMode = iota
	// AvgPost divides after the last addition, as TFRT and torch's mean do.
	AvgPost
)

// String is the mode's name in scenarios.
func (m AvgMode) String() string {
	if m == AvgPost {
		return "post"
	}
	return "nccl"
}

// ParseAvgMode reads "nccl" or "post".
func ParseAvgMode(name string) (AvgMode, error) {
	for _, m := range []AvgMode{AvgNCCL, AvgPost} {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf(`collective: avg %q: "nccl" or "post" is expected`, name)
}
