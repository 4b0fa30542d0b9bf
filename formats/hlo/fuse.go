package hlo

// plan says which instructions of a computation that XLA has not fused yet are kernels, and what
// these move. It stands for XLA's loop and input fusion: what computes element by element, or
// moves elements, is a part of the kernels that read it, so that its result is never in memory.
//
// An instruction of this sort is a kernel of its own where something else reads it (a matmul, a
// collective, a call, the result of the computation), where it is a reduction, or where it
// computes and several kernels read it. A kernel reads each value in memory that it depends on
// once, of a slice the slice, and writes its result.
type plan struct {
	isPart []bool  // by instruction: computed by those that read it
	moves  []int64 // of a kernel
}

// Readers of an instruction, besides the only kernel that reads it, as 1 + its index.
const (
	nothing = 0
	several = -1
)

// planOf returns the plan of a computation.
func (e *emitter) planOf(c *computation) *plan {
	if p := e.plans[c]; p != nil {
		return p
	}
	p := &plan{isPart: make([]bool, len(c.instrs)), moves: make([]int64, len(c.instrs))}
	reader, outside := make([]int, len(c.instrs)), make([]bool, len(c.instrs))
	outside[c.root] = true
	for k := len(c.instrs) - 1; k >= 0; k-- {
		i := &c.instrs[k]
		how, by := fusing(i), k+1
		p.isPart[k] = !outside[k] && (how == shifts && reader[k] != nothing ||
			how == computes && reader[k] > 0)
		if p.isPart[k] || isView(i.opcode) {
			by = reader[k]
		}
		for n, operand := range i.operands {
			switch {
			case isView(i.opcode): // what reads it reads its operand
				outside[operand] = outside[operand] || outside[k]
			case how == alone || how == updates && n == 0:
				outside[operand] = true
			}
			switch reader[operand] {
			case nothing, by:
				reader[operand] = by
			default:
				reader[operand] = several
			}
		}
	}
	for k := range c.instrs {
		if p.isPart[k] {
			e.joined++
		} else if !isFree(c.instrs[k].opcode) {
			p.moves[k] = e.movesFused(c, p, k)
		}
	}
	e.plans[c] = p
	return p
}

// fusion says how an instruction takes part in fusions.
type fusion uint8

const (
	alone    fusion = iota // not at all
	computes               // element by element
	shifts                 // moves, repeats or makes elements: several readers do it several times
	reduces                // puts those before it together, and is the last of a kernel
	updates                // as reduces, in place of its first operand
)

// fusing returns how an instruction takes part in fusions.
func fusing(i *instr) fusion {
	switch i.opcode {
	case "add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder", "and",
		"or", "xor", "not", "negate", "abs", "sign", "exponential", "exponential-minus-one", "log",
		"log-plus-one", "sqrt", "rsqrt", "cbrt", "tanh", "tan", "sine", "cosine", "logistic", "erf",
		"atan2", "floor", "ceil", "round-nearest-afz", "round-nearest-even", "clamp", "map",
		"shift-left", "shift-right-arithmetic", "shift-right-logical", "popcnt", "clz",
		"stochastic-convert":
		return computes
	case "broadcast", "iota", "convert", "select", "compare", "concatenate", "pad", "slice",
		"dynamic-slice", "gather", "transpose", "reverse", "copy", "reduce-precision", "real", "imag",
		"complex", "is-finite", "bitcast-convert":
		return shifts
	case "reduce":
		return reduces
	case "dynamic-update-slice", "scatter":
		return updates
	}
	return alone
}

// isView reports whether an instruction is its operand in another shape.
func isView(opcode string) bool { return opcode == "bitcast" || opcode == "reshape" }

// movesFused returns the bytes of a kernel with all that is a part of it.
func (e *emitter) movesFused(c *computation, p *plan, k int) int64 {
	i := &c.instrs[k]
	total := i.shape.bytes()
	switch fusing(i) {
	case alone:
		return e.moves(c, i)
	case updates:
		if total = 2 * c.updates(i); i.opcode == "dynamic-update-slice" && len(i.operands) > 1 {
			total = c.instrs[i.operands[1]].shape.bytes()
		}
	}
	read := map[int]int64{} // by instruction whose result is in memory
	seen := map[int]bool{k: true}
	for parts := []int{k}; len(parts) > 0; {
		at := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		part := &c.instrs[at]
		for n, operand := range part.operands {
			of := c.viewed(operand)
			switch {
			case n == 0 && fusing(part) == updates, c.instrs[of].opcode == "constant":
			case p.isPart[of] && !seen[of]:
				parts, seen[of] = append(parts, of), true
			case !p.isPart[of]:
				before := read[of]
				read[of] = max(before, c.readBy(part, n, of))
				total = min(total+read[of]-before, most)
			}
		}
	}
	return total
}

// readBy returns the bytes that an instruction reads of its n-th operand, which is another in
// another shape.
func (c *computation) readBy(i *instr, n, of int) int64 {
	whole := c.instrs[of].shape.bytes()
	if n == 0 && (i.opcode == "slice" || i.opcode == "dynamic-slice" || i.opcode == "gather") {
		return min(whole, i.shape.bytes())
	}
	return whole
}

// viewed follows views back to what they are of.
func (c *computation) viewed(at int) int {
	for isView(c.instrs[at].opcode) && len(c.instrs[at].operands) == 1 {
		at = c.instrs[at].operands[0]
	}
	return at
}
