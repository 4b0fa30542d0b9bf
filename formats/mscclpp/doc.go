// Package mscclpp reads execution plans of MSCCL++ (JSON, one object for all GPUs), and lowers them
// to a schedule: what the plan says, at one size, as its executor carries it out
// (microsoft/mscclpp, src/core/executor and execution_kernel.hpp, commit 1f5f065d).
//
// A thread block is a lane, and its operations are in order; held to the letter (StrictNop) they
// are ordered by nop alone, and every operation between two of them gets a lane of its own.
//
//   - Buffers are made of chunks, chunks of units of buffer_alignment bytes. All places where a
//     range of some operation begins or ends divide a buffer into the schedule's blocks.
//   - The k-th channel of rank r to rank q is the other end of the k-th of q to r. The n-th signal
//     of one end meets the n-th wait of the other.
//   - A put over memory is stores by the block's threads: silent, released by its next signal. A
//     put over a port is made by a proxy: its message is observed with the channel's next signal,
//     its origin is free after a flush.
//   - Packets carry their flag with the data. Whoever reads them first in a block awaits those who
//     write them; if several blocks do, the data is put silently and each of them gets a flag.
//     Packets take twice the bytes in memory; offsets and sizes here count what they carry.
//   - Barriers of blocks and semaphores are events.
//
// The package knows nothing of how a schedule is proven or timed.
package mscclpp

import (
	"fmt"
	"io"
	"slices"

	"collsim/formats/internal/foreign"
	"collsim/schedule"
)

// Read reads a plan. What cannot be read, or cannot be carried out at the size that the options
// name, is a *foreign.Error; what the executor has no room for is found (File.Found), unless
// Options.Runtime is "none".
func Read(r io.Reader, o foreign.Options) (*foreign.File, error) {
	d := newDecoder(r, o.File)
	p := d.plan()
	if d.err != nil {
		return nil, d.err
	}
	l := &lowering{plan: p, options: o}
	for _, phase := range []func() error{l.resolve, l.size, l.unroll, l.pairSignals,
		l.pairBarriers, l.pairSemaphores, l.pairPackets} {
		if err := phase(); err != nil {
			return nil, l.named(err)
		}
	}
	l.checkLimits()
	l.checkAliases()
	l.checkOverlaps()
	s, err := l.assemble()
	if err != nil {
		return nil, l.named(err)
	}
	return &foreign.File{Format: "mscclpp", Name: p.name, Schedule: s, Where: l.where,
		Found: l.violations(), Sizes: l.sizes(), Notes: l.notes, Scratches: l.scratches()}, nil
}

// scratches is 2 if launches take turns between two halves of the scratch buffer.
func (l *lowering) scratches() int {
	if l.plan.double {
		return 2
	}
	return 1
}

// named gives an error the file's name.
func (l *lowering) named(err error) error {
	if e, ok := err.(*foreign.Error); ok {
		e.File = l.options.File
		return e
	}
	return &foreign.Error{File: l.options.File, Text: err.Error()}
}

// at is an error on a line.
func at(line int, format string, args ...any) *foreign.Error {
	return &foreign.Error{Line: line, Text: fmt.Sprintf(format, args...)}
}

// lowering is the state between a plan and its schedule.
type lowering struct {
	plan    *plan
	options foreign.Options
	head    schedule.Schedule
	chunk   int64 // elements
	wires   []wiring
	nodes   []node
	lanes   [][][]int32 // nodes of each lane of each rank
	ghosts  []ghost     // of each rank
	ends    [3][]int64  // of the blocks of each buffer
	steps   [][][]int32 // of each lane of each rank: the node that each step belongs to
	looks   int         // at writes of packets
	found   []finding
	notes   []string
}

// maxFound bounds how many violations, and how many notes, are kept.
const maxFound = 100

// ghost is a lane of a rank that stands for what the plan lacks: it ends without what others await,
// and takes what nobody else does. It exists if needed.
type ghost struct {
	needed bool
	hears  []schedule.Peer // puts
}

// finding is a violation at a node.
type finding struct {
	kind schedule.ViolationKind
	node int32 // −1 for none
	rank int
	text string
}

// note adds something that a reader should know, once.
func (l *lowering) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(l.notes) < maxFound && !slices.Contains(l.notes, text) {
		l.notes = append(l.notes, text)
	}
}

// find adds a violation at a node.
func (l *lowering) find(kind schedule.ViolationKind, n int32, format string, args ...any) {
	if len(l.found) < maxFound {
		l.found = append(l.found, finding{kind, n, int(l.nodes[n].rank), fmt.Sprintf(format, args...)})
	}
}
