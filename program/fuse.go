package program

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// fusible returns how many ops from at on can become one pipeline; 0 if none can.
func (x *plan) fusible(at int) int {
	first := &x.ops[at]
	switch {
	case first.call != nil && first.call.Kind == collective.AllGather && first.call.Axis == 0 &&
		len(first.in[0].Shape) > 1 && !first.inPlace():
		n := at + 1
		written, read := []string{first.Out}, []string{first.In[0]}
		for n < len(x.ops) && x.ops[n].kernel.IsMatmul() && x.ops[n].in[0].Name == first.Out &&
			x.ops[n].kernel.Scaling == 0 && !x.ops[n].kernel.TransposeA && x.ops[n].teams[0] == nil &&
			!slices.Contains(written, x.ops[n].In[1]) && !x.ops[n].overwrites(written, read) {
			written, read = append(written, x.ops[n].Out), append(read, x.ops[n].In[1])
			n++
		}
		if n > at+1 {
			return n - at
		}
	case first.kernel.IsMatmul() && first.teams[0] == nil && at+1 < len(x.ops) &&
		x.scatters(first, &x.ops[at+1]):
		return 2
	}
	return 0
}

// overwrites reports whether an op writes what it reads, or what others have written or read. In a
// pipeline these may still be in use.
func (r *resolved) overwrites(written, read []string) bool {
	return slices.Contains(slices.Concat(r.In, written, read), r.Out)
}

// scatters reports whether a call scatters the result of a matmul, and no other op reads that.
func (x *plan) scatters(matmul, scatter *resolved) bool {
	return scatter.call != nil && scatter.call.Kind == collective.ReduceScatter &&
		scatter.call.Axis == 0 && !scatter.overwrites(nil, matmul.In) && scatter.In[0] == matmul.Out &&
		x.readers(matmul.Out) == 1 && x.roles[matmul.Out] == schedule.Inner &&
		matmul.kernel.Scaling == 0 && !matmul.kernel.TransposeA &&
		(scatter.call.Op == collective.Sum || scatter.isMeanOfFloats())
}

// isMeanOfFloats reports whether a call takes a mean that a kernel computes equally. With integers
// a call divides the sum after it has wrapped to the type, a kernel before.
func (r *resolved) isMeanOfFloats() bool {
	return r.call.Op == collective.Avg && r.call.Type.IsFloat()
}

// readers returns how many ops read a tensor.
func (x *plan) readers(name string) (n int) {
	for i := range x.ops {
		if slices.Contains(x.ops[i].reads(), name) {
			n++
		}
	}
	return n
}

// fuse lowers ops as a pipeline.
func (w *scheduler) fuse(ops []resolved, iteration int) error {
	if ops[0].call != nil {
		return w.fuseGather(ops, iteration)
	}
	return w.fuseScatter(&ops[0], &ops[1], iteration)
}

// fuseGather fuses an all_gather with the matmuls that follow it and read what it gathers as their
// left operand.
func (w *scheduler) fuseGather(ops []resolved, iteration int) error {
	gather := &ops[0]
	s := Shards{A: operand(gather.in[0]), Variant: w.variant()}
	names := []string{gather.Name}
	memory := map[string]string{"a": gather.In[0], "gathered": gather.Out}
	for i, o := range ops[1:] {
		s.Bs = append(s.Bs, operand(o.in[1]))
		s.TransposeB = append(s.TransposeB, o.kernel.TransposeB)
		s.Outs = append(s.Outs, o.kernel.Out)
		names = append(names, o.Name)
		memory[fmt.Sprintf("b%d", i)], memory[fmt.Sprintf("c%d", i)] = o.In[1], o.Out
	}
	return w.pipeline(&fusion{names, gather, &ops[len(ops)-1], memory}, &s, AllGatherMatmul,
		iteration)
}

// fuseScatter fuses a matmul with the reduce_scatter that follows it.
func (w *scheduler) fuseScatter(matmul, scatter *resolved, iteration int) error {
	s := Shards{A: operand(matmul.in[0]), Variant: w.variant(), Bs: []kernel.Tensor{
		operand(matmul.in[1])}, TransposeB: []bool{matmul.kernel.TransposeB},
		Outs: []dtype.Type{matmul.kernel.Out},
		Mean: scatter.call.Op == collective.Avg}
	memory := map[string]string{"a": matmul.In[0], "b0": matmul.In[1], "c": scatter.Out}
	w.inside[matmul.Out] = true
	return w.pipeline(&fusion{[]string{matmul.Name, scatter.Name}, scatter, matmul, memory}, &s,
		MatmulReduceScatter, iteration)
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
	switch {
	case gather.call.Kind != collective.AllGather:
		return fmt.Sprintf("there is no pipeline of %v and a matmul", gather.call.Kind)
	case gather.call.Axis != 0 || len(gather.in[0].Shape) == 1:
		return "rows are gathered by pipelines, along axis 0 of a matrix"
	case gather.inPlace():
		return "it is in place"
	case matmul.In[0] != gather.Out || matmul.In[1] == gather.Out:
		return "what is gathered is not the left operand of " + matmul.Name
	case matmul.teams[0] != nil:
		return "not all ranks do " + matmul.Name
	case matmul.kernel.TransposeA:
		return matmul.Name + " adds up along the rows that are gathered"
	case matmul.overwrites(gather.touches(), nil):
		return fmt.Sprintf("%s overwrites %s", matmul.Name, matmul.Out)
	}
	return matmul.Name + " has scales"
}

// unscattered returns why a matmul and a collective of its result cannot be a pipeline.
func (x *plan) unscattered(matmul, call *resolved) string {
	switch {
	case call.call.Kind != collective.ReduceScatter:
		return fmt.Sprintf("there is no pipeline of a matmul and %v", call.call.Kind)
	case call.call.Axis != 0:
		return "rows are scattered by pipelines, along axis 0"
	case call.overwrites(nil, matmul.In):
		return fmt.Sprintf("%s overwrites %s", call.Name, call.Out)
	case x.readers(matmul.Out) > 1 || x.roles[matmul.Out] != schedule.Inner:
		return matmul.Out + " is needed whole"
	case matmul.kernel.Scaling != 0:
		return matmul.Name + " has scales"
	case matmul.kernel.TransposeA:
		return matmul.Name + " has its left operand transposed"
	case matmul.teams[0] != nil:
		return "not all ranks do " + matmul.Name
	}
	if call.call.Op == collective.Avg {
		return fmt.Sprintf("the sum of %v wraps before it is divided; that of a pipeline does not",
			call.call.Type)
	}
	return fmt.Sprintf("pipelines add up or take the mean, not %v", call.call.Op)
}
