// Package hlo reads the text of HLO modules, XLA's programs, as --xla_dump_to writes them after
// optimizations: the instructions of every GPU of a partitioned program, in order.
//
//	HloModule jit_f, is_scheduled=true, num_partitions=8
//
//	%add (x: f32[], y: f32[]) -> f32[] {
//	  %x = f32[] parameter(0)
//	  %y = f32[] parameter(1)
//	  ROOT %sum = f32[] add(%x, %y)
//	}
//
//	ENTRY %main (a: f32[1024,512]) -> f32[1024,512] {
//	  %a = f32[1024,512]{1,0} parameter(0)
//	  ROOT %r = f32[1024,512]{1,0} all-reduce(%a), channel_id=1, replica_groups=[2,4]<=[8],
//	    use_global_device_ids=true, to_apply=%add
//	}
//
// All ranks execute the same program. A rank is a replica and a partition: replica·num_partitions +
// partition. Collectives, collective permutes, and sends with their receives keep their meaning. A
// dot, a convolution or attention is a matmul of as many operations, alone, in a fusion or as a
// call of a library. The cost of every other kernel is the bytes that it moves: operands in, result
// out. Where XLA has fused nothing yet, they are put together as it would (fuse.go). Calls are
// inlined, a while is unrolled, and a conditional is one of its branches.
//
// The text is that of XLA's HloParser (openxla/xla, xla/hlo/parser); groups of ranks are those of
// xla/service/collective_ops_utils.h.
package hlo

import (
	"fmt"
	"io"

	"collsim/collective"
	"collsim/dtype"
	"collsim/formats/internal/foreign"
	"collsim/formats/internal/opgraph"
	"collsim/internal/input"
	"collsim/unit"
)

// Program holds the ops that all ranks of a module execute.
type Program struct {
	Name  string
	Ranks int
	Ops   []Op     // in topological order
	Notes []string // for the user
}

// Op is a collective, a message, or a kernel, executed by all ranks.
type Op struct {
	Name  string
	Line  int
	After []int // indices of ops that must have ended on a rank before it begins there
	// Call is a collective that all teams do at once, on each of Tensors with its type and shape;
	// nil for a kernel. Several tensors are as many collectives, launched together.
	Call  *collective.Communication
	Teams [][]int // nil is all ranks
	Async bool    // only ops that need its result wait for it
	// Thread names the thread of an asynchronous kernel; empty for those in order.
	Thread string
	// Tensors are the operands of a matmul, as [m, k] and [k, n], or those of a call. Out is the
	// type of a matmul's result.
	Tensors []Tensor
	Out     dtype.Type
	// Moves is the bytes that any other kernel reads and writes.
	Moves unit.Bytes
}

// Options hold what is known of a module besides its text.
type Options struct {
	// Limit is the most bytes of the file, unpacked; 0 stands for 1 GiB.
	Limit unit.Bytes
	// Ranks is their number where the header has neither num_partitions nor replica_count; 0 is one.
	Ranks int
	// Branches are the branches that conditionals take, and Trips how often loops go round, whatever
	// the file says. The first whose name fits holds.
	Branches, Trips []Stated
	// Loosely takes a loop of unknown length once, the last branch of a conditional, and as many
	// ranks as groups and pairs name.
	Loosely bool
}

// Tensor is the type and the shape of an operand.
type Tensor struct {
	Type  dtype.Type
	Shape collective.Shape
}

// maxWaits bounds the dependencies of all ranks together.
const maxWaits = 1 << 24

// ReadProgram reads a module as a program, gzipped or not. Errors are *foreign.Error with the line.
func ReadProgram(name string, in io.Reader, o Options) (*Program, error) {
	plain, err := input.Limit{Bytes: o.Limit}.Unpacked(in)
	if err != nil {
		return nil, &foreign.Error{File: name, Text: err.Error()}
	}
	text, err := input.Limit{Bytes: o.Limit}.All(plain)
	if long := plain.Long(); long != nil {
		return nil, foreign.Long(name, long, err)
	}
	if err != nil {
		return nil, &foreign.Error{File: name, Text: err.Error()}
	}
	p := parser{file: name, text: string(text), line: 1}
	m, err := p.module()
	if err != nil {
		return nil, err
	}
	var notes []string
	if o.Loosely && !m.counted && m.named() > 1 {
		o.Ranks = m.named()
		notes = append(notes, fmt.Sprintf("the header has neither replica_count nor num_partitions: "+
			"%d ranks are taken, as many as its groups and pairs name", o.Ranks))
	}
	m.countBy(o.Ranks)
	e := emitter{out: Program{Notes: notes}, module: m, parser: &p, options: &o,
		others: map[string]int{}, made: map[*instr][]Op{},
		sent: map[string][]int{}, plans: map[*computation]*plan{}}
	return e.program()
}

// Read reads a module as messages without data: each collective is a barrier of its teams.
func Read(in io.Reader, o foreign.Options) (*foreign.File, error) {
	if err := opgraph.Refuse(&o); err != nil {
		return nil, err
	}
	p, err := ReadProgram(o.File, in, Options{Limit: o.Limit, Loosely: true})
	if err != nil {
		return nil, err
	}
	g := graph{program: p, ranks: make([]opgraph.Rank, p.Ranks), ends: make([][]int32, p.Ranks)}
	return g.file(&o)
}
