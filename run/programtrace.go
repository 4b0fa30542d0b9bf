package run

import (
	"fmt"
	"slices"
	"strings"

	"collsim/program"
	"collsim/scenarios"
	"collsim/schedule"
	"collsim/sim"
	"collsim/trace"
)

// OpNames lists what ops are called, in the order in which they are first carried out.
func (result *ProgramResult) OpNames() (names []string) {
	listed := map[string]bool{}
	for _, o := range result.Lowered.Ops {
		for _, name := range o.Names {
			if !listed[name] {
				listed[name], names = true, append(names, name)
			}
		}
	}
	return names
}

// Turns returns the pass and the microbatch of each op of a pipeline, by name; nil for a program
// that is none.
func (result *ProgramResult) Turns() map[string]Turn {
	if result.Stages == nil {
		return nil
	}
	turns := map[string]Turn{}
	for _, o := range result.Lowered.Ops {
		for _, name := range o.Names {
			turns[name] = Turn{o.Pass, o.Microbatch}
		}
	}
	return turns
}

// Turn is a pass ("forward", "backward", or "update") of a microbatch.
type Turn struct {
	Pass       string
	Microbatch int
}

// annotate says in a timeline of the program, carried out as a schedule of any sizes, which op
// each bracket is of, and calls lanes by their ops and streams as the program does. Where there is
// no model of a GPU, what an op does on a stream is one bracket, which waits as its part does; of
// what was not simulated that is not known.
func (result *ProgramResult) annotate(t *trace.Trace, s *schedule.Schedule, parts []sim.Busy) {
	programs := make([]*schedule.Program, s.Spec.Ranks)
	for rank := range programs {
		programs[rank] = s.Program(rank)
	}
	ops := result.opOfParts()
	first := int32(0) // lane of a part
	for n := range t.Tracks {
		k := &t.Tracks[n]
		part := programs[k.Rank].Part(int(k.Lane))
		if k.Lane == 0 || part != programs[k.Rank].Part(int(k.Lane-1)) {
			first = k.Lane
		}
		k.Name = fmt.Sprintf("%s lane %d", nameOf(&result.Lowered.Ops[ops[part]]), k.Lane-first)
	}
	if t.Rows == nil {
		addBrackets(t, programs, parts)
	}
	for n := range t.Rows {
		if r := &t.Rows[n]; r.Kind == trace.Stream && int(r.Number) < len(result.Lowered.Streams) {
			r.Called = result.Lowered.Streams[r.Number]
		}
	}
	matmuls := make([]int, len(t.Tracks)) // of fused ops, so far
	for n := range t.Brackets {
		b := &t.Brackets[n]
		part := programs[t.Tracks[b.Track].Rank].Part(int(t.Tracks[b.Track].Lane))
		op := &result.Lowered.Ops[ops[part]]
		if len(op.Names) > 1 && b.Name != "" {
			if b.Op = result.memberOf(op, b.Name, &matmuls[b.Track]); b.Name == "matmul" {
				b.Name = b.Op
			}
			continue
		}
		b.Op = nameOf(op)
		if b.Name == "" || !op.IsCall || schedule.PartOf(s, part).Launch != nil {
			b.Name = b.Op
		}
	}
}

// nameOf returns the name of an op; for ops that were fused, their names joined by +.
func nameOf(o *program.LoweredOp) string { return strings.Join(o.Names, "+") }

// memberOf returns the name of the op, among several that were fused, to which a bracket belongs.
// Matmuls belong to the program's kernels in turn; matmuls counts them. All else belongs to the
// collective.
func (result *ProgramResult) memberOf(o *program.LoweredOp, does string, matmuls *int) string {
	var kernels []string
	call := o.Names[0]
	for _, name := range o.Names {
		if slices.ContainsFunc(result.Point.Ops, func(x scenarios.ProgramOp) bool {
			return x.Name == name && x.Call != ""
		}) {
			call = name
		} else {
			kernels = append(kernels, name)
		}
	}
	if does != "matmul" || kernels == nil {
		return call
	}
	*matmuls++
	return kernels[(*matmuls-1)%len(kernels)]
}

// addBrackets makes a bracket of what each part does on a stream of a rank.
func addBrackets(t *trace.Trace, programs []*schedule.Program, parts []sim.Busy) {
	type place struct{ rank, stream, part int }
	at := map[place]int{}
	var list []trace.Bracket
	var rows []trace.Row
	busy := map[[2]int32]*sim.Busy{} // by rank and part
	for i := range parts {
		busy[[2]int32{parts[i].Rank, parts[i].Part}] = &parts[i]
	}
	for n, k := range t.Tracks {
		on := t.On(int32(n))
		if len(on) == 0 {
			continue
		}
		p := programs[k.Rank]
		where := place{int(k.Rank), p.Stream(int(k.Lane)), p.Part(int(k.Lane))}
		i, there := at[where]
		if !there {
			i = len(list)
			at[where] = i
			list = append(list, trace.Bracket{Track: int32(n), Start: on[0].Start})
			if b := busy[[2]int32{k.Rank, int32(where.part)}]; b != nil && b.Kernels == nil {
				list[i].Start = b.Ready
				for _, w := range b.Waits {
					list[i].Waits = append(list[i].Waits, trace.Wait(w))
				}
			}
			rows = append(rows, trace.Row{Rank: k.Rank, Number: int32(where.stream)})
		}
		b := &list[i]
		b.Lanes++
		b.Start, b.End = min(b.Start, on[0].Start), max(b.End, on[len(on)-1].End)
	}
	t.Rows = slices.Clone(rows)
	slices.SortFunc(t.Rows, trace.CompareRows)
	t.Rows = slices.Compact(t.Rows)
	for i := range list {
		row, _ := slices.BinarySearchFunc(t.Rows, rows[i], trace.CompareRows)
		list[i].Row = int32(row)
	}
	t.Brackets = list
	t.Sort()
	for i := range t.Brackets {
		b := &t.Brackets[i]
		if i > 0 && t.Brackets[i-1].Row == b.Row {
			b.Start = max(b.Start, t.Brackets[i-1].End)
		}
		b.End = max(b.End, b.Start)
		b.Issued, b.Ready = b.Start, b.Start
		within := b.Waits[:0]
		for _, w := range b.Waits {
			if w.From, w.To = max(w.From, b.Start), min(w.To, b.End); w.From < w.To {
				within = append(within, w)
			}
		}
		b.Waits = within
	}
}

// opOfParts is, of each part, its op among Lowered.Ops.
func (result *ProgramResult) opOfParts() []int {
	ops := make([]int, schedule.NumParts(result.Lowered.Schedule))
	for n, o := range result.Lowered.Ops {
		for _, part := range o.Parts {
			ops[part] = n
		}
	}
	return ops
}
