package collective

import (
	"fmt"
	"math"

	"collsim/dtype"
	"collsim/unit"
)

// Spec describes one collective completely, except its data.
type Spec struct {
	Kind  Kind
	Op    Op         // zero unless Kind.Reduces
	Type  dtype.Type // of every element
	Ranks int        // n ≥ 1
	Root  int        // 0 unless Kind.Rooted
	// Count is the number of elements as in the NCCL call: one rank's vector, or its block of a
	// vector of n blocks (see Kind). It is 0 for kinds with Splits and for Barrier.
	Count int64
	// Splits gives block sizes in elements. AllToAllV: Splits[r][s] goes from rank r to rank s.
	// AllGatherV, ReduceScatterV: Splits[0][r] belongs to rank r. Custom: Splits[0][r] elements
	// are rank r's input, Splits[1][r] its output.
	Splits  [][]int64
	InPlace bool    // see Spec.Place
	Avg     AvgMode // of Op Avg
	Factor  float64 // of Op PremulSum
}

// MaxElements bounds every buffer of a Spec, so that byte counts never overflow.
const MaxElements = math.MaxInt64 / 64

// Validate returns an error if the Spec is not valid.
func (s Spec) Validate() error {
	switch {
	case s.Kind < AllReduce || s.Kind > Custom:
		return fmt.Errorf("kind %v is none", s.Kind)
	case s.Ranks < 1:
		return fmt.Errorf("%d ranks; at least 1 is needed", s.Ranks)
	case s.Root < 0 || s.Root >= s.Ranks:
		return fmt.Errorf("root %d is not one of the ranks 0…%d", s.Root, s.Ranks-1)
	case s.Root != 0 && !s.Kind.Rooted():
		return fmt.Errorf("%v has no root, but root is %d", s.Kind, s.Root)
	case s.Kind.Reduces() && s.Op < Sum || s.Op > Xor:
		return fmt.Errorf("%v needs an operator", s.Kind)
	case !s.Kind.Reduces() && s.Kind != Custom && s.Op != 0:
		return fmt.Errorf("%v does not reduce, but has operator %v", s.Kind, s.Op)
	case s.Avg != AvgNCCL && s.Op != Avg:
		return fmt.Errorf("avg %q has no effect on %v", s.Avg, orNone(s.Op))
	case !s.Type.Valid() && (s.Kind != Barrier || s.Type != 0):
		return fmt.Errorf("%v needs a data type", s.Kind)
	case s.Count < 0:
		return fmt.Errorf("count %d is negative", s.Count)
	case s.Count > MaxElements/int64(s.Ranks*s.Type.Components()):
		return fmt.Errorf("count %d on %d ranks is too large", s.Count, s.Ranks)
	case s.Count != 0 && (s.Kind.Splits() || s.Kind == Barrier):
		return fmt.Errorf("%v takes no count, but count is %d", s.Kind, s.Count)
	case s.InPlace && s.Kind == Barrier:
		return fmt.Errorf("a barrier has nothing that could be in place")
	case s.InPlace && s.Kind == AllToAllV:
		return fmt.Errorf("all_to_allv cannot run in place: blocks have no common place")
	}
	if err := CheckOp(s.Op, s.Type); err != nil {
		return err
	}
	if err := checkFactor(s.Op, s.Factor); err != nil {
		return err
	}
	return s.validateSplits()
}

func (s Spec) validateSplits() error {
	rows := 0
	switch {
	case s.Kind == AllToAllV:
		rows = s.Ranks
	case s.Kind == Custom:
		rows = 2
	case s.Kind.Splits():
		rows = 1
	}
	if len(s.Splits) != rows {
		return fmt.Errorf("%v on %d ranks takes %d rows of splits, not %d",
			s.Kind, s.Ranks, rows, len(s.Splits))
	}
	total := int64(0)
	for r, row := range s.Splits {
		if len(row) != s.Ranks {
			return fmt.Errorf("splits row %d has %d entries; %d ranks need as many",
				r, len(row), s.Ranks)
		}
		for c, n := range row {
			if n < 0 || n > MaxElements/int64(s.Type.Components())-total {
				return fmt.Errorf("splits[%d][%d] = %d is out of range", r, c, n)
			}
			total += n
		}
	}
	return nil
}

// In returns the number of elements of a rank's input.
func (s Spec) In(rank int) int64 {
	switch s.Kind {
	case AllReduce, AllGather, Reduce, Gather, SendRecv:
		return s.Count
	case ReduceScatter, AllToAll:
		return s.Count * int64(s.Ranks)
	case Broadcast:
		return atRoot(s, rank, s.Count)
	case Scatter:
		return atRoot(s, rank, s.Count*int64(s.Ranks))
	case AllToAllV:
		return sum(s.Splits[rank])
	case AllGatherV, Custom:
		return s.Splits[0][rank]
	case ReduceScatterV:
		return sum(s.Splits[0])
	}
	return 0
}

// Out returns the number of elements of a rank's output; 0 if a rank gets nothing.
func (s Spec) Out(rank int) int64 {
	switch s.Kind {
	case AllReduce, Broadcast, ReduceScatter, Scatter, SendRecv:
		return s.Count
	case AllGather, AllToAll:
		return s.Count * int64(s.Ranks)
	case Reduce:
		return atRoot(s, rank, s.Count)
	case Gather:
		return atRoot(s, rank, s.Count*int64(s.Ranks))
	case AllToAllV:
		total := int64(0)
		for _, row := range s.Splits {
			total += row[rank]
		}
		return total
	case AllGatherV:
		return sum(s.Splits[0])
	case ReduceScatterV:
		return s.Splits[0][rank]
	case Custom:
		return s.Splits[1][rank]
	}
	return 0
}

// Place returns the starts of a rank's input and output in their common buffer when the collective
// runs in place. For gathering kinds the input is the output's block of this rank. For scattering
// kinds the output is the input's block of this rank. Otherwise both are the same.
func (s Spec) Place(rank int) (in, out int64) {
	switch {
	case s.Kind.Gathers() && s.Out(rank) > 0:
		return s.blockStart(rank), 0
	case s.Kind.Scatters() && s.In(rank) > 0:
		return 0, s.blockStart(rank)
	}
	return 0, 0
}

// blockStart returns the start of a rank's block in the vector of all blocks.
func (s Spec) blockStart(rank int) int64 {
	if s.Kind.Splits() {
		return sum(s.Splits[0][:rank])
	}
	return int64(rank) * s.Count
}

// Empty reports whether no element moves: such a collective has no steps.
func (s Spec) Empty() bool {
	if s.Kind == Custom {
		return false
	}
	if s.Kind.Splits() {
		for _, row := range s.Splits {
			if sum(row) > 0 {
				return false
			}
		}
		return true
	}
	return s.Count == 0 && s.Kind != Barrier
}

// ScalesBefore reports whether every input element is scaled when it is first read.
func (s Spec) ScalesBefore() bool {
	return s.Op == PremulSum || s.Op == Avg && s.Avg == AvgNCCL && s.Type.IsFloat()
}

// ScalesAfter reports whether every output element is scaled after its last addition.
func (s Spec) ScalesAfter() bool { return s.Op == Avg && !s.ScalesBefore() }

// Bytes returns nccl-tests' size: the vector of one rank; for all_gather, reduce_scatter,
// all_to_all, gather and scatter the whole vector of n blocks; for kinds with splits the largest
// buffer.
func (s Spec) Bytes() unit.Bytes {
	largest := int64(0)
	if !s.Kind.Splits() { // the root may differ, no others
		for _, r := range [2]int{s.Root, s.Root + 1} {
			largest = max(largest, s.In(r), s.Out(r))
		}
		return unit.Bytes(largest * int64(s.Type.Width()))
	}
	for r := range s.Ranks {
		largest = max(largest, s.In(r), s.Out(r))
	}
	return unit.Bytes(largest * int64(s.Type.Width()))
}

// WithBytes returns the Spec with the largest Count whose size (Bytes) is at most size. nccl-tests
// rounds likewise, and also rounds blocks to 16 bytes, which this does not. Kinds with splits are
// returned unchanged.
func (s Spec) WithBytes(size unit.Bytes) Spec {
	if s.Kind.Splits() || s.Kind == Barrier {
		return s
	}
	width := int64(s.Type.Width())
	if s.Kind.Gathers() || s.Kind.Scatters() || s.Kind == AllToAll {
		width *= int64(s.Ranks)
	}
	s.Count = int64(size) / width
	return s
}

// WithCount returns the Spec with another Count.
func (s Spec) WithCount(n int64) Spec {
	s.Count = n
	return s
}

// InComponents returns the same collective of components: of two floats for each complex number,
// as torch does it (view_as_real). Collectives of other types are returned as they
// are.
func (s Spec) InComponents() Spec {
	each := int64(s.Type.Components())
	if each == 1 {
		return s
	}
	s.Type, s.Count = s.Type.Component(), s.Count*each
	splits := s.Splits
	s.Splits = nil
	for _, row := range splits {
		longer := make([]int64, len(row))
		for i, n := range row {
			longer[i] = n * each
		}
		s.Splits = append(s.Splits, longer)
	}
	return s
}

// BusFactor returns busbw divided by algbw as nccl-tests defines it (its doc/PERFORMANCE.md), as
// the fraction num/den: 2(n−1)/n for all_reduce, (n−1)/n for kinds with a block for every rank,
// else 1.
func (s Spec) BusFactor() (num, den int64) {
	n := int64(s.Ranks)
	switch {
	case s.Kind == AllReduce:
		return 2 * (n - 1), n
	case s.Kind.Gathers(), s.Kind.Scatters(), s.Kind == AllToAll, s.Kind == AllToAllV:
		return n - 1, n
	}
	return 1, 1
}

func atRoot(s Spec, rank int, n int64) int64 {
	if rank == s.Root {
		return n
	}
	return 0
}

func sum(values []int64) int64 {
	total := int64(0)
	for _, v := range values {
		total += v
	}
	return total
}
