package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"collsim/internal/judge/programs"
	"collsim/program"
	"collsim/reference"
	"collsim/schedule"
)

// contest has the judge and collsim say what comes out of the same programs.
type contest struct {
	seed  uint64
	each  int // lowerings of a program, of which the first has no passes
	every int // one of so many programs is carried out as the command does; 0: none
}

// result is what came of one program.
type result struct {
	index    int
	refused  string // why it cannot be lowered at all
	lowered  int
	public   int            // of these, as the command does it
	compared int            // of these, of which values were compared
	acted    map[string]int // in how many of these a pass has changed something
	failures []failure
}

// failure is a lowering that does not do what its program says.
type failure struct {
	kind, why string
	program   *draft
	seed      uint64
	public    bool
}

// play makes the program of a number and lowers it in several ways. The same number gives the same.
func (c *contest) play(index int) result {
	luck := rand.New(rand.NewPCG(c.seed, uint64(index)))
	p := randomProgram(luck)
	r := result{index: index, acted: map[string]int{}}
	public := c.every > 0 && index%c.every == 0
	for k := range c.each {
		f := failure{program: p.clone(), seed: hash(c.seed, index), public: public}
		if k > 0 {
			f.program.passes = randomPasses(luck)
		}
		f.judge(&r)
		if k == 0 && f.kind == "refused" {
			r.refused = f.why
			return r
		}
		if r.lowered++; public {
			r.public++
		}
		if f.kind != "" {
			r.failures = append(r.failures, f)
		}
	}
	return r
}

// judge lowers a program, and finds out what is wrong with what comes out: of what kind, and what.
// It notes what was done in a result, unless that is nil.
func (f *failure) judge(note *result) {
	f.kind, f.why = "", ""
	defer func() {
		if e := recover(); e != nil {
			f.kind, f.why = "panic", fmt.Sprint(e)
		}
	}()
	text := f.program.text()
	var o *outcome
	var err error
	if f.public {
		o, err = public(text)
	} else {
		o, err = direct(f.program, f.seed)
	}
	if err != nil {
		f.kind, f.why = "refused", err.Error()
		return
	}
	if note != nil {
		note.count(o.low)
	}
	f.kind, f.why = f.compare(o, text, note)
}

// compare holds an outcome against the judge.
func (f *failure) compare(o *outcome, text string, note *result) (kind, why string) {
	judged, err := programs.Read(text)
	if err != nil {
		return "the judge refuses", err.Error()
	}
	given, inputs := inputs(o.low.Schedule, f.seed)
	results, err := judged.Evaluate(inputs)
	if err != nil {
		return "the judge refuses", err.Error()
	}
	switch isSeed := slices.Contains(f.program.passes, setting{"pipeline", `"seed"`}); {
	case isSeed && o.kind != "" && o.races: // as it was published; what comes out is chance
		return "", ""
	case o.kind != "":
		return "proof " + o.kind, o.why
	}
	if len(results.Names) == 0 { // there is nothing to compare
		return "", ""
	}
	exact := results.Exact && !f.program.rounds()
	if o.numbers == string(reference.NumbersMismatch) ||
		exact && o.numbers != string(reference.NumbersExact) {
		return "numbers " + o.numbers, o.with
	}
	if !results.Exact {
		return "", ""
	}
	if note != nil {
		note.compared++
	}
	out, err := reference.RunTensors(o.low.Schedule, given, reference.RunOptions{})
	if err != nil {
		return "values", err.Error()
	}
	return differ(results, o.low, out)
}

// rounds reports whether a program computes what may be rounded on collsim's own data.
func (d *draft) rounds() bool {
	return slices.ContainsFunc(d.ops, func(o op) bool {
		return strings.Contains(o.call, "avg") || strings.Contains(o.kernel, "mean") ||
			strings.Contains(o.kernel, "scale")
	}) || d.gradient
}

// count notes which passes have done something.
func (r *result) count(low *program.Lowered) {
	seen := map[string]bool{}
	for _, n := range low.Notes {
		if (len(n.Ops) > 0 || n.Pass == "reorder") && n.Did != "left as it is" && !seen[n.Pass] {
			seen[n.Pass] = true
			r.acted[n.Pass]++
		}
	}
}

// inputs are small whole numbers for all given tensors, by number and by name.
func inputs(s *schedule.Schedule, seed uint64) (reference.Tensors, programs.Inputs) {
	given, inputs := make(reference.Tensors, len(s.Tensors)), programs.Inputs{}
	for i := range s.Tensors {
		t := &s.Tensors[i]
		if t.Role != schedule.Given {
			continue
		}
		for rank := range s.Spec.Ranks {
			given[i] = append(given[i], values(t, rank, seed))
		}
		inputs[t.Name] = given[i]
	}
	return given, inputs
}

// values are those of a tensor on a rank: from -2 to 2, or to 4 without a sign.
func values(t *schedule.Tensor, rank int, seed uint64) []byte {
	luck := rand.New(rand.NewPCG(seed, hash(t.Name, rank)))
	list := make([]int64, t.Shape.Elements())
	for i := range list {
		list[i] = luck.Int64N(5)
		if t.Type.IsFloat() || t.Type.Signed() {
			list[i] -= 2
		}
	}
	data, err := programs.Encode(t.Type.String(), list)
	if err != nil {
		panic(err)
	}
	return data
}

// differ compares the results of a run with the judge's.
func differ(want *programs.Results, low *program.Lowered, out reference.Tensors) (kind,
	why string) {
	for _, name := range want.Names {
		at, known := low.Where[name]
		i := int(at.Tensor - schedule.FirstTensor)
		if !known || i < 0 || out[i] == nil {
			return "values", name + " is no result"
		}
		typ := low.Schedule.Tensors[i].Type
		for rank := range low.Schedule.Spec.Ranks {
			right := want.Bytes(name, rank)
			from := int(at.Offset(rank)) * typ.Width()
			got := out[i][rank][from:][:len(right)]
			if !bytes.Equal(right, got) && !bytes.Equal(right, programs.Canonical(typ.String(), got)) {
				return "values", fmt.Sprintf("%s on rank %d: %x; %x is right", name, rank, got, right)
			}
		}
	}
	return "", ""
}
