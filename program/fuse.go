package program

import (
	"fmt"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// fuse lowers ops as a pipeline.
func (w *scheduler) fuse(ops []resolved, iteration int) error {
	c := chain{}
	for i := range ops {
		switch r := &ops[i]; {
		case r.call != nil:
			c.call = r
		case r.kernel.IsMatmul():
			c.matmuls = append(c.matmuls, r)
		default:
			c.copied = r
		}
	}
	if c.call.call.Kind == collective.AllGather {
		return w.fuseGather(&c, iteration)
	}
	return w.fuseScatter(&c, iteration)
}

// fuseGather fuses an all_gather with the matmuls that follow it and read what it gathers as their
// left operand.
func (w *scheduler) fuseGather(c *chain, iteration int) error {
	gather, data := c.call, c.call.Out
	s := Shards{A: operand(gather.in[0]), Variant: w.variant(), InOrder: true}
	s.Axis = axisOf(s.A.Shape, c.outer())
	if c.copied != nil {
		w.inside[gather.Out], data = true, c.copied.Out
	}
	memory := map[string]string{"a": gather.In[0], "gathered": data}
	if s.Variant == Repaired && w.roles[data] == schedule.Inner &&
		w.readers(data) == len(c.matmuls) {
		s.WithoutA, w.inside[data] = true, true
		delete(memory, "gathered")
	}
	names := []string{gather.Name}
	for i, o := range c.matmuls {
		s.multiply(o, i, memory)
		s.Outs = append(s.Outs, o.kernel.Out)
		memory[fmt.Sprintf("c%d", i)] = o.Out
		names = append(names, o.Name)
	}
	return w.pipeline(&fusion{names, gather, c.matmuls[len(c.matmuls)-1], memory}, &s,
		AllGatherMatmul, iteration)
}

// fuseScatter fuses a matmul with the reduce_scatter that follows it.
func (w *scheduler) fuseScatter(c *chain, iteration int) error {
	matmul, scatter := c.matmuls[0], c.call
	s := Shards{A: operand(matmul.in[0]), Variant: w.variant(), InOrder: true,
		Outs: []dtype.Type{matmul.kernel.Out}, Mean: scatter.call.Op == collective.Avg}
	s.Axis = axisOf(s.A.Shape, c.outer())
	memory := map[string]string{"a": matmul.In[0], "c": scatter.Out}
	s.multiply(matmul, 0, memory)
	w.inside[matmul.Out] = true
	if c.copied != nil {
		w.inside[c.copied.Out] = true
	}
	return w.pipeline(&fusion{[]string{matmul.Name, scatter.Name}, scatter, matmul, memory}, &s,
		MatmulReduceScatter, iteration)
}

// multiply adds the right operand of a matmul, with its scales, and the program's tensors for those
// of the pipeline.
func (s *Shards) multiply(matmul *resolved, number int, memory map[string]string) {
	s.Bs = append(s.Bs, operand(matmul.in[1]))
	name := func(of string) string { return fmt.Sprintf("%s%d", of, number) }
	memory[name("b")] = matmul.In[1]
	if matmul.kernel.Scaling == 0 {
		s.TransposeB = append(s.TransposeB, matmul.kernel.TransposeB)
		return
	}
	with := kernel.Scales{A: operand(matmul.in[2]), B: operand(matmul.in[3])}
	for i, t := range matmul.kernel.Operands()[2:] {
		memory[name(t.Name)] = matmul.In[2+i]
		switch of := operand(matmul.in[2+i]); t.Name {
		case "bias":
			with.Bias = &of
		case "scale_result":
			with.Result = &of
		}
	}
	memory["scale_a"] = matmul.In[2] // of a scattered result, whose scales are those of all rows
	s.Scales, s.WholeScales = append(s.Scales, with), true
}

// operand returns a tensor as an operand of a kernel.
func operand(t Tensor) kernel.Tensor {
	return kernel.Tensor{Name: t.Name, Type: t.Type, Shape: t.Shape}
}

// variant returns the variant that pipelines use.
func (x *plan) variant() Variant {
	if x.passes.Pipeline == SeedPipeline {
		return Seed
	}
	return Repaired
}

// A fusion is ops that become one: their names, the call and a matmul among them, and the program's
// tensors for those of the pipeline.
type fusion struct {
	names        []string
	call, matmul *resolved
	memory       map[string]string
}

// pipeline adds the parts of a fused matmul, one for each team of the call, on the stream of the
// matmul and a second one.
func (w *scheduler) pipeline(f *fusion, s *Shards,
	build func(Shards) (*schedule.Schedule, error), iteration int) error {
	names, call, matmul, memory := f.names, f.call, f.matmul, f.memory
	row := LoweredOp{Names: names, Iteration: iteration, Stream: matmul.stream(),
		Became: "pipeline " + s.Variant.String(), Microbatch: matmul.Microbatch,
		Pass: matmul.phase.String()}
	var parts []schedule.Part
	var uses, spaces []string
	for _, team := range call.teams {
		s.Ranks = w.teamSize(team)
		fused, err := build(*s)
		if err != nil {
			return &Error{call.number, -1, "call", strings.Join(names, ", ") + ": " + err.Error()}
		}
		p := schedule.Part{Name: schedule.Word(strings.Join(names, "+")), Schedule: fused, Ranks: team,
			Stream: w.stream(matmul.stream()), Memory: make([]schedule.Place, schedule.FirstTensor)}
		for i := range fused.Tensors {
			t := &fused.Tensors[i]
			at := schedule.Place{}
			switch name, named := memory[t.Name]; {
			case named:
				at, uses = w.tensors[name], append(uses, name)
			case t.Symmetric:
				name, at = w.own("workspace_"+call.Group, t, true)
				spaces = append(spaces, name)
			case t.Role != schedule.Defined:
				_, at = w.own(t.Name+"_"+call.Name, t, false)
			}
			p.Memory = append(p.Memory, at)
		}
		parts = append(parts, p)
	}
	row.Parts = w.known(call.teams, matmul.stream(), iteration, spaces)
	row.Parts = append(row.Parts, w.add(parts, uses, nil)...)
	w.result.Ops = append(w.result.Ops, row)
	return nil
}

// ungathered returns why an all_gather and a matmul cannot be a pipeline.
func (x *plan) ungathered(gather, matmul *resolved) string {
	shard := gather.in[0].Shape
	switch {
	case len(shard) == 1:
		return "rows are gathered by pipelines, of a matrix"
	case gather.inPlace():
		return "it is in place"
	case matmul.kernel.K() != shard[len(shard)-1]:
		return matmul.Name + " adds up along the axis that is gathered"
	case matmul.teams[0] != nil:
		return "not all ranks do " + matmul.Name
	case matmul.kernel.TransposeA:
		return matmul.Name + " adds up along the rows that are gathered"
	case matmul.overwrites(gather.touches(), nil):
		return fmt.Sprintf("%s overwrites %s", matmul.Name, matmul.Out)
	}
	return "what is gathered is not the left operand of " + matmul.Name + " alone"
}

// unscattered returns why a matmul and a reduce_scatter of its result cannot be a pipeline.
func (x *plan) unscattered(matmul, call *resolved) string {
	switch {
	case call.overwrites(nil, matmul.In):
		return fmt.Sprintf("%s overwrites %s", call.Name, call.Out)
	case x.readers(matmul.Out) > 1 || x.roles[matmul.Out] != schedule.Inner:
		return matmul.Out + " is needed whole"
	case matmul.kernel.TransposeA:
		return matmul.Name + " has its left operand transposed"
	case matmul.teams[0] != nil:
		return "not all ranks do " + matmul.Name
	case call.call.Op == collective.Avg && !call.isMeanOfFloats():
		return fmt.Sprintf("the sum of %v wraps before it is divided; that of a pipeline does not",
			call.call.Type)
	case call.call.Op != collective.Sum && call.call.Op != collective.Avg:
		return fmt.Sprintf("pipelines add up or take the mean, not %v", call.call.Op)
	}
	return "the columns that it scatters are those of " + matmul.Name
}
