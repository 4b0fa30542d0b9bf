package run

import (
	"bytes"
	"fmt"

	"collsim/collective"
	"collsim/formats/simai"
	"collsim/internal/prose"
	"collsim/scenarios"
	"collsim/unit"
)

// A workload of SimAI as a program, in the order in which SimAI goes through it: layers forward,
// each computing and then communicating; layers backward, the gradient of the input and then that
// of the weights, whose communication goes on beside what follows.

// workload reads one.
func workload(file programText, _ *scenarios.ProgramSource, ranks int) (*scenarios.ProgramFile,
	error) {
	w, err := simai.Read(file.name, bytes.NewReader(file.text))
	if err != nil {
		return nil, err
	}
	if w.Ranks() != ranks {
		return nil, fmt.Errorf("%s: all_gpus: %d in pp: %d stages are %d ranks; the network has %d",
			file.name, w.GPUs, w.PP, w.Ranks(), ranks)
	}
	l := layers{Workload: w, file: &scenarios.ProgramFile{}}
	for i := range w.Layers {
		one := &w.Layers[i]
		l.pass(one.Name+" forward", one.Forward, one.Delay, true)
	}
	for i := len(w.Layers) - 1; i >= 0; i-- {
		one := &w.Layers[i]
		l.pass(one.Name+" input gradient", one.Input, one.Delay, true)
		l.pass(one.Name+" weight gradient", one.Weight, one.Delay, false)
	}
	l.notes()
	return l.file, nil
}

// layers makes the ops of a workload.
type layers struct {
	*simai.Workload
	file    *scenarios.ProgramFile
	names   prose.Names
	last    string // the op that what follows waits for
	rounded int    // calls whose bytes are no multiple of their ranks
}

// pass adds what a pass computes and communicates, and the delay behind that. If the pass waits,
// what follows does so only when it has ended.
func (l *layers) pass(name string, p simai.Pass, delay unit.Time, waits bool) {
	l.opaque(name, "compute", p.Time, l.last, true)
	if p.Kind == 0 {
		return
	}
	teams := l.Teams(p.Group)
	n := int64(len(teams[0]))
	if n == 1 {
		return
	}
	size := p.Bytes
	if p.Kind != collective.AllReduce && size%n != 0 {
		size += n - size%n
		l.rounded++
	}
	if p.Kind == collective.AllGather {
		size /= n
	}
	name = fmt.Sprintf("%s %v", name, p.Kind)
	op := l.op(name, l.last)
	op.Group, op.Stream = groupOf(l.file, teams, l.Ranks()), "comm "+p.Group
	call(l.file, &op, &collective.Communication{Kind: p.Kind}, unit.Bytes(size))
	l.add(op, waits)
	l.opaque(name+" delay", "host", delay, op.Name, waits)
}

// opaque adds an op that takes some time, after another; none if it takes no time.
func (l *layers) opaque(name, stream string, time unit.Time, after string, waits bool) {
	if time == 0 {
		return
	}
	op := l.op(name, after)
	op.Kernel, op.Stream = fmt.Sprintf("opaque %d ps", int64(time)), stream
	l.add(op, waits)
}

// op returns an op with a name of its own, after another, if there is one.
func (l *layers) op(name, after string) scenarios.ProgramOp {
	op := scenarios.ProgramOp{Name: l.names.Unique(name), At: -1}
	if after != "" {
		op.After = []string{after}
	}
	return op
}

func (l *layers) add(op scenarios.ProgramOp, waits bool) {
	l.file.Ops = append(l.file.Ops, op)
	if waits {
		l.last = op.Name
	}
}

// notes says what the file leaves out and what was taken for granted.
func (l *layers) notes() {
	if l.PP > 1 {
		l.file.Notes = append(l.file.Notes, fmt.Sprintf("the layers are those of one of %d stages: "+
			"messages between stages, of %v each, and the time in which stages wait for each other are "+
			"not in them", l.PP, unit.Bytes(l.PPBytes)))
	}
	if l.rounded > 0 {
		l.file.Notes = append(l.file.Notes, fmt.Sprintf("bytes of %d calls are rounded up to a multiple "+
			"of their ranks", l.rounded))
	}
}
