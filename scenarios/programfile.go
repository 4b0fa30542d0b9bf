package scenarios

import (
	"fmt"
)

// ProgramFile has the contents of a program's file. Its tensors and ops are in no table: At is −1.
type ProgramFile struct {
	Groups  []ProgramGroup
	Tensors []ProgramTensor
	Ops     []ProgramOp
	Notes   []string // what a reader should know besides
}

// programFile takes the ops of a program from a file, if it names one; given is whether it does.
func (r *run) programFile(v *view, p *ProgramPoint) (ok, given bool) {
	const at = "program.file"
	name, given, ok := fetch[string](v, at)
	if !given || !ok {
		return ok, given
	}
	for _, table := range []string{"group", "tensor", "op"} {
		if r.d.count("program."+table) > 0 {
			v.fail(at, problem{"the file has all of the program", fmt.Sprintf("leave [[program.%s]] out, "+
				"or the file", table)})
			return false, true
		}
	}
	if p.Topology == nil {
		return false, true
	}
	answer, known := r.ask(WhichProgram, &Point{Topology: p.Topology, Data: Files{Input: name}})
	if answer.Err != nil {
		v.fail(at, problem{text: answer.Err.Error()})
	}
	if answer.Err != nil || !known {
		return false, true
	}
	f := answer.Program
	p.Groups, p.Tensors, p.Ops, p.Notes = f.Groups, f.Tensors, f.Ops, f.Notes
	return v.fewer(at, max(len(p.Ops), len(p.Tensors))), true
}
