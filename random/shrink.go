package random

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leanovate/gopter"

	"collsim/collective"
	"collsim/program"
)

// simplerPrograms shrinks programs.
func simplerPrograms(v any) gopter.Shrink { return each(v.(Program).simpler()) }

// simpler lists programs with fewer passes, ops, tensors, groups and attributes, those that drop
// most first.
func (p Program) simpler() (list []Program) {
	add := func(q Program) {
		if isValid(q.Program) {
			list = append(list, q)
		}
	}
	try := func(change func(q *Program)) {
		q := p.clone()
		change(&q)
		if q.String() != p.String() {
			add(q)
		}
	}
	for i := range p.Ops {
		add(p.withoutOp(len(p.Ops) - 1 - i))
	}
	for _, field := range passes() {
		try(func(q *Program) { field.turnOff(&q.Lowering) })
	}
	try(func(q *Program) { q.Iterations = 1 })
	for i := range p.Ops {
		try(func(q *Program) { q.Ops[i].After = nil })
		try(func(q *Program) { q.Ops[i].Async = false })
		try(func(q *Program) { q.Ops[i].Stream = "" })
		try(func(q *Program) { q.Ops[i].Group = "" })
		if in := p.Ops[i].In; len(in) > 0 && len(p.Tensors) > 0 { // no longer what another op writes
			try(func(q *Program) { q.Ops[i].In = append([]string{q.Tensors[0].Name}, in[1:]...) })
		}
		if c, err := collective.ParseCommunication(p.Ops[i].Call); err == nil && c.Op > collective.Sum {
			try(func(q *Program) { q.Ops[i].Call = strings.Replace(q.Ops[i].Call, opText(c), "sum", 1) })
		}
	}
	for i := range p.Tensors {
		try(func(q *Program) { q.Tensors[i].Keep = false })
		try(func(q *Program) { q.Tensors[i].Memory = program.Private })
		try(func(q *Program) { q.Tensors = slices.Delete(q.Tensors, i, i+1) })
	}
	for i := range p.Groups {
		try(func(q *Program) { q.Groups = slices.Delete(q.Groups, i, i+1) })
	}
	return list
}

// opText formats the operator of a call.
func opText(c *collective.Communication) string {
	if c.Op == collective.PremulSum {
		return fmt.Sprintf("%v factor %v", c.Op, c.Factor)
	}
	return c.Op.String()
}

// withoutOp drops an op and all dependencies on it.
func (p Program) withoutOp(i int) Program {
	q := p.clone()
	gone := q.Ops[i].Name
	q.Ops = slices.Delete(q.Ops, i, i+1)
	for k := range q.Ops {
		q.Ops[k].After = slices.DeleteFunc(q.Ops[k].After, func(name string) bool { return name == gone })
	}
	return q
}

// clone returns a deep copy.
func (p Program) clone() Program {
	q := *p.Program
	q.Tensors, q.Groups = slices.Clone(q.Tensors), slices.Clone(q.Groups)
	q.Ops = slices.Clone(q.Ops)
	for i := range q.Ops {
		q.Ops[i].After = slices.Clone(q.Ops[i].After)
	}
	return Program{&q, p.Lowering}
}

// pass is a field of program.Lowering that turns a pass on.
type pass struct {
	name    string
	is      func(*program.Lowering) any // its value
	turnOff func(*program.Lowering)
}

// passes lists all passes.
func passes() []pass {
	return []pass{
		{"one_shot", func(l *program.Lowering) any { return l.OneShot },
			func(l *program.Lowering) { l.OneShot = 0 }},
		{"symmetric_memory", func(l *program.Lowering) any { return l.SymmetricMemory },
			func(l *program.Lowering) { l.SymmetricMemory = false }},
		{"bucket", func(l *program.Lowering) any { return l.Bucket },
			func(l *program.Lowering) { l.Bucket = 0 }},
		{"coalesce", func(l *program.Lowering) any { return l.Coalesce },
			func(l *program.Lowering) { l.Coalesce = false }},
		{"in_place", func(l *program.Lowering) any { return l.InPlace },
			func(l *program.Lowering) { l.InPlace = false }},
		{"pipeline", func(l *program.Lowering) any { return program.Pipelines()[l.Pipeline] },
			func(l *program.Lowering) { l.Pipeline = program.NoPipeline }},
		{"comm_buffer", func(l *program.Lowering) any { return l.CommBuffer },
			func(l *program.Lowering) { l.CommBuffer = 0 }},
		{"register", func(l *program.Lowering) any { return l.Register },
			func(l *program.Lowering) { l.Register, l.Persistent, l.Registering = false, false, 0 }},
		{"persistent", func(l *program.Lowering) any { return l.Persistent },
			func(l *program.Lowering) { l.Persistent = false }},
		{"registering", func(l *program.Lowering) any { return l.Registering },
			func(l *program.Lowering) { l.Registering = 0 }},
		{"reorder", func(l *program.Lowering) any { return l.Reorder },
			func(l *program.Lowering) { l.Reorder = false }},
		{"reuse", func(l *program.Lowering) any { return l.Reuse },
			func(l *program.Lowering) { l.Reuse = false }},
	}
}
