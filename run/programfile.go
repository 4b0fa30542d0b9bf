package run

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats"
	"collsim/formats/chakra"
	"collsim/scenarios"
	"collsim/unit"
)

// A file of others as a program. Sizes are bytes in traces, so tensors are; all calls of a size
// read the same one, and each writes its own. What waits for what is said by the ops that it comes
// after.

// filed reads the file that is the program of a scenario: a trace of a file a rank, or a module.
func (s *Scenario) filed(file string, p *scenarios.ModulePoint) (*scenarios.ProgramFile, error) {
	name, read := s.disk.resolve(file), s.disk.file
	if strings.HasPrefix(s.file, "example:") {
		name, read = file, scenarios.ExampleFile
	}
	if !strings.Contains(file, formats.RankInName) {
		text, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, formats.Unreadable(err))
		}
		return module(name, text, p, s.limit)
	}
	parts, err := formats.ReadParts(name, read)
	if err != nil {
		return nil, err
	}
	if len(parts) != p.Ranks {
		return nil, fmt.Errorf("there are %d files, of as many ranks; the network has %d", len(parts),
			p.Ranks)
	}
	if len(p.Branches)+len(p.Trips) > 0 {
		return nil, fmt.Errorf("program.branches and program.trips are for an HLO module; this is a " +
			"trace")
	}
	var inputs []chakra.Input
	for rank, part := range parts {
		inputs = append(inputs, chakra.Input{Name: formats.PartName(name, rank),
			Reader: bytes.NewReader(part)})
	}
	w, err := chakra.ReadWorkload(name, inputs, s.limit)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n  ", "; "))
	}
	if len(w.Ops) == 0 {
		return nil, fmt.Errorf("nothing in %s takes time", name)
	}
	return programOfTrace(w), nil
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
	var names []string
	for _, team := range teams {
		names = append(names, ranksText(team))
	}
	name := "ranks " + strings.Join(names, " | ")
	if !slices.ContainsFunc(f.Groups, func(g scenarios.ProgramGroup) bool { return g.Name == name }) {
		f.Groups = append(f.Groups, scenarios.ProgramGroup{Name: name, Teams: teams})
	}
	return name
}

// ranksText lists ranks, such as "0 2 4…7".
func ranksText(ranks []int) string {
	text := ""
	for i := 0; i < len(ranks); {
		end := i + 1
		for end < len(ranks) && ranks[end] == ranks[end-1]+1 {
			end++
		}
		if text != "" {
			text += " "
		}
		if text += strconv.Itoa(ranks[i]); end-i > 2 {
			text += "…" + strconv.Itoa(ranks[end-1])
			i = end
			continue
		}
		i++
	}
	return text
}
