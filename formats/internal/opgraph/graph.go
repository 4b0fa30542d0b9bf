// Package opgraph lowers programs that are graphs of operations to schedules. Ranks send, receive
// and compute, without data, ordered only by dependencies. Several formats are such graphs; their
// readers build one, and all below is common to them.
//
// The operations of a rank become chains along dependencies, a lane each. Dependencies between
// chains become events. Nothing else is ordered: operations without a path between them run
// concurrently. Messages are paired in advance, per source, destination and tag, in posting order.
// Where that order differs between runs the match is ambiguous, which is reported (see match.go).
// Bytes are read from an input of the right size, and nothing is stored.
//
// The package knows no format and no time.
package opgraph

import (
	"fmt"
	"slices"

	"collsim/formats/internal/foreign"
	"collsim/schedule"
)

// Kind distinguishes the operations of a rank: computations, sends and receives.
type Kind uint8

// The kinds of operation.
const (
	Calc Kind = iota // takes a time
	Send             // sends bytes to Peer; it ends when they have left
	Recv             // receives bytes from Peer; it ends when they have arrived
)

// Op is an operation of a rank. Of operations that become ready at the same moment, that with the
// lowest index is posted first.
type Op struct {
	Kind     Kind
	CPU, NIC uint8 // the resources that it uses; they order nothing by themselves
	Type     uint8 // of Send and Recv: index into Graph.Types; 0 if unknown
	Peer     int32 // of Send and Recv; it need not exist
	Line     int32 // in the file, 0 for none
	Tag      int64 // of Send and Recv, which match at equal tags only
	Amount   int64 // of Send and Recv: bytes; of Calc: picoseconds
}

// Edge is a dependency: operation Op of a rank is posted after operation On of the same rank has
// ended, or, with Start, has been posted.
type Edge struct {
	Op, On int32
	Start  bool
}

// Kept holds lists of dependencies, by their hash.
type Kept map[uint64][]Edge

// Keep returns a copy of some dependencies, or equal ones that are kept.
func (k Kept) Keep(edges []Edge) []Edge {
	h := hashOf(edges)
	if !slices.Equal(k[h], edges) {
		k[h] = slices.Clone(edges)
	}
	return k[h]
}

// hashOf returns a number that is the same for the same edges.
func hashOf(edges []Edge) uint64 {
	h := uint64(len(edges))
	for _, e := range edges {
		start := uint64(0)
		if e.Start {
			start = 1
		}
		h = (h ^ uint64(e.Op)<<33 ^ uint64(e.On)<<1 ^ start) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}

// Rank holds the operations of a rank and their dependencies. Ranks may share them.
type Rank struct {
	Ops   []Op
	Edges []Edge
}

// Graph is a program of every rank.
type Graph struct {
	Format, Name string
	Ranks        []Rank
	// Where returns the place of an operation in the file.
	Where func(rank, op int) foreign.Place
	// Defects lists errors that the reader has found in operations.
	Defects []Defect
	Types   []string // element types of messages; the first stands for none
	// Simulator names the simulator of the format, which runs the operations of a CPU, and the
	// sends of a NIC, one at a time. A note says where that would make a difference.
	Simulator string
}

// Defect is an error in an operation of a rank.
type Defect struct {
	Rank, Op int
	Kind     schedule.ViolationKind
	Text     string
}

// MaxRanks bounds the ranks of a file, MaxLanes the lanes of a rank.
const (
	MaxRanks = 1 << 16
	MaxLanes = 1 << 16
)

// Refuse returns the first option that does not apply to a file without data, as an error; nil if
// there is none.
func Refuse(o *foreign.Options) error {
	wrong := ""
	switch {
	case o.Count != 0 || o.Bytes != 0:
		wrong = "a size cannot be chosen: the file says how many bytes every message has"
	case o.Place != foreign.AsFile:
		wrong = "in place or not cannot be chosen: the file has no buffers"
	case o.Protocol != "":
		wrong = fmt.Sprintf("protocol %q cannot be chosen: the file has none", o.Protocol)
	case o.StrictNop:
		wrong = "strict nop concerns MSCCL++ plans only"
	case o.Root != 0 && o.As == 0:
		wrong = fmt.Sprintf("root %d: say which kind of collective it is the root of", o.Root)
	case o.Root < 0 || o.Root != 0 && !o.As.Rooted():
		wrong = fmt.Sprintf("root %d: %v has no such root", o.Root, o.As)
	default:
		return nil
	}
	return &foreign.Error{File: o.File, Text: wrong}
}
