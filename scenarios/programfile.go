package scenarios

import (
	"fmt"
	"strings"
)

// ProgramFile has the contents of a program's file. Its tensors and ops are in no table: At is −1.
type ProgramFile struct {
	Groups  []ProgramGroup
	Tensors []ProgramTensor
	Ops     []ProgramOp
	Notes   []string // what a reader should know besides
	// Unplaced says that its tensors stand for what the file does not say: what they hold, and how
	// much memory they take, is not known.
	Unplaced bool
}

// statedOf reads a list of "NAME=VALUE"; all of it as one text is its identity.
func statedOf(v *view, at string) (list []Stated, text string, ok bool) {
	words, given, ok := fetch[[]string](v, at)
	if !given || !ok {
		return nil, "", ok
	}
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		if !found || strings.TrimSpace(name) == "" || strings.TrimSpace(value) == "" {
			v.fail(at, problem{fmt.Sprintf("%q: an instruction, = and a value are expected", word),
				"for example " + v.d.schema.byPath[at].Example})
			return nil, "", false
		}
		list = append(list, Stated{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	return list, strings.Join(words, "\n"), true
}

// programFile takes the ops of a program from a file, if it names one; given is whether it does.
func (r *run) programFile(v *view, p *ProgramPoint) (ok, given bool) {
	const at = "program.file"
	name, given, ok := fetch[string](v, at)
	branches, which, readable := statedOf(v, "program.branches")
	trips, times, alsoReadable := statedOf(v, "program.trips")
	ok = ok && readable && alsoReadable
	for _, stated := range []struct{ at, text string }{{"program.branches", which},
		{"program.trips", times}} {
		if !given && stated.text != "" {
			v.fail(stated.at, problem{"an HLO module has them; this program is from no file", ""})
			return false, false
		}
	}
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
	answer, known := r.askProgram(name, &ModulePoint{p.Topology.Ranks, branches, trips}, which+
		"\n\n"+times)
	if answer.Err != nil {
		v.fail(at, problem{text: answer.Err.Error()})
	}
	if answer.Err != nil || !known {
		return false, true
	}
	f := answer.Program
	p.Groups, p.Tensors, p.Ops, p.Notes = f.Groups, f.Tensors, f.Ops, f.Notes
	p.Unplaced = f.Unplaced
	return v.fewer(at, max(len(p.Ops), len(p.Tensors))), true
}

// askProgram asks for the program in a file; text identifies what the module leaves to the
// scenario.
func (r *run) askProgram(file string, m *ModulePoint, text string) (Answer, bool) {
	key := questionKey{topic: WhichProgram, input: file, ranks: m.Ranks, module: text}
	p := &Point{Data: Files{Input: file}}
	return r.answer(Question{Topic: WhichProgram, Point: p, Module: m, key: key})
}
