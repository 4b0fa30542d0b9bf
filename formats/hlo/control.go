package hlo

import (
	"slices"
	"strconv"
	"strings"
)

// callee returns the computation that an attribute names; it must be defined before.
func (e *emitter) callee(i *instr, attr string) (*computation, error) {
	name, _ := i.attr(attr)
	return e.computation(i, attr, name)
}

// computation returns the computation of a name.
func (e *emitter) computation(i *instr, attr, name string) (*computation, error) {
	c := e.computations[strings.TrimPrefix(name, "%")]
	if c == nil || c == e.entry {
		return nil, e.fail(i, "%s=%.60s: a computation of the file is expected", attr, name)
	}
	return c, nil
}

// called adds the ops of a call, or of an asynchronous computation, on a thread of its own.
func (e *emitter) called(i *instr, values []value) (value, error) {
	attr := "to_apply"
	if i.opcode == "async" {
		attr = "calls"
		before := e.thread
		e.thread = e.threadOf(i)
		defer func() { e.thread = before }()
	}
	of, err := e.callee(i, attr)
	if err != nil {
		return value{}, err
	}
	args := make([]value, len(i.operands))
	for k, operand := range i.operands {
		args[k] = values[operand]
	}
	return e.inside(of, i, args)
}

// inside adds the ops of a computation, and refuses a file in which it contains itself.
func (e *emitter) inside(of *computation, i *instr, args []value) (value, error) {
	if of.busy {
		return value{}, e.fail(i, "%s calls itself", of.name)
	}
	of.busy = true
	v, err := e.run(of, args)
	of.busy = false
	return v, err
}

// while adds the body of a loop as many times as it goes round.
func (e *emitter) while(c *computation, i *instr, values []value) (value, error) {
	body, err := e.callee(i, "body")
	if err != nil {
		return value{}, err
	}
	if len(i.operands) != 1 {
		return value{}, e.fail(i, "%d operands; a while has one", len(i.operands))
	}
	n, err := e.trips(c, i, body)
	if err != nil {
		return value{}, err
	}
	v := values[i.operands[0]]
	for range n {
		if v, err = e.inside(body, i, []value{v}); err != nil {
			return value{}, err
		}
	}
	return v, nil
}

// trips returns how often a loop goes round: as it is stated, as its backend_config says, or as
// follows from its condition.
func (e *emitter) trips(c *computation, i *instr, body *computation) (uint64, error) {
	if text, given := e.stated(i, e.options.Trips, &e.loops); given {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return 0, e.fail(i, "program.trips says %.40q: how often it goes round is expected", text)
		}
		return n, nil
	}
	var config struct {
		Trips struct {
			N string `json:"n"`
		} `json:"known_trip_count"`
	}
	if err := backendConfig(i, &config); err == nil {
		if n, err := strconv.ParseUint(config.Trips.N, 10, 31); err == nil {
			return n, nil
		}
	}
	if condition, err := e.callee(i, "condition"); err == nil {
		if n, known := counted(c, i, condition, body); known {
			return n, nil
		}
	}
	if e.options.Loosely {
		e.note("loops of which the file does not say how often they go round (known_trip_count) are " +
			"taken once; program.trips says it")
		return 1, nil
	}
	return 0, e.fail(i, "how often it goes round is not in the file (known_trip_count in its "+
		"backend_config, or a counter from one constant to another); program.trips = [\"%s=N\"] says it",
		i.name)
}

// counted returns how often a loop goes round that compares an element of its state, which begins
// as a constant and to which its body adds one, with a third.
func counted(c *computation, i *instr, condition, body *computation) (trips uint64, known bool) {
	compare := &condition.instrs[condition.root]
	init, root := &c.instrs[i.operands[0]], &body.instrs[body.root]
	if compare.opcode != "compare" || len(compare.operands) != 2 || init.opcode != "tuple" ||
		root.opcode != "tuple" {
		return 0, false
	}
	direction, _ := compare.attr("direction")
	counter, bound := compare.operands[0], compare.operands[1]
	if _, isConstant := condition.constant(counter); isConstant { // 10 > i
		counter, bound = bound, counter
		direction = map[string]string{"GT": "LT", "GE": "LE", "LT": "GT", "LE": "GE"}[direction]
	}
	at, isElement := condition.elementOf(counter)
	last, isBound := condition.constant(bound)
	if !isElement || !isBound || at >= len(init.operands) || at >= len(root.operands) {
		return 0, false
	}
	first, isConstant := c.constant(init.operands[at])
	step, isCounter := body.stepOf(root.operands[at], at)
	switch direction {
	case "LT", "NE":
	case "LE":
		last++
	case "GT", "GE":
		if direction == "GE" {
			last--
		}
		first, last, step = -first, -last, -step
	default:
		return 0, false
	}
	if !isConstant || !isCounter || step < 1 || direction == "NE" && (last-first)%step != 0 {
		return 0, false
	}
	return uint64(max(last-first+step-1, 0) / step), true
}

// source follows copies and views back to what they are of.
func (c *computation) source(at int) int {
	for i := &c.instrs[at]; (i.opcode == "copy" || isView(i.opcode)) && len(i.operands) == 1; {
		at = i.operands[0]
		i = &c.instrs[at]
	}
	return at
}

// constant returns the value of a constant of one whole number, of 31 bits so that nothing
// overflows.
func (c *computation) constant(at int) (int64, bool) {
	i := &c.instrs[c.source(at)]
	n, err := strconv.ParseInt(strings.TrimSpace(i.inside), 10, 32)
	return n, err == nil && i.opcode == "constant"
}

// elementOf returns which element of the only parameter an instruction is.
func (c *computation) elementOf(at int) (int, bool) {
	i := &c.instrs[c.source(at)]
	text, _ := i.attr("index")
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil && i.opcode == "get-tuple-element" && len(i.operands) == 1 &&
		c.instrs[i.operands[0]].opcode == "parameter"
}

// stepOf returns what is added to an element of the parameter; false if an instruction is no such
// sum.
func (c *computation) stepOf(at, element int) (int64, bool) {
	i := &c.instrs[c.source(at)]
	if len(i.operands) != 2 || i.opcode != "add" && i.opcode != "subtract" {
		return 0, false
	}
	a, b := i.operands[0], i.operands[1]
	if _, isConstant := c.constant(a); isConstant && i.opcode == "add" {
		a, b = b, a
	}
	of, isElement := c.elementOf(a)
	step, isConstant := c.constant(b)
	if i.opcode == "subtract" {
		step = -step
	}
	return step, isElement && isConstant && of == element
}

// conditional adds the ops of the branch that is stated. Of branches without any, none need be.
func (e *emitter) conditional(i *instr, values []value) (value, error) {
	branches, err := e.branches(i)
	if err != nil {
		return value{}, err
	}
	if len(i.operands) != len(branches)+1 {
		return value{}, e.fail(i, "%d operands of %d branches: one more is expected", len(i.operands),
			len(branches))
	}
	which := len(branches) - 1
	text, given := e.stated(i, e.options.Branches, &e.conditionals)
	switch {
	case given:
		if which = slices.Index([]string{"true", "false"}, text); which < 0 {
			n, err := strconv.ParseUint(text, 10, 31)
			if which = int(n); err != nil {
				which = len(branches)
			}
		}
		if which >= len(branches) {
			return value{}, e.fail(i, "program.branches says %.40q: 0 to %d, true (0) or false (1) is "+
				"expected", text, len(branches)-1)
		}
	case e.idle(branches):
	case e.options.Loosely:
		e.note("of conditionals the last branch is taken; program.branches names another")
	default:
		return value{}, e.fail(i, "which of its %d branches is taken is not in the file; "+
			"program.branches = [\"%s=%d\"] says it, and \"*=%[3]d\" of all", len(branches), i.name, which)
	}
	chosen := values[i.operands[0]].after // which branch it is must be known first
	arg := later(values[i.operands[which+1]], chosen)
	v, err := e.inside(branches[which], i, []value{arg})
	return later(v, chosen), err
}

// later returns a value that also waits for some ops.
func later(v value, after []int) value {
	if len(after) == 0 {
		return v
	}
	all := slices.Concat(v.after, after)
	slices.Sort(all)
	out := value{after: slices.Compact(all)}
	for _, of := range v.of {
		out.of = append(out.of, later(of, after))
	}
	return out
}

// idle reports whether nothing in some branches takes time.
func (e *emitter) idle(branches []*computation) bool {
	for _, c := range branches {
		if slices.ContainsFunc(c.instrs, func(i instr) bool { return !isFree(i.opcode) }) {
			return false
		}
	}
	return true
}

// branches lists the computations of a conditional.
func (e *emitter) branches(i *instr) (list []*computation, err error) {
	attr := "branch_computations"
	text, given := i.attr(attr)
	names := split(strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}"))
	if !given {
		attr = "true_computation"
		yes, _ := i.attr("true_computation")
		no, _ := i.attr("false_computation")
		names = []string{yes, no}
	}
	for _, name := range names {
		c, err := e.computation(i, attr, name)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	if len(list) == 0 {
		return nil, e.fail(i, "a conditional without branches")
	}
	return list, nil
}
