package hlo

import (
	"slices"
	"strings"
)

// moves returns the bytes that a kernel reads and writes: its operands and its result, each once.
// Of what is sliced, updated in place, gathered or scattered only the part that is touched counts,
// as in XLA's HloCostAnalysis.
func (e *emitter) moves(c *computation, i *instr) int64 {
	if annotates(i.target()) {
		return 0
	}
	if n, known := c.touched(i); known {
		return n
	}
	total := i.shape.bytes()
	of := e.computations[strings.TrimPrefix(i.calls(), "%")]
	isFusion := i.opcode == "fusion" && of != nil
	if isFusion {
		total = of.written(of.root)
	}
	seen := map[int]bool{}
	for k, operand := range i.operands {
		n := c.instrs[operand].shape.bytes()
		if isFusion {
			n = of.readOf(k, n)
		}
		if !seen[operand] || isFusion { // what a kernel reads twice comes from memory once
			total = min(total+n, most)
		}
		seen[operand] = true
	}
	return total
}

// touched returns the bytes that an instruction reads and writes if it touches a part of an
// operand, otherwise false.
func (c *computation) touched(i *instr) (int64, bool) {
	of := func(k int) int64 {
		if k >= len(i.operands) {
			return 0
		}
		return c.instrs[i.operands[k]].shape.bytes()
	}
	n := int64(0)
	switch i.opcode {
	case "dynamic-slice", "slice":
		n = 2 * i.shape.bytes()
	case "gather": // and which rows
		n = 2*i.shape.bytes() + of(1)
	case "dynamic-update-slice":
		n = 2 * of(1)
	case "scatter": // which rows, the updates, and the operand where they go, twice
		n = of((len(i.operands)-1)/2) + 3*c.updates(i)
	default:
		return 0, false
	}
	return min(n, most), true
}

// updates returns the bytes of the updates of a scatter: of n operands, they are the last n.
func (c *computation) updates(i *instr) (n int64) {
	for _, operand := range i.operands[len(i.operands)-(len(i.operands)-1)/2:] {
		n = min(n+c.instrs[operand].shape.bytes(), most/4)
	}
	return n
}

// calls returns the name of a fusion's computation.
func (i *instr) calls() string { name, _ := i.attr("calls"); return name }

// written returns the bytes that a fusion writes for the result of an instruction.
func (c *computation) written(at int) int64 {
	i := &c.instrs[at]
	switch {
	case i.opcode == "tuple":
		total := int64(0)
		for _, operand := range i.operands {
			total = min(total+c.written(operand), most)
		}
		return total
	case (i.opcode == "bitcast" || i.opcode == "reshape") && len(i.operands) == 1:
		return c.written(i.operands[0])
	case i.opcode == "scatter" && len(i.operands) > 2: // it reads what it adds to
		return 2 * c.updates(i)
	case i.opcode == "dynamic-update-slice" && len(i.operands) > 1:
		update := c.instrs[i.operands[1]].shape.bytes()
		switch into := c.source(i.operands[0]); c.instrs[into].opcode {
		case "parameter":
			return update
		case "dynamic-update-slice":
			return min(update+c.written(into), most)
		}
	}
	return i.shape.bytes()
}

// readOf returns the bytes that a fusion reads of a parameter.
func (c *computation) readOf(parameter int, whole int64) int64 {
	at := slices.IndexFunc(c.instrs, func(i instr) bool {
		return i.opcode == "parameter" && i.parameter() == parameter
	})
	if at < 0 {
		return whole
	}
	return c.read(at, whole)
}

// read returns the bytes that the users of an instruction read of it: the parts of slices, nothing
// of what is updated in place. Through a bitcast they are those of its users.
func (c *computation) read(at int, whole int64) (total int64) {
	for k := at + 1; k < len(c.instrs); k++ {
		i := &c.instrs[k]
		where := slices.Index(i.operands, at)
		switch {
		case where < 0:
		case (i.opcode == "bitcast" || i.opcode == "reshape") && k != c.root:
			total = min(total+c.read(k, whole), whole)
		case where == 0 && (i.opcode == "dynamic-slice" || i.opcode == "slice" ||
			i.opcode == "gather"):
			total = min(total+i.shape.bytes(), whole)
		case where == 0 && (i.opcode == "dynamic-update-slice" || i.opcode == "scatter"):
		default:
			return whole
		}
	}
	return total
}

// parameter returns the number of a parameter instruction, −1 if it has none.
func (i *instr) parameter() int {
	n, err := wholes(i.inside)
	if err != nil || len(n) != 1 {
		return -1
	}
	return int(n[0])
}
