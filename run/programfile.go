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

// A programFormat is a kind of file that is the program of all ranks.
type programFormat struct {
	what string
	is   func(name string, text []byte) bool
	read func(file programText, p *scenarios.ProgramSource, ranks int) (*scenarios.ProgramFile, error)
	// What the scenario says besides: who is in a group that the file names, what branches and loops
	// do, in which order calls are made.
	grouped, stated, ordered bool
}

// programText is the name and the content of a file, and the most bytes of it, unpacked.
type programText struct {
	name  string
	text  []byte
	limit unit.Bytes
}

// programFormats lists them. A file of none may be a trace.
func programFormats() []programFormat {
	return []programFormat{
		{what: "a workload of SimAI", read: workload,
			is: func(_ string, text []byte) bool { return simai.IsWorkload(text) }},
		{what: "a graph of PyTorch", read: graph, grouped: true,
			is: func(_ string, text []byte) bool { return fx.IsGraph(text) }},
		{what: "an HLO module", read: module, stated: true,
			is: func(name string, text []byte) bool { return formatOf(name, text) == formats.HLO }},
	}
}

// formatOf returns the name of a file's format, empty if it is not known.
func formatOf(name string, text []byte) string {
	f, _ := formats.Sniff(name, text[:min(len(text), formats.HeadSize)])
	return f.Name
}

// filed reads the files that are the program of a scenario: one that all ranks do, or a trace.
func (s *Scenario) filed(source *scenarios.ProgramSource, ranks int) (*scenarios.ProgramFile,
	error) {
	name := s.programName(source.Files[0])
	read := s.trace
	alone := len(source.Files) == 1 && !strings.Contains(name, formats.RankInName)
	if alone && source.Alike == "false" {
		read = s.oneFile
	}
	f, err := read(name, source, ranks)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n  ", "; "))
	}
	if len(f.Ops) == 0 {
		return nil, fmt.Errorf("nothing in %s takes time", name)
	}
	return f, nil
}

// oneFile reads a file that is the program of all ranks.
func (s *Scenario) oneFile(name string, source *scenarios.ProgramSource, ranks int) (
	*scenarios.ProgramFile, error) {
	text, err := s.programFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, formats.Unreadable(err))
	}
	for _, f := range programFormats() {
		if !f.is(name, text) {
			continue
		}
		if err := f.takes(source); err != nil {
			return nil, err
		}
		return f.read(programText{name, text, s.limit}, source, ranks)
	}
	if is := formatOf(name, text); is == formats.Trace || is == formats.Profile {
		return nil, fmt.Errorf("%s is a trace of one rank: ranks_alike = true takes it for all %d; of a "+
			"file a rank, %s in the name stands for the rank", name, ranks, formats.RankInName)
	}
	return nil, fmt.Errorf("an HLO module, a graph of PyTorch, a workload of SimAI, or a trace of a "+
		"file a rank with %s in the name, is expected", formats.RankInName)
}

// takes refuses what the scenario says besides, if that means nothing for such a file.
func (f *programFormat) takes(p *scenarios.ProgramSource) error {
	switch {
	case len(p.Groups) > 0 && !f.grouped:
		return errors.New("the file has all of the program; leave [[program.group]] out, or the file")
	case len(p.Branches)+len(p.Trips) > 0 && !f.stated:
		return fmt.Errorf("program.branches and program.trips are for an HLO module; this is %s", f.what)
	case p.Order != "" && !f.ordered:
		return fmt.Errorf("program.order = %q is for calls of a trace; this is %s", p.Order, f.what)
	}
	return nil
}

// trace reads a trace of a file a rank, or of files that stand for more ranks than one.
func (s *Scenario) trace(name string, source *scenarios.ProgramSource, ranks int) (
	*scenarios.ProgramFile, error) {
	alike := source.Alike != "false"
	of := programFormat{what: "a trace", grouped: alike, ordered: true}
	if err := of.takes(source); err != nil {
		return nil, err
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
		return nil, err
	}
	return programOfTrace(w), nil
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
