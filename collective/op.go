package collective

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/dtype"
)

// Op is the operator of a kind that reduces; zero for kinds that do not.
type Op uint8

// The operators.
const (
	Sum Op = iota + 1
	Prod
	Min
	Max
	Avg       // the mean over the ranks, see Spec.Avg
	PremulSum // every input is multiplied by Spec.Factor before the sum

	// And, Or and Xor combine bools, or integers bit by bit: MPI's MPI_LAND and MPI_BAND and so on,
	// torch's BAND, BOR and BXOR. NCCL has none of them.
	And
	Or
	Xor
)

var opNames = [...]string{
	Sum: "sum", Prod: "prod", Min: "min", Max: "max", Avg: "avg", PremulSum: "premulsum",
	And: "and", Or: "or", Xor: "xor",
}

// Ops lists all operators in the order of their declaration.
func Ops() []Op { return []Op{Sum, Prod, Min, Max, Avg, PremulSum, And, Or, Xor} }

// OpsOf lists the operators that combine elements of a type. Complex numbers have no order, so no
// min and max, and no prod here: torch refuses these three for them, too (supports_complex in
// distributed_c10d.py).
func OpsOf(t dtype.Type) []Op {
	switch {
	case t == dtype.Bool:
		return []Op{And, Or, Xor}
	case t.IsComplex():
		return []Op{Sum, Avg, PremulSum}
	case t.IsFloat():
		return []Op{Sum, Prod, Min, Max, Avg, PremulSum}
	}
	return Ops()
}

// CheckOp returns an error if an operator does not combine elements of a type. No operator, and no
// type, are no error.
func CheckOp(o Op, t dtype.Type) error {
	if o == 0 || t == 0 || slices.Contains(OpsOf(t), o) {
		return nil
	}
	return fmt.Errorf("%v has no %v; %s are expected", t, o, join(OpsOf(t)))
}

// String returns the operator's name in scenarios and tables; empty for the zero Op.
func (o Op) String() string {
	if int(o) >= len(opNames) {
		return fmt.Sprintf("Op(%d)", o)
	}
	return opNames[o]
}

// ParseOp parses an operator's name; premulsum has its factor: "premulsum(factor=0.5)". For every
// other operator the factor is 1.
func ParseOp(name string) (op Op, factor float64, err error) {
	base, argument, called := strings.Cut(strings.ToLower(strings.TrimSpace(name)), "(")
	for _, o := range Ops() {
		switch {
		case o.String() != base:
			continue
		case !called && o == PremulSum:
			return 0, 0, errNoFactor
		case !called:
			return o, 1, nil
		}
		value, ok := strings.CutPrefix(strings.TrimSuffix(argument, ")"), "factor=")
		factor, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if o != PremulSum || !ok || err != nil || !strings.HasSuffix(argument, ")") {
			return 0, 0, fmt.Errorf("op %q: only premulsum has a parameter, "+
				"as in premulsum(factor=0.5)", name)
		}
		return o, factor, checkFactor(o, factor)
	}
	return 0, 0, fmt.Errorf("no operator %q; operators are %s", name, join(Ops()))
}

// errNoFactor reports a premulsum without its factor.
var errNoFactor = errors.New("premulsum without its factor: " +
	"premulsum(factor=0.5), or another, is expected")

// checkFactor checks an operator's factor, 0 if none is given. Operators without a factor may have
// 1.
func checkFactor(o Op, factor float64) error {
	switch {
	case o == PremulSum && factor == 0:
		return errNoFactor
	case o != PremulSum && factor != 0 && factor != 1:
		return fmt.Errorf("factor %v is for premulsum; %v has none", factor, orNone(o))
	}
	return nil
}

// AvgMode selects when the division of the mean is done.
type AvgMode uint8

const (
	// AvgNCCL does what NCCL does: it multiplies floats by 1/n, rounded, before the sum, and
	// divides integers after it, truncating.
	AvgNCCL AvgMode = iota
	// AvgPost divides after the last addition, as TFRT and torch's mean do.
	AvgPost
)

// String returns the mode's name in scenarios.
func (m AvgMode) String() string {
	if m == AvgPost {
		return "post"
	}
	return "nccl"
}

// ParseAvgMode parses "nccl" or "post".
func ParseAvgMode(name string) (AvgMode, error) {
	for _, m := range []AvgMode{AvgNCCL, AvgPost} {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf(`avg %q: "nccl" or "post" is expected`, name)
}
