package hlo

import (
	"slices"
	"strings"

	"collsim/collective"
)

// dots returns the matmuls of an instruction: a dot, a fusion with some, or a call of cuBLAS; none
// otherwise.
func (e *emitter) dots(c *computation, i *instr) ([]Op, error) {
	target, _ := i.attr("custom_call_target")
	switch {
	case i.opcode == "dot":
		text := func(name string) string { value, _ := i.attr(name); return value }
		return e.dot(c, i, [4]string{text("lhs_contracting_dims"), text("rhs_contracting_dims"),
			text("lhs_batch_dims"), text("rhs_batch_dims")})
	case i.opcode == "fusion":
		of, err := e.callee(i, "calls")
		if err != nil {
			return nil, err
		}
		var all []Op
		for k := range of.instrs {
			if of.instrs[k].opcode == "dot" {
				some, err := e.dots(of, &of.instrs[k])
				if err != nil {
					return nil, err
				}
				all = append(all, some...)
			}
		}
		return all, nil
	case strings.HasPrefix(target, `"__cublas$`):
		type numbers struct {
			A  []string `json:"lhs_contracting_dimensions"`
			B  []string `json:"rhs_contracting_dimensions"`
			AB []string `json:"lhs_batch_dimensions"`
			BB []string `json:"rhs_batch_dimensions"`
		}
		var config struct {
			Numbers *numbers `json:"dot_dimension_numbers"`
			Gemm    struct {
				Numbers *numbers `json:"dot_dimension_numbers"`
			} `json:"gemm_backend_config"`
		}
		err := backendConfig(i, &config)
		d := config.Gemm.Numbers
		if d == nil {
			d = config.Numbers
		}
		if err != nil || d == nil {
			return nil, e.fail(i, "a call of cuBLAS without dot_dimension_numbers in its backend_config")
		}
		list := func(words []string) string { return "{" + strings.Join(words, ",") + "}" }
		return e.dot(c, i, [4]string{list(d.A), list(d.B), list(d.AB), list(d.BB)})
	}
	return nil, nil
}

// dot returns the matmul of two operands, given the contracted axes of each and the batch axes of
// each.
func (e *emitter) dot(c *computation, i *instr, texts [4]string) ([]Op, error) {
	if len(i.operands) < 2 {
		return nil, e.fail(i, "two operands are expected of a dot")
	}
	var axes [4][]int64
	sizes := [2]*shape{&c.instrs[i.operands[0]].shape, &c.instrs[i.operands[1]].shape}
	for k, text := range texts {
		inner := strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
		var err error
		if axes[k], err = wholes(inner); err != nil {
			return nil, e.fail(i, "axes %.60s: %v", text, err)
		}
		for _, axis := range axes[k] {
			if axis >= int64(len(sizes[k%2].dims)) {
				return nil, e.fail(i, "axis %d of an operand with %d", axis, len(sizes[k%2].dims))
			}
		}
	}
	e.batch = e.batch || len(axes[2]) > 0
	// product multiplies the lengths of some axes, and those of the others.
	product := func(s *shape, which ...[]int64) (of, others int64) {
		of, others = 1, 1
		for axis, n := range s.dims {
			if slices.Contains(slices.Concat(which...), int64(axis)) {
				of *= n
			} else {
				others *= n
			}
		}
		return of, others
	}
	k, m := product(sizes[0], axes[0]) // batches count as rows
	kB, _ := product(sizes[1], axes[1])
	_, n := product(sizes[1], axes[1], axes[3])
	if k != kB {
		return nil, e.fail(i, "%d and %d elements are contracted: as many are expected", k, kB)
	}
	result := i.shape.arrays()
	if len(result) == 0 {
		return nil, e.fail(i, "a dot without a result")
	}
	a, perA := typeOf(sizes[0].elem)
	b, perB := typeOf(sizes[1].elem)
	out, perOut := typeOf(result[0].elem)
	if perA != 1 || perB != 1 || perOut != 1 {
		return nil, e.fail(i, "a dot of %s and %s to %s is not read", sizes[0].elem, sizes[1].elem,
			result[0].elem)
	}
	if m*n*k == 0 {
		return nil, nil
	}
	return []Op{{Tensors: []Tensor{{a, collective.Shape{m, k}}, {b, collective.Shape{k, n}}},
		Out: out}}, nil
}

// moves returns the bytes that a kernel reads and writes. Of a slice, only the sliced part counts,
// as in XLA's own HloCostAnalysis.
func (e *emitter) moves(c *computation, i *instr) int64 {
	whole := func(k int) int64 { return c.instrs[i.operands[k]].shape.bytes() }
	total := i.shape.bytes()
	switch i.opcode {
	case "dynamic-slice", "slice", "gather":
		return min(2*total, most)
	case "dynamic-update-slice":
		if len(i.operands) > 1 {
			return min(2*whole(1), most)
		}
	}
	of := e.computations[strings.TrimPrefix(i.calls(), "%")]
	if i.opcode == "fusion" && of != nil {
		total = of.written(of.root)
	}
	for k := range i.operands {
		n := whole(k)
		if i.opcode == "fusion" && of != nil {
			n = of.readOf(k, n)
		}
		total = min(total+n, most)
	}
	return total
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
	case i.opcode == "bitcast" && len(i.operands) == 1:
		return c.written(i.operands[0])
	case i.opcode == "dynamic-update-slice" && len(i.operands) > 1:
		return c.instrs[i.operands[1]].shape.bytes()
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
	total := int64(0)
	for k := range c.instrs {
		i := &c.instrs[k]
		where := slices.Index(i.operands, at)
		switch {
		case where < 0:
		case where == 0 && (i.opcode == "dynamic-slice" || i.opcode == "slice" ||
			i.opcode == "gather"):
			total = min(total+i.shape.bytes(), whole)
		case where == 0 && i.opcode == "dynamic-update-slice":
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
