package run

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
	"collsim/formats/chakra"
	"collsim/formats/fx"
	"collsim/formats/simai"
	"collsim/internal/prose"
	"collsim/scenarios"
	"collsim/unit"
)

// A file of others as a program. Sizes are bytes in traces, so tensors are; all calls of a size
// read the same one, and each writes its own. What waits for what is said by the ops that it comes
// after.

// filed reads the files that are the program of a scenario: a trace of a file a rank, or of files
// that stand for more ranks than one; or a module.
func (s *Scenario) filed(source *scenarios.ProgramSource, ranks int) (*scenarios.ProgramFile,
	error) {
	name := s.programName(source.Files[0])
	alike := source.Alike != "false"
	if len(source.Files) == 1 && !alike && !strings.Contains(name, formats.RankInName) {
		return s.oneFile(name, source, ranks)
	}
	if len(source.Groups) > 0 && !alike {
		return nil, errAll
	}
	if len(source.Branches)+len(source.Trips) > 0 {
		return nil, errors.New("program.branches and program.trips are for an HLO module; this is a " +
			"trace")
	}
	inputs, err := s.traces(source)
	if err != nil {
		return nil, err
	}
	if len(inputs) != ranks && !alike {
		return nil, fmt.Errorf("there are %d files, of as many ranks; the network has %d: ranks_alike = "+
			"true takes one file for all, \"stage\" a file a stage", len(inputs), ranks)
	}
	how := chakra.Reading{Limit: s.limit, Order: source.Order, Ranks: ranks, Stages: source.Stages,
		Shares: source.Shares()}
	switch source.Alike {
	case "true":
		how.Alike = chakra.AllRanks
	case "stage":
		how.Alike = chakra.Stages
	}
	for _, g := range source.Groups {
		how.Groups = append(how.Groups, chakra.Group{Name: g.Name, Teams: g.Teams})
	}
	w, err := chakra.ReadWorkload(name, inputs, &how)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n  ", "; "))
	}
	if len(w.Ops) == 0 {
		return nil, fmt.Errorf("nothing in %s takes time", name)
	}
	return programOfTrace(w), nil
}

// errAll refuses groups of the scenario where a file names its own.
var errAll = errors.New("the file has all of the program; leave [[program.group]] out, or the file")

// oneFile reads a module, or a workload, that all ranks do.
func (s *Scenario) oneFile(name string, source *scenarios.ProgramSource, ranks int) (
	*scenarios.ProgramFile, error) {
	text, err := s.programFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, formats.Unreadable(err))
	}
	if len(source.Groups) > 0 && !fx.IsGraph(text) {
		return nil, errAll
	}
	if simai.IsWorkload(text) {
		return workload(name, text, ranks)
	}
	if fx.IsGraph(text) {
		return graph(name, text, source, ranks)
	}
	f, known := formats.Sniff(name, text[:min(len(text), formats.HeadSize)])
	if !known || f.Name != formats.Trace && f.Name != formats.Profile {
		return module(name, text, source, ranks, s.limit)
	}
	return nil, fmt.Errorf("%s is a trace of one rank: ranks_alike = true takes it for all %d; of a "+
		"file a rank, %s in the name stands for the rank", name, ranks, formats.RankInName)
}

// programName resolves the name of a program's file; programFile reads it. Those of an example are
// embedded.
func (s *Scenario) programName(file string) string {
	if strings.HasPrefix(s.file, "example:") {
		return file
	}
	return s.disk.resolve(file)
}

func (s *Scenario) programFile(name string) ([]byte, error) {
	if strings.HasPrefix(s.file, "example:") {
		return scenarios.ExampleFile(name)
	}
	return s.disk.file(name)
}

// traces reads the files of a trace: those of a list, or all that a name with {rank} stands for.
func (s *Scenario) traces(source *scenarios.ProgramSource) (inputs []chakra.Input, err error) {
	for _, file := range source.Files {
		name := s.programName(file)
		if !strings.Contains(file, formats.RankInName) {
			text, err := s.programFile(name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, formats.Unreadable(err))
			}
			inputs = append(inputs, chakra.Input{Name: name, Reader: bytes.NewReader(text)})
			continue
		}
		parts, err := formats.ReadParts(name, s.programFile)
		if err != nil {
			return nil, err
		}
		for rank, part := range parts {
			inputs = append(inputs, chakra.Input{Name: formats.PartName(name, rank),
				Reader: bytes.NewReader(part)})
		}
	}
	return inputs, nil
}

// programOfTrace converts a trace to a program with groups and tensors.
func programOfTrace(w *chakra.Workload) *scenarios.ProgramFile {
	f := &scenarios.ProgramFile{Notes: w.Notes}
	for i := range w.Ops {
		o := &w.Ops[i]
		op := scenarios.ProgramOp{Name: o.Name, Group: groupOf(f, o.Teams, w.Ranks), At: -1}
		for _, before := range o.After {
			op.After = append(op.After, w.Ops[before].Name)
		}
		switch {
		case o.Kind == 0:
			op.Kernel, op.Stream = fmt.Sprintf("opaque %d ps", int64(o.Time)), "compute"
			if o.CPU {
				op.Stream = "host"
			} else if o.Stream != "" {
				op.Stream = o.Stream
			}
		case o.Kind == collective.SendRecv: // from the first of two to the second
			call(f, &op, &collective.Communication{Kind: collective.Broadcast}, o.Bytes)
			op.Stream = fmt.Sprintf("%d to %d", o.Teams[0][0], o.Teams[0][1])
		case o.Kind == collective.Barrier: // as NCCL does one
			call(f, &op, &collective.Communication{Kind: collective.AllReduce}, 1)
			op.Stream = streamOf(o)
		default:
			call(f, &op, &collective.Communication{Kind: o.Kind, Root: o.Root, Splits: o.Splits}, o.Bytes)
			op.Stream = streamOf(o)
			if o.Permute {
				op.Stream, op.Algorithm = "messages "+op.Group, permutes()
			}
		}
		f.Ops = append(f.Ops, op)
	}
	return f
}

// streamOf returns the stream of a collective: each group has its own, as in torch.distributed.
func streamOf(o *chakra.Work) string {
	if o.Group == "" {
		return "comm"
	}
	return "comm " + o.Group
}

// call makes an op a collective of so many bytes a rank.
func call(f *scenarios.ProgramFile, op *scenarios.ProgramOp, c *collective.Communication,
	size unit.Bytes) {
	op.Call, op.Async = c.String(), true
	in := scenarios.ProgramTensor{Name: fmt.Sprintf("bytes_%d", int64(size)), Type: dtype.Uint8,
		Shape: collective.Shape{int64(size)}, Memory: "private", At: -1}
	if !slices.ContainsFunc(f.Tensors, func(t scenarios.ProgramTensor) bool {
		return t.Name == in.Name
	}) {
		f.Tensors = append(f.Tensors, in)
	}
	op.In, op.Out = []string{in.Name}, fmt.Sprintf("out_%d", len(f.Ops))
}

// groupOf returns the name of the group that consists of some teams, and adds it to the program
// if it is new. The name is empty for one team of all ranks in order.
func groupOf(f *scenarios.ProgramFile, teams [][]int, all int) string {
	if len(teams[0]) == all && slices.IsSorted(teams[0]) {
		return ""
	}
	const most = 8 // teams that a name lists
	var names []string
	for _, team := range teams[:min(len(teams), most)] {
		names = append(names, prose.Ranks(team))
	}
	name := "ranks " + strings.Join(names, " | ")
	if len(teams) > most {
		name += fmt.Sprintf(" | … %d teams", len(teams))
	}
	for _, g := range f.Groups {
		switch {
		case slices.EqualFunc(g.Teams, teams, slices.Equal):
			return g.Name
		case g.Name == name: // other teams behind the first
			name += "'"
		}
	}
	f.Groups = append(f.Groups, scenarios.ProgramGroup{Name: name, Teams: teams})
	return name
}
