package program

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
	"collsim/schedule"
)

// launches reports whether a schedule's lanes have launches of their own.
func launches(s *schedule.Schedule) bool {
	return s.AnyStep(func(step *schedule.Step) bool { return step.Launch != nil })
}

// identifier converts a name, of an op or a group, to one that a tensor's name can begin with. A
// hash keeps names distinct that have other characters than letters, digits and _, or that are
// long.
func identifier(name string) string {
	const longest, hashed = 44, 8
	plain := strings.Map(func(r rune) rune {
		if schedule.IsName("_" + string(r)) {
			return r
		}
		return '_'
	}, name)
	if plain == name && len(plain) <= longest {
		return plain
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("%.*s_%08x", longest-hashed-1, plain, h.Sum32())
}

// kernelParts returns the parts of a kernel: one, on every rank of its group, or one for ranks
// whose operands have the same lengths.
func (w *scheduler) kernelParts(r *resolved) (parts []schedule.Part) {
	if r.shares == nil && r.out.rows == nil {
		var ranks []int
		switch {
		case r.teams[0] == nil:
		case w.folding != nil:
			ranks = r.ranks
		default:
			ranks = slices.Concat(r.teams...)
		}
		return []schedule.Part{w.kernelPart(r, r.kernel, ranks)}
	}
	for _, s := range r.shares {
		parts = append(parts, w.kernelPart(r, s.kernel, s.ranks))
	}
	return parts
}

// kernelPart returns a part that is one kernel, on these ranks; nil is all.
func (w *scheduler) kernelPart(r *resolved, op kernel.Op, ranks []int) schedule.Part {
	n := len(ranks)
	if ranks == nil {
		n = w.Ranks
	}
	p := schedule.Part{Name: schedule.Word(r.Name), Schedule: w.kernelSchedule(op, n), Ranks: ranks,
		Stream: w.stream(r.stream()),
		Memory: make([]schedule.Place, schedule.FirstTensor)}
	if op.HasResult() {
		for _, name := range r.In {
			p.Memory = append(p.Memory, w.tensors[name])
		}
	}
	if r.Out != "" {
		p.Memory = append(p.Memory, w.tensors[r.Out])
	}
	return p
}

// A kernelOn is a kernel on a number of ranks.
type kernelOn struct {
	kernel.Op
	ranks int
}

// kernelSchedule returns the schedule of a kernel on a number of ranks.
func (x *plan) kernelSchedule(op kernel.Op, ranks int) *schedule.Schedule {
	s := x.kernels[kernelOn{op, ranks}]
	if s != nil {
		return s
	}
	none := make([]int64, ranks)
	tensors, defs, lane := kernelOf(op)
	s, err := schedule.Build(schedule.Plan{Name: op.Kind.String(), Tensors: tensors, Defs: defs,
		Lane: lane, Same: true, Spec: collective.Spec{Kind: collective.Custom, Type: tensors[0].Type,
			Ranks: ranks, Splits: [][]int64{none, none}}})
	if err != nil {
		panic(err) // the operation is valid, and the names are ours
	}
	x.kernels[kernelOn{op, ranks}] = s
	return s
}

// kernelOf returns a program of one kernel.
func kernelOf(op kernel.Op) (tensors []schedule.Tensor, defs []schedule.Def,
	lane func(*schedule.Lane)) {
	if !op.HasResult() {
		nothing := schedule.Tensor{Name: "nothing", Type: dtype.Uint8, Shape: collective.Shape{0},
			Role: schedule.Defined}
		return []schedule.Tensor{nothing}, nil, func(l *schedule.Lane) {
			l.Launch(schedule.Launch{})
			l.Compute(op, schedule.Region{})
		}
	}
	def := schedule.Def{Kernel: &op}
	for i, t := range op.Operands() {
		tensors = append(tensors, schedule.Tensor{Name: t.Name, Type: t.Type, Shape: t.Shape,
			Role: schedule.Given})
		def.From = append(def.From, schedule.FirstTensor+schedule.Buffer(i))
	}
	out := op.Output()
	def.To = schedule.FirstTensor + schedule.Buffer(len(tensors))
	tensors = append(tensors, schedule.Tensor{Name: "result", Type: out.Type, Shape: out.Shape,
		Role: schedule.Result})
	return tensors, []schedule.Def{def}, func(l *schedule.Lane) {
		l.Launch(schedule.Launch{})
		var from []schedule.Region
		for _, t := range op.Operands() {
			from = append(from, l.Tensor(t.Name, 0))
		}
		l.Compute(op, l.Tensor("result", 0), from...)
	}
}
