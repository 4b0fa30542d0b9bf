package run

import (
	"bytes"
	"fmt"
	"slices"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/fx"
	"collsim/formats/hlo"
	"collsim/scenarios"
)

// An HLO module, or a graph of PyTorch, as a program. Its kernels read tensors that are given, one
// for each type and shape, and each writes its own; what waits for what is said by the ops that it
// comes after.

// module reads an HLO module.
func module(file programText, p *scenarios.ProgramSource, ranks int) (*scenarios.ProgramFile,
	error) {
	o := hlo.Options{Limit: file.limit, Ranks: ranks, Branches: stated(p.Branches),
		Trips: stated(p.Trips)}
	m, err := hlo.ReadProgram(file.name, bytes.NewReader(file.text), o)
	if err != nil {
		return nil, err
	}
	if m.Ranks != ranks {
		return nil, fmt.Errorf("%s: num_partitions and replica_count make %d ranks; the network has %d",
			file.name, m.Ranks, ranks)
	}
	return programOfModule(m), nil
}

// graph reads an FX graph of PyTorch.
func graph(file programText, p *scenarios.ProgramSource, ranks int) (*scenarios.ProgramFile,
	error) {
	o := fx.Options{Ranks: ranks}
	for _, g := range p.Groups {
		o.Groups = append(o.Groups, fx.Group{Name: g.Name, Teams: g.Teams})
	}
	m, err := fx.Read(file.name, bytes.NewReader(file.text), o)
	if err != nil {
		return nil, err
	}
	return programOfModule(m), nil
}

// programOfModule converts the ops of a module to a program with groups and tensors.
func programOfModule(m *hlo.Program) *scenarios.ProgramFile {
	file := &scenarios.ProgramFile{Notes: m.Notes, Unplaced: true}
	for i := range m.Ops {
		op := scenarios.ProgramOp{Name: m.Ops[i].Name, Out: fmt.Sprintf("out_%d", i), At: -1}
		for _, before := range m.Ops[i].After {
			op.After = append(op.After, m.Ops[before].Name)
		}
		moduleOp(file, &op, &m.Ops[i], m.Ranks)
		file.Ops = append(file.Ops, op)
	}
	return file
}

// moduleOp sets what an op of a module does, on so many ranks.
func moduleOp(file *scenarios.ProgramFile, op *scenarios.ProgramOp, o *hlo.Op, ranks int) {
	switch {
	case o.Call != nil:
		op.Call, op.Async, op.Stream = o.Call.String(), o.Async, "comm"
		if o.Call.Kind == collective.Broadcast && len(o.Teams) == 1 && len(o.Teams[0]) == 2 {
			op.Stream = fmt.Sprintf("%d to %d", o.Teams[0][0], o.Teams[0][1])
		}
		if o.Call.Kind == collective.AllToAllV { // a permute
			op.Algorithm = permutes()
		}
		op.Group = groupOf(file, o.Teams, ranks)
		for k, t := range o.Tensors {
			op.In = append(op.In, given(file, t, k))
			op.Outs = append(op.Outs, fmt.Sprintf("%s_%d", op.Out, k))
		}
		if len(op.Outs) > 1 {
			op.Out = ""
		} else {
			op.Outs = nil
		}
	case o.Tensors != nil:
		op.Kernel, op.Type, op.Stream = "matmul", o.Out, threadOf(o)
		for k, t := range o.Tensors {
			op.In = append(op.In, given(file, t, k))
		}
	default: // a copy that moves as much
		n := (int64(o.Moves) + 1) / 2
		op.Kernel, op.Type, op.Stream = "cast", dtype.Uint8, threadOf(o)
		op.In = []string{given(file, hlo.Tensor{Type: dtype.Uint8, Shape: collective.Shape{n}}, 0)}
	}
}

// stated converts what a scenario says of instructions.
func stated(list []scenarios.Stated) (out []hlo.Stated) {
	for _, s := range list {
		out = append(out, hlo.Stated(s))
	}
	return out
}

// threadOf returns the stream of a kernel.
func threadOf(o *hlo.Op) string {
	if o.Thread == "" {
		return "compute"
	}
	return "compute " + o.Thread
}

// given returns the name of the k-th operand of a type and a shape, and adds that tensor if it is
// new.
func given(f *scenarios.ProgramFile, t hlo.Tensor, k int) string {
	name := fmt.Sprintf("%v_%v_%d", t.Type, t.Shape, k)
	if !slices.ContainsFunc(f.Tensors, func(of scenarios.ProgramTensor) bool {
		return of.Name == name
	}) {
		f.Tensors = append(f.Tensors, scenarios.ProgramTensor{Name: name, Type: t.Type, Shape: t.Shape,
			Memory: "private", At: -1})
	}
	return name
}

// permutes returns the algorithm of a permutation as an all_to_allv: who sends nothing to a rank is
// not waited for.
func permutes() scenarios.Algorithm {
	return scenarios.Algorithm{Name: "direct", Slices: 1,
		Params: []scenarios.Param{{Name: "empty", Value: "skip"}}}
}
