// Package hlo reads the text of HLO modules, XLA's programs, as --xla_dump_to writes them after
// optimizations: what every GPU of a partitioned program does, in order.
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
// All ranks do the same. A rank is a replica and a partition: replica·num_partitions + partition.
// Collectives and collective permutes are what they ask for; a dot, alone, in a fusion or as a call
// of cuBLAS, is a matmul of its shapes; every other instruction that is a kernel is taken for what
// it moves: operands in, result out. A call is what it calls, a while with a known trip count as
// many of its bodies. What is not read is refused by its line: other loops, conditionals, sends and
// receives, shapes that are dynamic.
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

// Program is what the ranks of a module do.
type Program struct {
	Name  string
	Ranks int
	Ops   []Op     // in order, each after those that it waits for
	Notes []string // what a reader should know besides
}

// Op is a collective, a message, or a kernel of all ranks.
type Op struct {
	Name  string
	Line  int
	After []int // numbers of ops that must have ended on a rank before it begins there
	// Call is a collective, of the type and shape of each of Tensors, by all teams at once; nil of a
	// kernel. A call of several tensors is as many, launched together.
	Call  *collective.Communication
	Teams [][]int // nil is all ranks
	Async bool    // only who needs its result waits for it
	// Tensors are the operands of a matmul, as [m, k] and [k, n], or those of a call. Out is the type
	// of a matmul's result.
	Tensors []Tensor
	Out     dtype.Type
	// Moves is what another kernel reads and writes.
	Moves unit.Bytes
}

// Tensor is an operand.
type Tensor struct {
	Type  dtype.Type
	Shape collective.Shape
}

// maxWaits bounds how often ranks wait for what they do.
const maxWaits = 1 << 24

// ReadProgram reads a module as a program, gzipped or not, of no more bytes than the limit, which
// is 1 GiB if it is 0. Errors are *foreign.Error, with the line.
func ReadProgram(name string, in io.Reader, limit unit.Bytes) (*Program, error) {
	plain, err := input.Limit{Bytes: limit}.Unpacked(in)
	if err != nil {
		return nil, &foreign.Error{File: name, Text: err.Error()}
	}
	text, err := input.Limit{Bytes: limit}.All(plain)
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
	e := emitter{module: m, parser: &p, taken: map[string]int{}, others: map[string]int{},
		made: map[*instr][]Op{}}
	return e.program()
}

// Read reads a module as messages without data: each collective is a barrier of its teams.
func Read(in io.Reader, o foreign.Options) (*foreign.File, error) {
	if err := opgraph.Refuse(&o); err != nil {
		return nil, err
	}
	p, err := ReadProgram(o.File, in, o.Limit)
	if err != nil {
		return nil, err
	}
	waits := len(p.Ops)
	for i := range p.Ops {
		waits += len(p.Ops[i].After)
	}
	if p.Ranks > opgraph.MaxRanks || waits > maxWaits/p.Ranks {
		return nil, &foreign.Error{File: o.File, Text: fmt.Sprintf("%d ranks do %d things that wait for "+
			"%d: that is too much", p.Ranks, len(p.Ops), waits)}
	}
	g := graph{program: p, ranks: make([]opgraph.Rank, p.Ranks), ends: make([][]int32, p.Ranks)}
	return g.file(&o)
}
