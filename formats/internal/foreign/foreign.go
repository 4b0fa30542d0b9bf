// Package foreign is what the readers of other people's schedules have in common: how they are
// asked, what they return, and how they name a place in a file. Each reader is a package beside it
// and lowers its format to a schedule.Schedule, so that everything that proves, times and draws
// ours does the same for theirs. The package knows no format.
package foreign

import (
	"errors"
	"fmt"

	"collsim/collective"
	"collsim/dtype"
	"collsim/internal/input"
	"collsim/schedule"
	"collsim/unit"
)

// Options say how a file is to be taken. The zero value takes it as it is labelled, at the least
// size at which every part of it moves a few elements.
type Options struct {
	File string          // its name, for errors
	As   collective.Kind // overrides the file's label; 0 does not
	Root int             // of rooted kinds
	Type dtype.Type      // float32 if 0
	Op   collective.Op   // sum if 0; of kinds that reduce
	// Avg and Factor go with Op, as in collective.Spec.
	Avg    collective.AvgMode
	Factor float64
	// Count is elements as in collective.Spec, Bytes is nccl-tests' size; at most one is given.
	Count int64
	Bytes unit.Bytes
	Place Placement
	// Protocol overrides the file's: "Simple", "LL" or "LL128".
	Protocol string
	// StrictNop holds that the operations of an MSCCL++ thread block are ordered by nop alone.
	StrictNop bool
	// Runtime is whose limits hold: "msccl" (the default), "rccl", or "none".
	Runtime string
	// Limit is how many bytes the file may have, unpacked; 1 GiB if it is 0.
	Limit unit.Bytes
}

// Placement says where the output lies.
type Placement uint8

// The placements.
const (
	AsFile Placement = iota // as the file says, out of place if it does not
	OutOfPlace
	InPlace
)

// File is a schedule that somebody else has written.
type File struct {
	Format   string // "msccl", "mscclpp", "goal", …
	Name     string // that the file gives itself
	Schedule *schedule.Schedule
	// Where is the place in the file of a step of the schedule; Line 0 if it has none.
	Where func(rank, lane, step int) Place
	// Found is what is wrong with the file without running it: limits that it breaks, operations
	// that nothing matches. Verify adds to it.
	Found []*schedule.Violation
	// Causal is what a file without data must do instead, nil for files with data.
	Causal *schedule.Causal
	// Scratches is how many scratch buffers a rank has, which its calls take turns at; 0 is one.
	Scratches int
	Sizes     string   // that the file is for, in words
	Ranges    []Range  // of these sizes, from the smallest on; nil: the file is the same at all
	Notes     []string // what a reader should know besides
}

// Range is sizes for which a file is the same schedule but for the sizes of messages. Other ranges
// have other messages.
type Range struct {
	From, To unit.Bytes // of nccl-tests' vector, both included; To 0: any that are larger
	Steps    int64      // of the schedule then, counted before it is made
	// Read is the file at one of these sizes; nil in the range of the size that it has been read at.
	Read func() (*File, error)
}

// Place is a place in a file. Block and Step are the file's own numbers, −1 where it has none.
type Place struct {
	Line, Block, Step int
	Text              string // what stands there, in a few words
}

// String is such as "line 12: gpu 0 tb 3 step 2: rrc".
func (p Place) String() string {
	if p.Line == 0 {
		return p.Text
	}
	if p.Text == "" {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Text)
}

// Error is what is wrong with a file that cannot be read, and where. Line is 0 where it concerns
// the file as a whole.
type Error struct {
	File string
	Line int
	Text string // what was found, and what was expected
	Hint string
}

// Error is such as "my.xml:12: step type \"rcx\": …".
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}
	if text += ": " + e.Text; e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Long is the error of a file that is longer than its limit, at the line that another error of
// reading it knows.
func Long(file string, long *input.LongError, err error) *Error {
	e := &Error{File: file, Text: long.Error(), Hint: long.Hint()}
	var at *Error
	if errors.As(err, &at) {
		e.Line = at.Line
	}
	return e
}

// grain is how many elements the least size gives the smallest part.
const grain = 4

// Whole is the elements of nccl-tests' vector: what was asked for, or the least number that parts
// and, for kinds with a block a rank, ranks divide.
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
	return grain * parts / gcd(parts, blocks) * blocks
}

// DataType is the type of the elements.
func (o *Options) DataType() dtype.Type {
	if o.Type == 0 {
		return dtype.Float32
	}
	return o.Type
}

// Spec is the problem that a file for so many ranks is to solve: the one of its label, unless the
// options override that. parts is the number of chunks of nccl-tests' vector. The sizes of Custom
// are left to the reader.
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

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
