// Package mscclpp reads and writes execution plans of MSCCL++ (JSON, one object for all GPUs). It
// lowers a plan to a schedule, at one size, with the semantics of its executor: microsoft/mscclpp,
// src/core/executor and execution_kernel.hpp, commit 1f5f065d.
//
// A thread block is a lane, and its operations are in order. With StrictNop only nop orders them,
// and every operation between two nops gets a lane of its own.
//
//   - Buffers are made of chunks, chunks of units of buffer_alignment bytes. All places where a
//     range of some operation begins or ends divide a buffer into the schedule's blocks.
//   - The k-th channel of rank r to rank q is the other end of the k-th of q to r. The n-th signal
//     of one end meets the n-th wait of the other.
//   - A put over memory is stores by the block's threads: unacknowledged, released by its next
//     signal. A put over a port is made by a proxy: its message is observed with the channel's next
//     signal, and its origin is free after a flush.
//   - Packets carry their flag with the data. The first reader in a block awaits the writers. If
//     several blocks read, the data is put without acknowledgement, and each of them gets a flag.
//     Packets take twice the bytes in memory; offsets and sizes here count their data.
//   - Barriers of blocks and semaphores are events.
//
// A schedule of messages, copies and sums is written as a plan in four steps: gather finds the
// places of all that its steps name, compose makes operations of a step, divide gives lanes thread
// blocks, order and acknowledge add what they wait for.
//
// The package does not know how a schedule is proven or timed.
package mscclpp

import (
	"fmt"
	"io"
	"slices"

	"collsim/formats/internal/foreign"
	"collsim/schedule"
)

// Read reads a plan. A plan that cannot be read, or cannot be executed at the size of the options,
// is a *foreign.Error. Limits of the executor that a plan exceeds are violations in File.Found,
// unless Options.Runtime is "none".
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

// scratches returns 2 if launches alternate between two halves of the scratch buffer, else 1.
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

// at makes an error on a line.
func at(line int, format string, args ...any) *foreign.Error {
	return &foreign.Error{Line: line, Text: fmt.Sprintf(format, args...)}
}

// lowering converts a plan to its schedule.
type lowering struct {
	plan    *plan
	options foreign.Options
	head    schedule.Schedule
	chunk   int64 // elements
	wires   []wiring
	nodes   []node
	lanes   [][][]int32 // by rank and lane: nodes
	ghosts  []ghost     // of each rank
	ends    [3][]int64  // of the blocks of each buffer
	steps   [][][]int32 // by rank, lane and step: the node
	looks   int         // number of comparisons with writes of packets
	found   []finding
	notes   []string
}

// maxFound bounds the violations, and the notes, that are kept.
const maxFound = 100

// ghost is a lane of a rank that stands for missing parts of the plan. It ends without the posts
// that others await, and receives messages that no lane receives. It exists only if needed.
type ghost struct {
	needed bool
	hears  []schedule.Peer // puts that it observes
}

// finding is a violation at a node.
type finding struct {
	kind schedule.ViolationKind
	node int32 // −1 for none
	rank int
	text string
}

// note adds a remark for the user, once.
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
