package hlo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/unit"
)

// emitter converts a module to a program.
type emitter struct {
	*module
	parser *parser
	out    Program
	taken  map[string]int
	made   map[*instr][]Op // ops of the instructions met so far
	others map[string]int  // by opcode: number of kernels whose cost is the bytes that they move
	order  []string        // keys of others
	steps  int
	batch  bool
}

// value lists the ops that must have ended before a result is available; for a tuple also by
// element.
type value struct {
	after []int
	of    []value
}

// Bounds on unrolled loops.
const (
	maxSteps = 1 << 21
	maxOps   = 1 << 17
)

// program makes the program.
func (e *emitter) program() (*Program, error) {
	e.out = Program{Name: e.name, Ranks: e.ranks()}
	if !e.scheduled {
		e.out.Notes = append(e.out.Notes, "the module is not scheduled (is_scheduled=true): "+
			"instructions are issued in the order of the file")
	}
	args := make([]value, len(e.entry.instrs))
	if _, err := e.run(e.entry, args); err != nil {
		return nil, err
	}
	if e.batch {
		e.out.Notes = append(e.out.Notes, "dots with batches are taken for matmuls with as many times "+
			"the rows")
	}
	var list []string
	for _, opcode := range e.order {
		list = append(list, fmt.Sprintf("%d %s", e.others[opcode], opcode))
	}
	if len(list) > 0 {
		e.out.Notes = append(e.out.Notes, "kernels are taken for what they read and write, whatever "+
			"they compute: "+strings.Join(list, ", "))
	}
	return &e.out, nil
}

// fail makes an error at an instruction.
func (e *emitter) fail(i *instr, format string, args ...any) error {
	return e.parser.fail(i.line, "%s: %s", i.name, fmt.Sprintf(format, args...))
}

// run adds the ops of a computation with these parameters.
func (e *emitter) run(c *computation, args []value) (value, error) {
	values := make([]value, len(c.instrs))
	for k := range c.instrs {
		i := &c.instrs[k]
		if e.steps++; e.steps > maxSteps {
			return value{}, e.fail(i, "with loops there are more than %d instructions, and others that "+
				"they wait for", maxSteps)
		}
		if len(e.out.Ops) > maxOps {
			return value{}, e.fail(i, "with loops there are more than %d collectives and kernels", maxOps)
		}
		v, err := e.instr(c, i, values, args)
		if err != nil {
			return value{}, err
		}
		values[k] = v
	}
	return values[c.root], nil
}

// joined returns the ops that instruction i waits for: those of its operands and its control
// predecessors.
func joined(c *computation, i *instr, values []value) (after []int) {
	for _, operand := range i.operands {
		after = append(after, values[operand].after...)
	}
	if text, given := i.attr("control-predecessors"); given && strings.HasPrefix(text, "{") {
		for _, name := range split(strings.TrimSuffix(text[1:], "}")) {
			if at, known := c.byName[strings.TrimPrefix(name, "%")]; known && at < len(values) {
				after = append(after, values[at].after...)
			}
		}
	}
	slices.Sort(after)
	return slices.Compact(after)
}

// instr adds the ops of an instruction.
func (e *emitter) instr(c *computation, i *instr, values, args []value) (value, error) {
	after := joined(c, i, values)
	e.steps += len(after)
	base, isStart := strings.CutSuffix(i.opcode, "-start")
	switch i.opcode {
	case "parameter":
		n, err := strconv.ParseUint(strings.TrimSpace(i.inside), 10, 31)
		if err != nil || n >= uint64(len(args)) {
			return value{}, e.fail(i, "parameter(%.40s): the number of a parameter is expected", i.inside)
		}
		return args[n], nil
	case "tuple":
		v := value{after: after}
		for _, operand := range i.operands {
			v.of = append(v.of, values[operand])
		}
		return v, nil
	case "get-tuple-element":
		return e.element(i, values)
	case "constant", "bitcast", "after-all", "partition-id", "replica-id", "add-dependency",
		"opt-barrier", "domain", "get-dimension-size", "async-done", "async-update", "copy-done":
		if len(i.operands) == 1 {
			return values[i.operands[0]], nil
		}
		return value{after: after}, nil
	case "call", "async-start":
		return e.called(c, i, values, after)
	case "while":
		return e.while(c, i, values)
	case "conditional", "send", "recv", "send-done", "recv-done", "infeed", "outfeed",
		"ragged-all-to-all", "ragged-all-to-all-start":
		return value{}, e.fail(i, "%s is not read", i.opcode)
	}
	if for_, isEnd := strings.CutSuffix(i.opcode, "-done"); isEnd && kindOf(for_) != 0 {
		return value{after: after}, nil
	}
	if for_, isMid := strings.CutSuffix(i.opcode, "-update"); isMid && kindOf(for_) != 0 {
		return value{after: after}, nil
	}
	if isStart && kindOf(base) != 0 {
		return e.communicate(c, i, base, after, true)
	}
	if kindOf(i.opcode) != 0 {
		return e.communicate(c, i, i.opcode, after, false)
	}
	return e.kernel(c, i, after)
}

// element returns an element of a tuple.
func (e *emitter) element(i *instr, values []value) (value, error) {
	text, _ := i.attr("index")
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || len(i.operands) != 1 {
		return value{}, e.fail(i, "index=%.40s: the number of an element is expected", text)
	}
	of := values[i.operands[0]]
	if n < uint64(len(of.of)) {
		return of.of[n], nil
	}
	return value{after: of.after}, nil
}

// callee returns the computation that an attribute names; it must be defined before.
func (e *emitter) callee(i *instr, attr string) (*computation, error) {
	name, _ := i.attr(attr)
	c := e.computations[strings.TrimPrefix(name, "%")]
	if c == nil || c == e.entry {
		return nil, e.fail(i, "%s=%.60s: a computation of the file is expected", attr, name)
	}
	return c, nil
}

// called adds the ops of a call, or of an async-start.
func (e *emitter) called(c *computation, i *instr, values []value, after []int) (value, error) {
	attr := "to_apply"
	if i.opcode == "async-start" {
		attr = "calls"
	}
	of, err := e.callee(i, attr)
	if err != nil {
		return value{}, err
	}
	if root := &of.instrs[of.root]; attr == "calls" && kindOf(root.opcode) != 0 {
		return e.communicate(of, root, root.opcode, after, true)
	}
	return e.inside(of, i, func() (value, error) {
		args := make([]value, len(i.operands))
		for k, operand := range i.operands {
			args[k] = values[operand]
		}
		return e.run(of, args)
	})
}

// inside calls do while a computation is marked as running, so that a file in which a computation
// contains itself is refused.
func (e *emitter) inside(of *computation, i *instr, do func() (value, error)) (value, error) {
	if of.busy {
		return value{}, e.fail(i, "%s calls itself", of.name)
	}
	of.busy = true
	v, err := do()
	of.busy = false
	return v, err
}

// while adds the body of a loop as many times as its trip count.
func (e *emitter) while(c *computation, i *instr, values []value) (value, error) {
	body, err := e.callee(i, "body")
	if err != nil {
		return value{}, err
	}
	var config struct {
		Trips struct {
			N string `json:"n"`
		} `json:"known_trip_count"`
	}
	n, wrong := uint64(0), error(nil)
	if wrong = backendConfig(i, &config); wrong == nil {
		n, wrong = strconv.ParseUint(config.Trips.N, 10, 31)
	}
	if wrong != nil {
		return value{}, e.fail(i, "how often a while goes round is known where its backend_config has a "+
			"known_trip_count: it is expected")
	}
	if len(i.operands) != 1 {
		return value{}, e.fail(i, "%d operands; a while has one", len(i.operands))
	}
	v := values[i.operands[0]]
	for range n {
		v, err = e.inside(body, i, func() (value, error) { return e.run(body, []value{v}) })
		if err != nil {
			return value{}, err
		}
	}
	return v, nil
}

// backendConfig reads backend_config: JSON, which older files have in quotes.
func backendConfig(i *instr, into any) error {
	text, given := i.attr("backend_config")
	if !given {
		return fmt.Errorf("no backend_config")
	}
	if strings.HasPrefix(text, `"`) {
		unquoted, err := strconv.Unquote(text)
		if err != nil {
			return err
		}
		text = unquoted
	}
	return json.Unmarshal([]byte(text), into)
}

// add appends an op under a unique name.
func (e *emitter) add(i *instr, o Op) int {
	o.Name, o.Line = i.name, i.line
	for e.taken[o.Name] > 0 {
		e.taken[i.name]++
		o.Name = fmt.Sprintf("%s (%d)", i.name, e.taken[i.name])
	}
	e.taken[o.Name]++
	e.out.Ops = append(e.out.Ops, o)
	return len(e.out.Ops) - 1
}

// foreign returns an error if an instruction communicates among groups or pairs of ranks in a way
// that this package does not support. It looks into fusions, too.
func (e *emitter) foreign(i *instr) error {
	for _, attr := range []string{"replica_groups", "source_target_pairs"} {
		if text, given := i.attr(attr); given {
			return e.fail(i, "%s with %s=%.60s is not read: all-reduce, all-gather, reduce-scatter, "+
				"all-to-all, collective-permute and collective-broadcast are", i.opcode, attr, text)
		}
	}
	of := e.computations[strings.TrimPrefix(i.calls(), "%")]
	if i.opcode != "fusion" || of == nil {
		return nil
	}
	for k := range of.instrs {
		in := &of.instrs[k]
		switch {
		case kindOf(in.opcode) != 0:
			return e.fail(in, "%s in a fusion is not read", in.opcode)
		case in.opcode == "fusion": // fusions do not nest
		default:
			if err := e.foreign(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// kernel adds the ops of a kernel: matmuls, or one that moves bytes.
func (e *emitter) kernel(c *computation, i *instr, after []int) (value, error) {
	ops, known := e.made[i]
	if !known {
		err := e.foreign(i)
		if err != nil {
			return value{}, err
		}
		if ops, err = e.dots(c, i); err != nil {
			return value{}, err
		}
		if moves := e.moves(c, i); len(ops) == 0 && moves > 0 {
			ops = []Op{{Moves: unit.Bytes(moves)}}
		}
		e.made[i] = ops
	}
	for _, o := range ops { // kernels of a fusion one after the other
		o.After = after
		after = []int{e.add(i, o)}
	}
	if len(ops) == 0 || ops[0].Tensors != nil {
		return value{after: after}, nil
	}
	opcode := i.opcode
	if target, given := i.attr("custom_call_target"); given {
		opcode += " " + strings.Trim(target, `"`)
	}
	if e.others[opcode]++; e.others[opcode] == 1 {
		e.order = append(e.order, opcode)
	}
	return value{after: after}, nil
}

// most bounds the bytes that a kernel moves.
const most = int64(collective.MaxElements)
