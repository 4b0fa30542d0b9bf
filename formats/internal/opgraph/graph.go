// Package opgraph lowers programs that are graphs of operations to schedules: what a rank sends,
// receives and computes, without data, ordered by nothing but dependencies. Several formats are
// such graphs; their readers build one, and everything below is the same for all of them.
//
// The operations of a rank become chains, a lane each, along dependencies; the dependencies between
// chains become events. Nothing else is ordered: operations without a path between them go on at
// once. Messages are paired beforehand, per source, destination and tag, in the order in which
// they are posted; where that order is not the same in every run, the match is ambiguous, and said
// to be (see match.go). Bytes are read from an input that only has the right sizes; nothing is
// stored.
//
// The package knows no format and no time.
package opgraph

import (
	"fmt"

	"collsim/formats/internal/foreign"
	"collsim/schedule"
)

// Kind is what an operation does.
type Kind uint8

// The kinds of operation.
const (
	Calc Kind = iota // takes Cost
	Send             // sends Bytes to Peer; it has ended when they have left
	Recv             // receives Bytes from Peer; it has ended when they are there
)

// Op is an operation of a rank. Its number in its rank decides between operations that become
// ready at the same moment: the lower one is posted first.
type Op struct {
	Kind     Kind
	CPU, NIC uint8 // whose it is; operations of one are not ordered by that
	Type     uint8 // of Send and Recv: of Graph.Types what the bytes are; 0 where nobody says
	Peer     int32 // of Send and Recv; it need not exist
	Line     int32 // in the file, 0 for none
	Tag      int64 // of Send and Recv: they match those with equal tags only
	Bytes    int64 // of Send and Recv
	Cost     int64 // of Calc, picoseconds
}

// Edge is a dependency: operation Op of a rank is posted after operation On of the same rank has
// ended, or, with Start, has been posted.
type Edge struct {
	Op, On int32
	Start  bool
}

// Rank is what a rank does.
type Rank struct {
	Ops   []Op
	Edges []Edge
}

// Graph is a program of every rank.
type Graph struct {
	Format, Name string
	Ranks        []Rank
	// Where is the place of an operation in the file.
	Where func(rank, op int) foreign.Place
	// Defects are what the reader has found wrong with operations.
	Defects []Defect
	Types   []string // of what messages carry, by number; the first is none
	// Simulator is whose the format is: it runs the operations of a CPU, and the sends of a NIC,
	// one at a time. A note says where that would make a difference.
	Simulator string
}

// Defect is something wrong with an operation of a rank.
type Defect struct {
	Rank, Op int
	Kind     schedule.ViolationKind
	Text     string
}

// MaxRanks and MaxLanes bound what a file may ask for; lanes are those of one rank.
const (
	MaxRanks = 1 << 16
	MaxLanes = 1 << 16
)

// Refuse is what is wrong with options for a file without data, nil if nothing is.
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
