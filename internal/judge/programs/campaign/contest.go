package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"

	"collsim/internal/judge/programs"
	"collsim/program"
	"collsim/reference"
	"collsim/schedule"
)

// A contest compares the judge and collsim on the same programs.
type contest struct {
	seed  uint64
	each  int // lowerings of a program; the first has no passes
	every int // one of so many programs runs as by the command; 0: none
}

// A result is the comparison of one program.
type result struct {
	index    int
	refused  string // reason why it cannot be lowered at all
	lowered  int
	public   int            // of these, run as by the command
	compared int            // of these, with values compared
	acted    map[string]int // lowerings that each pass has changed
	failures []failure
}

// A failure is a lowering that does not compute its program.
type failure struct {
	kind, why string
	program   *draft
	seed      uint64
	public    bool
}

// try makes the program of an index and lowers it in several ways. The same index gives the same
// program.
func (c *contest) try(index int) result {
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

// judge lowers a program and sets the kind and the description of its failure, if any. It counts
// the lowering in note, unless that is nil.
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
	f.kind, f.why = o.compare(text, note)
}

// compare compares a scenario's outcome with the judge, on the data that collsim used. It returns
// the kind and the description of a failure.
func (o *outcome) compare(text string, note *result) (kind, why string) {
	judged, err := programs.Read(text)
	if err != nil {
		return "the judge refuses", err.Error()
	}
	given, err := reference.GivenTensors(o.low.Schedule, reference.Exact, o.seed)
	if err != nil {
		return "data", err.Error()
	}
	want, err := judged.Evaluate(inputs(o.low.Schedule, given))
	if err != nil {
		return "the judge refuses", err.Error()
	}
	switch isSeed := strings.Contains(text, `pipeline = "seed"`); {
	case isSeed && o.kind != "" && o.races: // as published, with a race: the result is undefined
		return "", ""
	case o.kind != "":
		return "proof " + o.kind, o.why
	case len(want.Names) == 0: // nothing to compare
		return "", ""
	case !want.Exact && o.numbers != string(reference.NumbersMismatch):
		return "", ""
	}
	if note != nil && want.Exact {
		note.compared++
	}
	wrong := ""
	if want.Exact && o.digest != want.Digest() {
		wrong = fmt.Sprintf("the digest is %s; %s is right", o.digest, want.Digest())
		out, err := reference.RunTensors(o.low.Schedule, given, reference.RunOptions{})
		if err != nil {
			wrong += "; " + err.Error()
		} else if why := differ(want, o.low, out); why != "" {
			wrong = why
		}
	}
	switch {
	case o.numbers == string(reference.NumbersMismatch) && want.Exact && wrong == "":
		return "numbers mismatch though all is right", o.with
	case o.numbers == string(reference.NumbersMismatch),
		want.Exact && o.numbers != string(reference.NumbersExact):
		return "numbers " + o.numbers, o.with + "; " + wrong
	case wrong != "":
		return "values", wrong
	}
	return "", ""
}

// count records which passes have changed something.
func (r *result) count(low *program.Lowered) {
	seen := map[string]bool{}
	for _, n := range low.Notes {
		if (len(n.Ops) > 0 || n.Pass == "reorder") && n.Did != "left as it is" && !seen[n.Pass] {
			seen[n.Pass] = true
			r.acted[n.Pass]++
		}
	}
}

// inputs returns given tensors by name.
func inputs(s *schedule.Schedule, given reference.Tensors) programs.Inputs {
	list := programs.Inputs{}
	for i := range s.Tensors {
		if s.Tensors[i].Role.IsGiven() {
			list[s.Tensors[i].Name] = given[i]
		}
	}
	return list
}

// differ reports the first difference from the judge's results; "" if none.
func differ(want *programs.Results, low *program.Lowered, out reference.Tensors) string {
	for _, name := range want.Names {
		at, known := low.Where[name]
		i := int(at.Tensor - schedule.FirstTensor)
		if !known || i < 0 || out[i] == nil {
			return name + " is no result"
		}
		typ := low.Schedule.Tensors[i].Type
		for rank := range low.Schedule.Spec.Ranks {
			right := want.Bytes(name, rank)
			from := int(at.Offset(rank)) * typ.Width()
			got := out[i][rank][from:][:len(right)]
			if !bytes.Equal(right, got) && !bytes.Equal(right, programs.Canonical(typ.String(), got)) {
				return fmt.Sprintf("%s on rank %d: %x; %x is right", name, rank, got, right)
			}
		}
	}
	return ""
}
