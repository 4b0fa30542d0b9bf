package msccl

import (
	"bufio"
	"fmt"
	"io"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/schedule"
	"collsim/unit"
)

// WriteOptions select the runtime that a file is written for. The zero value is Microsoft's, with
// Simple.
type WriteOptions struct {
	// the runtime whose limits and labels hold: "msccl" (the default), "rccl", or "none"
	Runtime  string
	Protocol string // "Simple" (the default), "LL" or "LL128"
	// MinBytes and MaxBytes are the sizes for which the runtime is to select the file. MaxBytes 0
	// is no limit for RCCL; for Microsoft's it is 128 MiB, or what the schedule needs.
	MinBytes, MaxBytes unit.Bytes
	// Prove checks the schedule that a runtime would execute, one call at a time. Nil checks
	// nothing.
	Prove func(*schedule.Schedule) error
}

// defaultMaxBytes is the largest size at which Microsoft's runtime selects a file without maxBytes
// (topo.cc).
const defaultMaxBytes = 1 << 27

// Write writes a schedule as an MSCCL XML file that the runtime executes in the same order. Lanes
// become thread blocks, each with one peer to send to and one to receive from on a channel. A step
// with several messages, or with blocks that are not contiguous, becomes several. It refuses, with
// an error that names it, anything that the format cannot express: puts, gets, signals, scales,
// several sizes of block. It likewise refuses what exceeds the runtime's limits: steps, thread
// blocks, slots of a connection. Equal schedules give equal bytes. The notes name additional costs
// of the file.
func Write(w io.Writer, s *schedule.Schedule, o WriteOptions) ([]string, error) {
	if o.Protocol == "" {
		o.Protocol = protocols()[0].name
	}
	proto, err := findProtocol(o.Protocol)
	if err != nil {
		return nil, err
	}
	rt, err := findRuntime(o.Runtime)
	if err != nil {
		return nil, err
	}
	label, err := labelOf(&s.Spec, rt)
	if err != nil {
		return nil, err
	}
	x, err := gather(s)
	if err != nil {
		return nil, err
	}
	p, err := x.program(label, proto)
	if err != nil {
		return nil, err
	}
	p.sizes(&o, rt, unit.Bytes(x.whole*int64(s.Spec.Type.Width())))
	if err := tryOut(p, s, x.whole, rt.name, o.Prove); err != nil {
		return nil, err
	}
	b := bufio.NewWriter(w)
	p.print(b)
	return x.apart.notes(), b.Flush()
}

// notes describes the differences of the file from the schedule.
func (p parted) notes() []string {
	if p.messages == 0 {
		return nil
	}
	return []string{fmt.Sprintf("messages of blocks that are not side by side, or of more than a "+
		"step of the runtime moves: %d, which the file sends as %d; it takes longer than the "+
		"schedule, a latency for each", p.messages, p.sends)}
}

// carriesOut reports whether the runtimes have an operator.
func carriesOut(op collective.Op) bool { return op <= collective.Max }

// labelOf returns the runtime's name of a collective, or the reason why it has none.
func labelOf(spec *collective.Spec, rt *runtime) (string, error) {
	switch {
	case !carriesOut(spec.Op):
		return "", fmt.Errorf("op %v: the runtimes carry out sum, prod, min and max; others they "+
			"leave to NCCL", spec.Op)
	case spec.Op != 0 && spec.Type.IsComplex():
		return "", fmt.Errorf("%v: the runtimes have no complex numbers to reduce; twice as many of %v "+
			"have the same sum", spec.Type, spec.Type.Component())
	case spec.Kind.Splits() && spec.Kind != collective.Custom:
		return "", fmt.Errorf("%v: a file has chunks of one size", spec.Kind)
	case spec.Empty():
		return "", fmt.Errorf("%v of no elements: there is nothing to write", spec.Kind)
	}
	for _, l := range labels() {
		if l.kind != spec.Kind {
			continue
		}
		microsofts := l.name == "reduce_scatter" || l.name == "custom"
		rccls := l.name == "reducescatter" || l.kind == collective.Gather ||
			l.kind == collective.Scatter
		if !microsofts && !rccls || (rt.name == "rccl") == rccls {
			return l.name, nil
		}
		if rt.name == "none" {
			return l.name, nil
		}
	}
	return "", fmt.Errorf("%v has no label in a file for %s", spec.Kind, rt.name)
}

// sizes sets the sizes for which the runtime is to select the file.
func (p *program) sizes(o *WriteOptions, rt *runtime, bytes unit.Bytes) {
	p.minBytes, p.maxBytes = -1, -1
	if rt.name == "rccl" || o.MinBytes > 0 || o.MaxBytes > 0 {
		p.minBytes, p.maxBytes = int64(o.MinBytes), int64(o.MaxBytes)
	}
	if rt.name != "rccl" && o.MaxBytes == 0 {
		if p.maxBytes = -1; bytes >= defaultMaxBytes {
			p.minBytes, p.maxBytes = int64(o.MinBytes), int64(bytes)+1
		}
	}
	p.modes = rt.name == "rccl"
	p.outOfPlace = !p.inPlace
}

// tryOut lowers a program as the runtime would execute it and proves the result. It so refuses
// schedules that are wrong, and those with teams.
func tryOut(p *program, s *schedule.Schedule, whole int64, runtime string,
	prove func(*schedule.Schedule) error) error {
	o := foreign.Options{File: "the file", Type: s.Spec.Type, Op: s.Spec.Op, Root: s.Spec.Root,
		Count: s.Spec.Count, Runtime: runtime, As: s.Spec.Kind}
	if s.Spec.Kind == collective.Custom {
		o.Op, o.Count = 0, whole
	}
	l := &lowering{scanner: &scanner{file: o.File}, program: p, options: &o, ranks: p.ranks}
	if err := l.settle(); err != nil {
		return err
	}
	if err := l.build(); err != nil {
		return err
	}
	for _, v := range l.found() {
		return fmt.Errorf("%s (gpu %d)", v.Text, v.Rank)
	}
	made, err := l.assemble()
	if err != nil {
		return err
	}
	if prove == nil {
		return nil
	}
	if err := prove(made); err != nil {
		return fmt.Errorf("the file would not do %v, with %d places of a connection as %s has: %w",
			s.Spec.Kind, made.Slots, p.protocol, err)
	}
	return nil
}
