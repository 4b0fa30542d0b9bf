package judge

import (
	"fmt"
	"slices"
	"strings"
)

// A Problem is the collective of a schedule. Counts follow NCCL's calls: the length of a rank's
// vector, or of its block of a vector of n blocks.
type Problem struct {
	Kind, Type, Op string
	Post, InPlace  bool
	Ranks, Root    int
	Count          int
	Splits         [][]int
}

// The words of the header, by sort.
const (
	plainKinds = " all_reduce all_gather reduce_scatter broadcast reduce gather scatter " +
		"all_to_all send_recv barrier "
	splitKinds = " all_to_allv all_gatherv reduce_scatterv custom "
	reducing   = " all_reduce reduce reduce_scatter reduce_scatterv "
	rooted     = " broadcast reduce gather scatter "
	operators  = " sum prod min max avg premulsum "
	typeNames  = " float64 float32 float16 bfloat16 float8_e4m3fn float8_e5m2 " +
		"int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
)

// among reports whether a list contains a word.
func among(list, word string) bool { return strings.Contains(list, " "+word+" ") }

// check validates a problem.
func (p *Problem) check() error {
	rows := map[string]int{"all_to_allv": p.Ranks, "custom": 2, "all_gatherv": 1,
		"reduce_scatterv": 1}[p.Kind]
	op, _, _ := strings.Cut(p.Op, "(")
	switch {
	case !among(plainKinds+splitKinds, p.Kind):
		return fmt.Errorf("no kind %q", p.Kind)
	case p.Ranks < 1 || p.Root < 0 || p.Root >= p.Ranks || p.Root > 0 && !among(rooted, p.Kind):
		return fmt.Errorf("root %d of %d ranks", p.Root, p.Ranks)
	case p.Kind != "barrier" && !among(typeNames, p.Type):
		return fmt.Errorf("no type %q", p.Type)
	case p.Op != "" && !among(operators, op) || p.Op == "" && among(reducing, p.Kind):
		return fmt.Errorf("no operator %q", p.Op)
	case p.Op == "premulsum" || p.Op == "premulsum(factor=0)":
		return fmt.Errorf("premulsum without a factor")
	case p.Post && p.Op != "avg":
		return fmt.Errorf("post is for avg, not for %q", p.Op)
	case p.InPlace && (p.Kind == "all_to_allv" || p.Kind == "barrier"):
		return fmt.Errorf("%s is not in place", p.Kind)
	case p.Count > 0 && (rows > 0 || p.Kind == "barrier"):
		return fmt.Errorf("%s has no count", p.Kind)
	case len(p.Splits) != rows:
		return fmt.Errorf("%d lines of splits; %d are needed", len(p.Splits), rows)
	}
	for _, row := range p.Splits {
		if len(row) != p.Ranks {
			return fmt.Errorf("a line of %d splits on %d ranks", len(row), p.Ranks)
		}
	}
	return nil
}

// size returns the number of elements of a rank's buffer.
func (p *Plan) size(b Buffer, rank int) int {
	switch b {
	case Input:
		return p.Problem.in(rank)
	case Output:
		return p.Problem.out(rank)
	}
	return p.Scratch
}

// in returns the number of elements of a rank's input.
func (p *Problem) in(rank int) int {
	switch p.Kind {
	case "all_reduce", "all_gather", "reduce", "gather", "send_recv":
		return p.Count
	case "reduce_scatter", "all_to_all":
		return p.Count * p.Ranks
	case "broadcast":
		return p.atRoot(rank, p.Count)
	case "scatter":
		return p.atRoot(rank, p.Count*p.Ranks)
	case "all_to_allv":
		return sum(p.Splits[rank])
	case "all_gatherv", "custom":
		return p.Splits[0][rank]
	case "reduce_scatterv":
		return sum(p.Splits[0])
	}
	return 0
}

// out returns the number of elements of a rank's output.
func (p *Problem) out(rank int) int {
	switch p.Kind {
	case "all_reduce", "broadcast", "reduce_scatter", "scatter", "send_recv":
		return p.Count
	case "all_gather", "all_to_all":
		return p.Count * p.Ranks
	case "reduce":
		return p.atRoot(rank, p.Count)
	case "gather":
		return p.atRoot(rank, p.Count*p.Ranks)
	case "all_to_allv":
		return sum(p.column(rank))
	case "all_gatherv":
		return sum(p.Splits[0])
	case "reduce_scatterv":
		return p.Splits[0][rank]
	case "custom":
		return p.Splits[1][rank]
	}
	return 0
}

// atRoot returns n at the root, else 0.
func (p *Problem) atRoot(rank, n int) int {
	if rank != p.Root {
		return 0
	}
	return n
}

// column lists what every rank sends to one rank in an all_to_allv.
func (p *Problem) column(rank int) (list []int) {
	for _, row := range p.Splits {
		list = append(list, row[rank])
	}
	return list
}

// sum returns the sum of a list.
func sum(list []int) (total int) {
	for _, n := range list {
		total += n
	}
	return total
}

// home returns the memory of a rank's buffer, and the buffer's start in it. In place, input and
// output share a memory, where the smaller one is the rank's block of the larger.
func (p *Plan) home(b Buffer, rank int) (memory Buffer, begin int) {
	q := &p.Problem
	if !q.InPlace || b == Scratch {
		return b, 0
	}
	start := rank * q.Count
	if q.Splits != nil {
		start = sum(q.Splits[0][:rank])
	}
	switch {
	case b == Input && among(" all_gather all_gatherv gather ", q.Kind) && q.out(rank) > 0,
		b == Output && among(" reduce_scatter reduce_scatterv scatter ", q.Kind) && q.in(rank) > 0:
		return Input, start
	}
	return Input, 0
}

// everyRank stands for the combination of all ranks' inputs.
const everyRank = -1

// want returns the value that element i of a rank's output must have: an element of a rank's input.
func (p *Problem) want(rank, i int) (from, element int) {
	switch p.Kind {
	case "reduce_scatter":
		return everyRank, rank*p.Count + i
	case "reduce_scatterv":
		return everyRank, sum(p.Splits[0][:rank]) + i
	case "broadcast":
		return p.Root, i
	case "scatter":
		return p.Root, rank*p.Count + i
	case "send_recv":
		return (rank + p.Ranks - 1) % p.Ranks, i
	case "all_gather", "gather":
		return i / p.Count, i % p.Count
	case "all_to_all":
		return i / p.Count, rank*p.Count + i%p.Count
	case "all_gatherv":
		from, i = piece(p.Splits[0], i)
		return from, i
	case "all_to_allv":
		from, i = piece(p.column(rank), i)
		return from, sum(p.Splits[from][:rank]) + i
	}
	return everyRank, i // all_reduce, reduce
}

// piece returns the piece that contains element i, and the position within.
func piece(lengths []int, i int) (which, within int) {
	for which < len(lengths) && i >= lengths[which] {
		i -= lengths[which]
		which++
	}
	return which, i
}

// defined reports whether the kind defines the values of outputs.
func (p *Problem) defined() bool { return p.Kind != "custom" && p.Kind != "barrier" }

// scales reports whether inputs are scaled when first read, or outputs after the last addition.
// Premulsum and the mean of floats scale before, other means after.
func (p *Problem) scales() (before, after bool) {
	isFloat := strings.HasPrefix(p.Type, "float") || strings.HasPrefix(p.Type, "bfloat")
	switch {
	case strings.HasPrefix(p.Op, "premulsum"):
		return true, false
	case p.Op != "avg":
		return false, false
	}
	return isFloat && !p.Post, !isFloat || p.Post
}

// tiles returns the number of tiles of a buffer. If tiles have a fixed size, it is that of the
// longest part that is cut into them, on any rank.
func (p *Plan) tiles(b Buffer) int {
	most := 1
	for rank := range p.Problem.Ranks {
		longest := p.size(b, rank)
		for i := range p.Cuts[b] {
			l := &p.Cuts[b][i]
			parts := l.parts()
			if l.Axis == "tile" {
				if l.Split == "size" {
					parts = (longest + l.N - 1) / l.N
				}
				most = max(most, parts)
				break
			}
			longest = l.longest(longest)
		}
	}
	return most
}

// A Cut divides a buffer, outermost level first.
type Cut []Level

// A Level is one division. Its axis is channel, tile or block; it splits as even, ceil, size,
// aligned or table.
type Level struct {
	Axis, Split string
	N, Align    int
	Ends        [][]int // of a table: one row for all ranks, or one for each
	ByRank      bool
	Mirrored    bool // by ranks with their digits reversed
}

// parts returns the number of parts of a level; 0 for size, which depends on the length.
func (l *Level) parts() int {
	switch l.Split {
	case "table":
		return len(l.Ends[0])
	case "size":
		return 0
	}
	return l.N
}

// Blocks returns the number of blocks of a buffer, and whether they are numbered by rank, or by
// mirrored rank.
func (c Cut) Blocks() (n int, byRank, mirrored bool) {
	i := slices.IndexFunc(c, func(l Level) bool { return l.Axis == "block" })
	if i < 0 {
		return 1, false, false
	}
	return c[i].parts(), c[i].ByRank, c[i].Mirrored
}

// A stretch is the elements from … to−1.
type stretch struct{ from, to int }

// part returns the i-th part of a stretch; empty beyond the last.
func (l *Level) part(s stretch, i, rank int) stretch {
	n := s.to - s.from
	var from, to int
	switch l.Split {
	case "even":
		unit := 1
		if l.Align > 0 && n%l.Align == 0 {
			unit = l.Align
		}
		units := n / unit
		from = times(i, units/l.N, units) + min(i, units%l.N)
		to = from + units/l.N
		if i < units%l.N {
			to++
		}
		from, to = from*unit, to*unit
	case "table":
		ends := l.Ends[rank%len(l.Ends)]
		if to = ends[i]; i > 0 {
			from = ends[i-1]
		}
	default:
		size := l.N
		if l.Split != "size" {
			size = (n + l.N - 1) / l.N
		}
		if l.Split == "aligned" {
			size = (size + l.Align - 1) / l.Align * l.Align
		}
		from, to = times(i, size, n), times(i+1, size, n)
	}
	return stretch{s.from + min(from, n), s.from + min(to, n)}
}

// longest returns the length of the longest part of n elements, on any rank.
func (l *Level) longest(n int) (most int) {
	for rank := range max(1, len(l.Ends)) {
		for i := range min(n, l.parts()) { // parts beyond the first n are empty
			part := l.part(stretch{0, n}, i, rank)
			most = max(most, part.to-part.from)
		}
	}
	return most
}

// times returns a·b, but at most most.
func times(a, b, most int) int {
	if b > 0 && a > most/b {
		return most
	}
	return a * b
}
