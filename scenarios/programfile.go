package scenarios

import (
	"fmt"
	"math/bits"
	"slices"
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

// ProgramSource says where a program comes from that is in files, and how they are read.
type ProgramSource struct {
	Files  []string
	Alike  string         // one of ranksAlike: for how many ranks a file stands
	Order  string         // one of callOrders, or empty
	Stages [][]int        // ranks of the stages, where the scenario names them
	Groups []ProgramGroup // that the scenario names

	Branches, Trips []Stated // of conditionals and loops of an HLO module

	Tensor TensorData // alone, for WhichTensor

	divided bool // by shares
	shares  splits
	seed    uint64
}

// Stated gives a value to the instructions of a name, in which * stands for any text.
type Stated struct{ Name, Value string }

// ranksAlike lists the values of program.ranks_alike.
func ranksAlike() []string { return []string{"false", "true", "stage"} }

// callOrders lists the values of program.order that are for calls of a trace.
func callOrders() []string { return []string{"id", "time"} }

func programFileKeys() []Key {
	return []Key{
		{Path: "program.file", kind: aFiles, Example: `"step.{rank}.et"`, Default: "none",
			Doc: "What has all of it, in place of groups, tensors and ops: a trace of Chakra or of " +
				"PyTorch's profiler, a file a rank, with {rank} in the name, or a list of files; or the HLO " +
				"module that all do.",
			by: (*run).programFile},
		{Path: "program.branches", kind: aNames, Example: `["cond.2=1", "*=0"]`, Default: "none",
			Sweep: true, Doc: "Which branch conditionals of an HLO module take, by the name of the " +
				"instruction, in which * stands for any text; the first that fits holds. 0 is the first " +
				"branch, true is 0 and false is 1.",
			by: (*run).programFile},
		{Path: "program.trips", kind: aNames, Example: `["while.7=32"]`, Default: "none", Sweep: true,
			Doc: "How often loops of an HLO module go round, in the same way, where the file does not say " +
				"it, or in its place.",
			by: (*run).programFile},
		{Path: "program.ranks_alike", kind: aChoice, Values: ranksAlike(), Default: "false",
			Example: "true",
			Doc: "Whether a trace stands for more ranks than its own: one file for all, true; or a file " +
				"for each stage of a pipeline, \"stage\". Its groups are shifted, so that every rank calls " +
				"in one like them, and sends to the rank that is as far from it. [[program.group]] says " +
				"who is in a group that the file only names, and program.stages which ranks are a stage, " +
				"in place of equal runs of them.",
			by: (*run).programFile, idle: "a file a rank leaves nothing to be said"},
		{Path: "program.splits", kind: aMatrix, min: 0, max: maxCount, Example: "{ zipf = 1.2 }",
			Doc: "With ranks_alike, how the tokens of an all_to_all are divided whose parts differ, since " +
				"a trace has those of its own rank: by Zipf's law, as collective.splits, or in proportion " +
				"to a table's rows, one a sender.",
			by: (*run).programFile, idle: "no call here has parts that differ"},
	}
}

// programFile takes the ops of a program from files, if it names some; given is whether it does.
func (r *run) programFile(v *view, p *ProgramPoint) (ok, given bool) {
	const at = "program.file"
	names, given, ok := fetch[[]string](v, at)
	branches, readable := v.stated("program.branches", given)
	trips, alsoReadable := v.stated("program.trips", given)
	if ok = ok && readable && alsoReadable; !given || !ok {
		return ok, given
	}
	source, ok := r.programSource(v, p, names)
	source.Branches, source.Trips = branches, trips
	for _, table := range []string{"tensor", "op"} {
		if r.d.count("program."+table) > 0 {
			v.fail(at, problem{"the file has all of the program", fmt.Sprintf("leave [[program.%s]] out, "+
				"or the file", table)})
			return false, true
		}
	}
	if p.Topology == nil || !ok || len(p.Groups)-len(p.mesh.Axes) < r.d.count("program.group") {
		return false, true
	}
	answer, known := r.askOf(WhichProgram, &Point{Topology: p.Topology}, source)
	if answer.Err != nil {
		v.fail(at, problem{text: answer.Err.Error()})
	}
	if answer.Err != nil || !known {
		return false, true
	}
	f := answer.Program
	p.Groups = append(slices.Clone(p.Groups), f.Groups...)
	p.Tensors, p.Ops, p.Notes, p.Unplaced = f.Tensors, f.Ops, f.Notes, f.Unplaced
	return v.fewer(at, int64(max(len(p.Ops), len(p.Tensors)))), true
}

// stated reads a list of "NAME=VALUE" about instructions of a file, which there must be.
func (v *view) stated(at string, given bool) (list []Stated, ok bool) {
	words, some, ok := fetch[[]string](v, at)
	switch {
	case !some || !ok:
		return nil, ok
	case !given:
		v.fail(at, problem{"an HLO module has them; this program is from no file", ""})
		return nil, false
	}
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		if !found || strings.TrimSpace(name) == "" || strings.TrimSpace(value) == "" {
			v.fail(at, problem{fmt.Sprintf("%q: an instruction, = and a value are expected", word),
				"for example " + v.d.schema.byPath[at].Example})
			return nil, false
		}
		list = append(list, Stated{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	return list, true
}

// programSource reads how the files of a program are to be read.
func (r *run) programSource(v *view, p *ProgramPoint, names []string) (*ProgramSource, bool) {
	s := &ProgramSource{Files: names, seed: uint64(p.Seed)}
	alike, ok1 := fetchOr(v, "program.ranks_alike", ranksAlike()[0])
	shares, given, ok2 := fetch[splits](v, "program.splits")
	s.Alike, s.divided, s.shares = alike, given, shares
	if slices.Contains(callOrders(), p.Order) {
		s.Order, p.Order = p.Order, programOrders()[0]
	}
	s.Groups = p.Groups
	if !ok1 || !ok2 {
		return s, false
	}
	if alike == ranksAlike()[0] {
		return s, true
	}
	v.use("program.ranks_alike")
	if given {
		v.use("program.splits")
	}
	if shares.file != "" {
		answer, known := r.ask(WhichSplits, &Point{Data: Files{Input: shares.file}})
		if answer.Err != nil {
			v.fail("program.splits", problem{text: answer.Err.Error()})
		}
		if s.shares.rows = answer.Splits; !known || answer.Err != nil {
			return s, false
		}
	}
	for _, name := range p.Stages {
		i := slices.IndexFunc(p.Groups, func(g ProgramGroup) bool { return g.Name == name })
		if i < 0 {
			v.fail("program.stages", problem{fmt.Sprintf("no group is called %s", quoted(name)),
				"[[program.group]] makes it"})
			return s, false
		}
		s.Stages = append(s.Stages, slices.Concat(p.Groups[i].Teams...))
	}
	return s, true
}

// Shares returns how many of count tokens each of so many senders has for each receiver: nil where
// the scenario does not say it.
func (s *ProgramSource) Shares() func(ranks int, count int64) ([][]int64, error) {
	if !s.divided {
		return nil
	}
	return func(ranks int, count int64) ([][]int64, error) {
		rows := slices.Repeat([][]int64{zipf(ranks, count, s.shares.zipf, s.seed)}, ranks)
		if s.shares.rows == nil {
			return rows, nil
		}
		if len(s.shares.rows) != ranks {
			return nil, fmt.Errorf("program.splits has %d rows; a call of %d ranks takes as many",
				len(s.shares.rows), ranks)
		}
		for i, row := range s.shares.rows {
			if len(row) != ranks {
				return nil, fmt.Errorf("program.splits: row %d has %d numbers; a call of %d ranks takes as "+
					"many", i, len(row), ranks)
			}
			rows[i] = inProportion(count, row)
		}
		return rows, nil
	}
}

// inProportion divides count into parts as large as weights say; what rounding down leaves goes to
// the first that have a weight, one each. Without any weight all count alike.
func inProportion(count int64, weights []int64) []int64 {
	total := int64(0)
	for _, w := range weights {
		total += w
	}
	if total == 0 {
		weights, total = slices.Repeat([]int64{1}, len(weights)), int64(len(weights))
	}
	parts := make([]int64, len(weights))
	left := count
	for i, w := range weights {
		high, low := bits.Mul64(uint64(count), uint64(w))
		share, _ := bits.Div64(high, low, uint64(total))
		parts[i] = int64(share)
		left -= parts[i]
	}
	for i := 0; left > 0; i++ { // fewer than have a weight
		if weights[i] > 0 {
			parts[i]++
			left--
		}
	}
	return parts
}
