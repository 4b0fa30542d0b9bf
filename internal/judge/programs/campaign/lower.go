package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"collsim/algos"
	"collsim/collective"
	"collsim/dtype"
	"collsim/program"
	"collsim/proof"
	"collsim/reference"
	"collsim/run"
	"collsim/schedule"
	"collsim/unit"
)

// An outcome is collsim's result for a program: its schedule, the first finding of the proof, if
// any, and the result of the numeric check.
type outcome struct {
	low           *program.Lowered
	kind, why     string
	races         bool // only on workspaces, as in torch's published pipelines
	numbers, with string
	digest        string
	seed          uint64 // of the data
}

// public runs the program of a scenario as the command does.
func public(text string) (*outcome, error) {
	s, err := run.Load("program.toml", []byte(text), run.LoadOptions{})
	if err != nil {
		return nil, err
	}
	report, err := s.Run(context.Background(), run.RunOptions{})
	if err != nil {
		return nil, err
	}
	ran := report.Programs[0]
	o := &outcome{low: ran.Lowered, numbers: verdict(ran.Numbers, ran.NumbersOff),
		digest: ran.Digest,
		with:   fmt.Sprint(ran.NumbersOff, ran.Mismatch)}
	if ran.Proof != run.Proved {
		o.kind, o.races = ran.Proof, true
	}
	for i, v := range ran.Violations {
		o.find(i, v.Kind, v.Text)
	}
	return o, nil
}

// verdict returns the verdict on everything, where what opaque kernels write has a stand-in, too.
func verdict(numbers, why string) string {
	if numbers == string(reference.NumbersStandIn) {
		numbers, _, _ = strings.Cut(why, ",")
	}
	return numbers
}

// find records a finding of the proof.
func (o *outcome) find(i int, kind, text string) {
	if i == 0 {
		o.kind, o.why = kind, text
	}
	o.races = (i == 0 || o.races) && kind == schedule.Race.String() && strings.Contains(text,
		"workspace")
}

// direct lowers a program without a simulation: a seed determines the times that passes ask for,
// and the algorithms of calls that name none. That is ten times as fast, and tries choices that no
// machine would make.
func direct(p *draft, seed uint64) (*outcome, error) {
	passes, guide := loweringOf(p.passes), program.Guide{Choose: chooser(seed)}
	// other passes only print times
	if passes.Reorder || passes.Pipeline == program.PipelineIfFaster {
		guide.Time = func(s *schedule.Schedule) (unit.Time, error) {
			n := seed
			for _, part := range s.Parts() {
				n = n*31 + uint64(part.Stream)
				for _, before := range part.After {
					n = n*31 + uint64(before)
				}
			}
			return unit.Time(1 + n%1000), nil
		}
	}
	low, err := program.LowerBy(programOf(p), passes, guide)
	if err != nil {
		return nil, err
	}
	o := &outcome{low: low, seed: seed}
	_, found := proof.Verify(low.Schedule, proof.Options{})
	for i, v := range found {
		o.find(i, v.Kind.String(), v.Error())
	}
	report, err := reference.Check(low.Schedule, reference.CheckOptions{Seed: seed})
	if err != nil {
		return o, err
	}
	o.numbers, o.with = verdict(string(report.Numbers), report.Why),
		fmt.Sprint(report.Why, report.First)
	o.digest = report.Digest
	return o, nil
}

// hash returns a number that depends on all arguments.
func hash(of ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, of...)
	return h.Sum64()
}

// chooser returns a choice of algorithms: the one that a call names, else any that supports it.
func chooser(seed uint64) program.Choose {
	return func(spec collective.Spec, name string, team []int, symmetric bool) (program.Chosen,
		error) {
		list := algos.ForKind(spec.Kind)
		rand.New(rand.NewPCG(seed, hash(spec.Key(), team))).Shuffle(len(list), func(i, k int) {
			list[i], list[k] = list[k], list[i]
		})
		if name != "" {
			a, err := algos.Find(spec.Kind, name)
			if err != nil {
				return program.Chosen{}, err
			}
			list = []algos.Algorithm{a}
		}
		var last error
		for i := range list {
			s, err := list[i].Build(spec, private(&list[i], symmetric))
			if err == nil && (symmetric || name != "" || !s.OneSided()) {
				return program.Chosen{Schedule: s, Name: list[i].Name}, nil
			}
			last = err
		}
		return program.Chosen{}, fmt.Errorf("no algorithm for %v: %w", spec.Kind, last)
	}
}

// private returns the options of an algorithm for memory that is not symmetric.
func private(a *algos.Algorithm, symmetric bool) (o algos.Options) {
	for _, p := range a.Params {
		if p.Name == "symmetric" && !symmetric {
			o.Params = []algos.Param{{Name: "symmetric", Value: "false"}}
		}
	}
	return o
}

// programOf converts a draft to package program's type.
func programOf(d *draft) *program.Program {
	p := &program.Program{Name: "campaign", Ranks: d.ranks, Iterations: d.iterations,
		Gradient: d.gradient}
	for _, g := range d.groups {
		p.Groups = append(p.Groups, program.Group{Name: g.name, Teams: g.teams})
	}
	for _, t := range d.tensors {
		typ, err := dtype.Parse(t.typ)
		memory, wrong := program.ParseMemory(t.memory)
		if err != nil || wrong != nil {
			panic(fmt.Sprint(err, wrong))
		}
		p.Tensors = append(p.Tensors, program.Tensor{Name: t.name, Type: typ, Shape: t.shape,
			Memory: memory, Keep: t.keep})
	}
	for _, o := range d.ops {
		of := program.Op{Name: o.name, Call: o.call, Kernel: o.kernel, In: o.in, After: o.after,
			Wait:  o.wait,
			Group: o.group, Stream: o.stream, Algorithm: o.algorithm, Async: o.async,
			Shape: o.shape}
		switch len(o.out) {
		case 0:
		case 1:
			of.Out = o.out[0]
		default:
			of.Outs = o.out
		}
		p.Ops = append(p.Ops, of)
	}
	return p
}

// loweringOf converts settings to package program's type.
func loweringOf(list []setting) (l program.Lowering) {
	l.OneShot = 128 * unit.KiB
	for _, s := range list {
		text := strings.Trim(s.value, `"`)
		size, _ := strconv.ParseInt(strings.TrimSuffix(text, " B"), 10, 64)
		switch s.key {
		case "symmetric_memory":
			l.SymmetricMemory = true
		case "one_shot":
			l.OneShot = unit.Bytes(size)
		case "bucket":
			l.Bucket = unit.Bytes(size)
		case "coalesce":
			l.Coalesce = true
		case "in_place":
			l.InPlace = true
		case "pipeline":
			l.Pipeline = program.Pipeline(slices.Index(program.Pipelines(), text))
		case "comm_buffer":
			l.CommBuffer = unit.Bytes(size)
		case "register":
			l.Register = true
		case "registering":
			l.Registering = unit.Microsecond
		case "persistent":
			l.Persistent = true
		case "reorder":
			l.Reorder = true
		case "reuse":
			l.Reuse = true
		default:
			panic(s.key)
		}
	}
	return l
}
