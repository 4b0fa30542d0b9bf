package collective

import (
	"fmt"
	"strings"
)

// Kind is the kind of a collective. The zero Kind is invalid.
type Kind uint8

// The kinds, with rank r's input and output in elements of n ranks and count c.
const (
	AllReduce      Kind = iota + 1 // c → c: the reduction of all inputs, on every rank
	AllGather                      // c → n·c: all inputs in rank order, on every rank
	ReduceScatter                  // n·c → c: block r of the reduction of all inputs
	Broadcast                      // c at the root → c: the root's input, on every rank
	Reduce                         // c → c at the root: the reduction of all inputs
	Gather                         // c → n·c at the root: all inputs in rank order
	Scatter                        // n·c at the root → c: block r of the root's input
	AllToAll                       // n·c → n·c: block s is what rank s has in its block r
	AllToAllV                      // AllToAll with a matrix of block sizes
	AllGatherV                     // AllGather with a size for every rank
	ReduceScatterV                 // ReduceScatter with a size for every rank
	SendRecv                       // c → c: the input of rank r−1 (nccl-tests' sendrecv)
	Barrier                        // nothing moves: no rank leaves before all have come
	// Custom is the kind of a schedule from elsewhere without a definition to check: any size in
	// and out, rank by rank. None of our algorithms supports it.
	Custom
)

var kindNames = [...]string{
	AllReduce: "all_reduce", AllGather: "all_gather", ReduceScatter: "reduce_scatter",
	Broadcast: "broadcast", Reduce: "reduce", Gather: "gather", Scatter: "scatter",
	AllToAll: "all_to_all", AllToAllV: "all_to_allv", AllGatherV: "all_gatherv",
	ReduceScatterV: "reduce_scatterv", SendRecv: "send_recv", Barrier: "barrier",
	Custom: "custom",
}

// Kinds lists all kinds that have a definition, in the order of their declaration.
func Kinds() []Kind {
	kinds := make([]Kind, 0, Barrier)
	for k := AllReduce; k <= Barrier; k++ {
		kinds = append(kinds, k)
	}
	return kinds
}

// String returns the torch.distributed name, such as "all_reduce".
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", k)
	}
	return kindNames[k]
}

// ParseKind parses a kind's name; "-" and "_" are equal.
func ParseKind(name string) (Kind, error) {
	canonical := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for k := AllReduce; k <= Custom; k++ {
		if k.String() == canonical {
			return k, nil
		}
	}
	return 0, fmt.Errorf("no kind %q; kinds are %s", name, join(Kinds()))
}

// Reduces reports whether the kind applies an operator.
func (k Kind) Reduces() bool {
	return k == AllReduce || k == ReduceScatter || k == Reduce || k == ReduceScatterV
}

// Rooted reports whether one rank, the root, has a role of its own.
func (k Kind) Rooted() bool {
	return k == Broadcast || k == Reduce || k == Gather || k == Scatter
}

// Splits reports whether block sizes are given one by one, in Spec.Splits.
func (k Kind) Splits() bool {
	return k == AllToAllV || k == AllGatherV || k == ReduceScatterV || k == Custom
}

// Gathers reports whether the output has one block for each rank, and the input is one block.
func (k Kind) Gathers() bool { return k == AllGather || k == AllGatherV || k == Gather }

// Scatters reports whether the input has one block for each rank, and the output is one block.
func (k Kind) Scatters() bool {
	return k == ReduceScatter || k == ReduceScatterV || k == Scatter
}

// Shared reports whether all ranks get the same output.
func (k Kind) Shared() bool {
	return k == AllReduce || k == AllGather || k == AllGatherV || k == Broadcast
}

func join[T fmt.Stringer](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = v.String()
	}
	return strings.Join(names, ", ")
}
