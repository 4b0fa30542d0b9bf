// Package foreign holds the types that all readers of other projects' schedules share: their
// options, their result, and the naming of places in a file. Each reader is a package beside it and
// lowers its format to a schedule.Schedule, so that proof, simulation and pictures treat it like
// our own. The package knows no format.
package foreign

import (
	"errors"
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/diag"
	"collsim/internal/input"
	"collsim/schedule"
	"collsim/unit"
)

// Options select how a file is read. The zero value takes it as it is labelled, at the least size
// at which every part of it moves a few elements.
type Options struct {
	File string          // its name, for errors
	As   collective.Kind // replaces the file's label, unless 0
	Root int             // of rooted kinds
	Type dtype.Type      // float32 if 0
	Op   collective.Op   // sum if 0; of kinds that reduce
	// Avg and Factor go with Op, as in collective.Spec.
	Avg    collective.AvgMode
	Factor float64
	// Count is the elements as in collective.Spec, Bytes nccl-tests' size; at most one is given.
	Count int64
	Bytes unit.Bytes
	Place Placement
	// Protocol replaces the file's: "Simple", "LL" or "LL128".
	Protocol string
	// StrictNop assumes that only nop orders the operations of an MSCCL++ thread block.
	StrictNop bool
	// Order says in which order a rank makes calls of a trace that nothing orders: that of their "id",
	// or of the "time" at which they began. Without it they are a race.
	Order string
	// Runtime names the runtime whose limits hold: "msccl" (the default), "rccl", or "none".
	Runtime string
	// Limit is the most bytes of the file, unpacked; 1 GiB if it is 0.
	Limit unit.Bytes
}

// Placement selects whether the output is in place.
type Placement uint8

// The placements.
const (
	AsFile Placement = iota // as the file states, out of place if it does not
	OutOfPlace
	InPlace
)

// File is a schedule that was read from another project's format.
type File struct {
	Format   string // "msccl", "mscclpp", "goal", …
	Name     string // the name inside the file
	Schedule *schedule.Schedule
	// Where returns the place in the file of a step of the schedule; Line 0 if it has none.
	Where func(rank, lane, step int) Place
	// Found lists the violations that reading shows without a run: limits that the file exceeds,
	// operations without a match. Verify adds to it.
	Found []*schedule.Violation
	// Causal is the order that a file without data must keep; nil for files with data.
	Causal *schedule.Causal
	// Scratches is the number of scratch buffers of a rank, which successive calls use in turn; 0
	// is one.
	Scratches int
	Sizes     string   // the supported sizes, in words
	Ranges    []Range  // of these sizes, ascending; nil: the file is the same at all
	Notes     []string // for the user
	Calls     []string // who takes part in each call, of a file that says it
}

// Range is a range of sizes at which a file is the same schedule with messages of other sizes. In
// another range it has other messages.
type Range struct {
	From, To unit.Bytes // of nccl-tests' vector, both inclusive; To 0: no upper end
	Steps    int64      // of the schedule at such a size, counted before it is made
	// Read reads the file at one of these sizes; nil in the range of the size at which it was read.
	Read func() (*File, error)
}

// Place is a place in a file. Block and Step are the file's own numbers, −1 where it has none.
type Place struct {
	Line, Block, Step int
	Text              string // the operation there, in a few words
}

// String returns such as "line 12: gpu 0 tb 3 step 2: rrc".
func (p Place) String() string {
	if p.Line == 0 {
		return p.Text
	}
	if p.Text == "" {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Text)
}

// Error reports a file that cannot be read: what was found, and what was expected. Line is 0 where
// the error concerns the file as a whole.
type Error = diag.Problem

// Unknown begins the text of an error about a file of no format that is read.
const Unknown = "of no known format"

// Long returns the error of a file that exceeds its limit, with the line of another error of
// reading it.
func Long(file string, long *input.LongError, err error) *Error {
	e := &Error{File: file, Text: long.Error(), Hint: long.Hint()}
	var at *Error
	if errors.As(err, &at) {
		e.Line = at.Line
	}
	return e
}

// grain is the elements of the smallest part at the least size.
const grain = 4

// Whole returns the elements of nccl-tests' vector: those of the options, or the least number that
// parts divide. For kinds with a block for each rank, ranks must divide it, too.
func (o *Options) Whole(kind collective.Kind, ranks int, parts int64) int64 {
	blocks := int64(1)
	if kind.Gathers() || kind.Scatters() || kind == collective.AllToAll {
		blocks = int64(ranks)
	}
	switch {
	case o.Count > 0:
		return o.Count * blocks
	case o.Bytes > 0:
		return int64(o.Bytes) / int64(o.DataType().Width()) / blocks * blocks
	}
	return grain * parts / unit.GCD(parts, blocks) * blocks
}

// DataType returns the type of the elements.
func (o *Options) DataType() dtype.Type {
	if o.Type == 0 {
		return dtype.Float32
	}
	return o.Type
}

// Spec returns the problem that a file for so many ranks solves: that of its label, with the
// options applied. parts is the number of chunks of nccl-tests' vector. The sizes of Custom are
// left to the reader.
func (o *Options) Spec(
	label collective.Kind, ranks int, parts int64, inPlace bool,
) (collective.Spec, error) {
	s := collective.Spec{Kind: label, Type: o.DataType(), Ranks: ranks, Root: o.Root}
	if o.As != 0 {
		s.Kind = o.As
	}
	s.InPlace = inPlace && o.Place == AsFile || o.Place == InPlace
	if s.Kind.Reduces() || s.Kind == collective.Custom {
		s.Op, s.Avg, s.Factor = o.Op, o.Avg, o.Factor
		if s.Op == 0 {
			s.Op = collective.Sum
		}
	}
	switch {
	case o.Count > collective.MaxElements/int64(max(ranks, 1)):
		return s, fmt.Errorf("count %d on %d ranks is too large", o.Count, ranks)
	case s.Kind == collective.Custom:
		return s, nil
	case s.Kind.Splits():
		return s, fmt.Errorf("a file gives no sizes for every rank, as %v needs", s.Kind)
	case s.Kind == collective.Barrier:
		s.Type = 0
		return s, s.Validate()
	}
	s.Count = o.Whole(s.Kind, ranks, parts)
	if s.Kind.Gathers() || s.Kind.Scatters() || s.Kind == collective.AllToAll {
		s.Count /= int64(ranks)
	}
	return s, s.Validate()
}
