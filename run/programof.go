package run

import (
	"slices"

	"collsim/program"
	"collsim/scenarios"
)

// programOf converts a scenario's program to one of package program, under a name.
func programOf(p *scenarios.ProgramPoint, name string) *program.Program {
	of := &program.Program{Name: name, Ranks: p.Topology.Ranks, Iterations: p.Iterations,
		Gradient: p.Gradient, Stages: p.Stages,
		Order: program.Order(max(slices.Index(program.Orders(), p.Order), 0))}
	for _, g := range p.Groups {
		of.Groups = append(of.Groups, program.Group{Name: g.Name, Teams: g.Teams})
	}
	for _, t := range p.Tensors {
		memory, _ := program.ParseMemory(t.Memory) // the key has no other values
		of.Tensors = append(of.Tensors, program.Tensor{Name: t.Name, Type: t.Type, Shape: t.Shape,
			Memory: memory, Keep: t.Keep, NoGradient: t.NoGradient})
	}
	of.Ops = make([]program.Op, 0, len(p.Ops))
	for i := range p.Ops {
		o := &p.Ops[i]
		algorithm := ""
		if o.Algorithm.Name != "" {
			algorithm = o.Algorithm.String()
		}
		of.Ops = append(of.Ops, program.Op{Name: o.Name, Call: o.Call, Kernel: o.Kernel, In: o.In,
			Out: o.Out, Outs: o.Outs, Type: o.Type, Shape: o.Shape, Group: o.Group, Stream: o.Stream,
			Algorithm: algorithm, Async: o.Async, After: o.After, Wait: o.Wait,
			Backward: o.Backward, Microbatch: o.Microbatch})
	}
	return of
}
