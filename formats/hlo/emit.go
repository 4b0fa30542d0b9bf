package hlo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/internal/prose"
	"collsim/unit"
)

// emitter converts a module to a program.
type emitter struct {
	*module
	parser  *parser
	options *Options
	out     Program
	names   prose.Names
	made    map[*instr][]Op        // ops of the instructions met so far
	sent    map[string][]int       // by channel: the ops of its last send
	plans   map[*computation]*plan // of modules without fusions
	others  map[string]int         // by opcode: number of kernels that take their bytes
	order   []string               // keys of others
	steps   int
	joined  int    // instructions that were put together to kernels
	thread  string // of what is executed asynchronously; empty outside of that

	conditionals, loops []string // names of those met
}

// value lists the ops that must have ended before a result is available; for a tuple also by
// element.
type value struct {
	after []int
	of    []value
}

// Bounds on unrolled loops.
const (
	maxSteps = 1 << 24
	maxOps   = 1 << 17
)

// program makes the program.
func (e *emitter) program() (*Program, error) {
	e.out.Name, e.out.Ranks = e.name, e.ranks()
	if !e.scheduled {
		e.note("the module is not scheduled (is_scheduled=true): instructions are issued in the order " +
			"of the file")
	}
	if e.parser.bounded {
		e.note("lengths that are known at run time alone, as f32[<=8], are taken for their bounds")
	}
	args := make([]value, len(e.entry.instrs))
	if _, err := e.run(e.entry, args); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		key, what string
		list      []Stated
		instrs    []string
	}{{"program.branches", "conditional", e.options.Branches, e.conditionals},
		{"program.trips", "while", e.options.Trips, e.loops}} {
		if err := e.unstated(s.key, s.what, s.list, s.instrs); err != nil {
			return nil, err
		}
	}
	if e.joined > 0 {
		e.note(fmt.Sprintf("XLA has fused nothing in this module: %d instructions are taken for parts "+
			"of the kernels behind them, as it would fuse them", e.joined))
	}
	var list []string
	for _, opcode := range e.order {
		list = append(list, fmt.Sprintf("%d %s", e.others[opcode], opcode))
	}
	if len(list) > 0 {
		e.note("kernels are taken for what they read and write, whatever they compute: " +
			strings.Join(list, ", "))
	}
	return &e.out, nil
}

// note adds a note, once.
func (e *emitter) note(text string) {
	if !slices.Contains(e.out.Notes, text) {
		e.out.Notes = append(e.out.Notes, text)
	}
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
				"they wait for; program.trips can say that they go round less often", maxSteps)
		}
		if len(e.out.Ops) > maxOps {
			return value{}, e.fail(i, "with loops there are more than %d collectives and kernels; "+
				"program.trips can say that they go round less often", maxOps)
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

// isFree reports whether an opcode takes no time: it names, groups or orders values.
func isFree(opcode string) bool {
	switch opcode {
	case "constant", "bitcast", "reshape", "after-all", "partition-id", "replica-id", "add-dependency",
		"opt-barrier", "optimization-barrier", "domain", "get-dimension-size", "parameter", "tuple",
		"get-tuple-element":
		return true
	}
	return false
}

// instr adds the ops of an instruction.
func (e *emitter) instr(c *computation, i *instr, values, args []value) (value, error) {
	after := joined(c, i, values)
	e.steps += len(after)
	switch {
	case i.phase == update || i.phase == done:
		if len(i.operands) == 0 {
			return value{}, e.fail(i, "an operand is expected: what was started")
		}
		v := values[i.operands[0]]
		for _, more := range i.operands[1:] { // an update may have operands that its start lacks
			v = later(v, values[more].after)
		}
		return v, nil
	case kindOf(i.opcode) != 0:
		return e.communicate(c, i, after)
	}
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
	case "call", "async":
		return e.called(i, values)
	case "while":
		return e.while(c, i, values)
	case "conditional":
		return e.conditional(i, values)
	case "send", "recv", "send-done", "recv-done":
		return e.message(c, i, values)
	case "infeed", "outfeed":
		e.note(hostNote)
		return value{after: after}, nil
	}
	if isFree(i.opcode) {
		if len(i.operands) == 1 {
			return values[i.operands[0]], nil
		}
		return value{after: after}, nil
	}
	return e.kernel(c, i, after)
}

const hostNote = "what goes to and from the host (infeed, outfeed, send and recv of the host) " +
	"takes no time"

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
	o.Name, o.Line = e.names.Unique(i.name), i.line
	e.out.Ops = append(e.out.Ops, o)
	return len(e.out.Ops) - 1
}

// foreign returns an error if an instruction communicates among groups or pairs of ranks in a way
// that this package does not support. It looks into fusions, too.
func (e *emitter) foreign(i *instr) error {
	for _, attr := range []string{"replica_groups", "source_target_pairs"} {
		if text, given := i.attr(attr); given {
			return e.fail(i, "%s with %s=%.60s is not read: all-reduce, all-gather, reduce-scatter, "+
				"all-to-all, ragged-all-to-all, collective-permute and collective-broadcast are; one of "+
				"them with the same groups can stand for it", i.opcode, attr, text)
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
		if ops, err = e.matmuls(c, i); err != nil {
			return value{}, err
		}
		if len(ops) == 0 {
			ops = e.bytes(c, i)
		}
		e.made[i] = ops
	}
	for _, o := range ops { // kernels of a fusion one after the other
		o.After, o.Thread = after, e.threadOf(i)
		after = []int{e.add(i, o)}
	}
	if len(ops) > 0 && ops[0].Tensors == nil {
		e.count(i)
	}
	return value{after: after}, nil
}

// bytes returns the kernel that moves as many bytes as an instruction; none if that is nothing, as
// that of a part of kernels behind it.
func (e *emitter) bytes(c *computation, i *instr) []Op {
	moves := int64(0)
	if e.fused || e.scheduled {
		moves = e.moves(c, i)
	} else {
		moves = e.planOf(c).moves[c.byName[i.name]]
	}
	if moves <= 0 {
		return nil
	}
	if target := i.target(); target == "MoveToHost" || target == "MoveToDevice" ||
		i.opcode == "copy" && len(i.operands) == 1 &&
			i.shape.host != c.instrs[i.operands[0]].shape.host {
		e.note("copies to and from the host's memory are taken for copies in the device's")
	}
	return []Op{{Moves: unit.Bytes(moves)}}
}

// count counts a kernel that is taken for the bytes that it moves.
func (e *emitter) count(i *instr) {
	opcode := i.opcode
	if target := i.target(); target != "" {
		opcode += " " + target
	}
	if e.others[opcode]++; e.others[opcode] == 1 {
		e.order = append(e.order, opcode)
	}
}

// threadOf returns the thread of a kernel: the one that its start names, if it is asynchronous, or
// that of the computation which it is in.
func (e *emitter) threadOf(i *instr) string {
	if i.phase != start {
		return e.thread
	}
	if name, given := i.attr("async_execution_thread"); given {
		return strings.Trim(name, `"`)
	}
	return "async"
}

// most bounds the bytes that a kernel moves.
const most = int64(collective.MaxElements)
