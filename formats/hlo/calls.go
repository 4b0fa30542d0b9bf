package hlo

import (
	"slices"
	"strings"

	"collsim/collective"
)

// kindName is a kind of collective in HLO.
type kindName uint8

const (
	allReduce kindName = iota + 1
	allGather
	reduceScatter
	allToAll
	permute
	broadcast
	ragged
)

// kindOf returns the collective of an opcode, 0 for other opcodes.
func kindOf(opcode string) kindName {
	return map[string]kindName{"all-reduce": allReduce, "all-gather": allGather,
		"reduce-scatter": reduceScatter, "all-to-all": allToAll, "collective-permute": permute,
		"collective-broadcast": broadcast, "ragged-all-to-all": ragged}[opcode]
}

// reducesOrGathers reports whether the collective has the attribute use_global_device_ids.
func (k kindName) reducesOrGathers() bool {
	return k == allReduce || k == allGather || k == reduceScatter
}

// communicate adds the ops of a collective. Only what needs its result waits for one that is
// asynchronous itself or in an asynchronous computation.
func (e *emitter) communicate(c *computation, i *instr, after []int) (value, error) {
	made, known := e.made[i]
	if !known {
		by, err := modeOf(i)
		if err != nil {
			return value{}, e.fail(i, "%v", err)
		}
		if kindOf(i.opcode) == permute {
			made, err = e.permute(c, i, by)
		} else {
			made, err = e.collectives(c, i, kindOf(i.opcode), by)
		}
		if err != nil {
			return value{}, err
		}
		e.made[i] = made
	}
	var ops []int
	for _, o := range made {
		o.After, o.Async = after, i.phase == start || e.thread != ""
		ops = append(ops, e.add(i, o))
	}
	if len(ops) == 0 {
		ops = after
	}
	return value{after: ops}, nil
}

// collectives returns the collectives of an instruction: one for each size of its groups.
func (e *emitter) collectives(c *computation, i *instr, kind kindName, by mode) (ops []Op,
	err error) {
	if len(i.operands) == 0 {
		return nil, e.fail(i, "%s without an operand", i.opcode)
	}
	text, given := i.attr("replica_groups")
	if !given {
		text = "{}"
	}
	list, err := groups(text, e.numbers(by))
	if err != nil {
		return nil, e.fail(i, "%v%s", err, e.uncounted())
	}
	teams := e.teams(list, by)
	ranks := 0
	for _, team := range teams {
		ranks += len(team)
	}
	if ranks < e.ranks() && kind != broadcast {
		return nil, e.fail(i, "replica_groups=%.60s: %d of %d ranks; each is expected in one", text,
			ranks, e.ranks())
	}
	call, err := e.call(c, i, kind)
	if err != nil {
		return nil, err
	}
	for _, size := range sizes(teams) {
		tensors, err := e.operands(c, i, call, int64(size))
		if err != nil {
			return nil, err
		}
		if size > 1 { // a single rank does not communicate
			ops = append(ops, Op{Call: call, Teams: ofSize(teams, size), Tensors: tensors})
		}
	}
	return ops, nil
}

// sizes lists the sizes of teams, ascending.
func sizes(teams [][]int) (list []int) {
	for _, team := range teams {
		list = append(list, len(team))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// ofSize returns the teams of a size.
func ofSize(teams [][]int, size int) (list [][]int) {
	for _, team := range teams {
		if len(team) == size {
			list = append(list, team)
		}
	}
	return list
}

// call returns the collective of an instruction. Its axis is numbered in memory order.
func (e *emitter) call(c *computation, i *instr, kind kindName) (*collective.Communication, error) {
	call := &collective.Communication{Kind: map[kindName]collective.Kind{
		allReduce: collective.AllReduce, allGather: collective.AllGather,
		reduceScatter: collective.ReduceScatter, allToAll: collective.AllToAll,
		broadcast: collective.Broadcast, ragged: collective.AllToAll}[kind]}
	var err error
	if call.Kind.Reduces() {
		if call.Op, err = e.operator(c, i); err != nil {
			return nil, err
		}
	}
	text, given := i.attr("dimensions")
	if kind == ragged {
		text, given, kind = "{0}", true, allToAll
	}
	if kind == allGather || kind == reduceScatter || kind == allToAll && given {
		inner := strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
		axes, err := wholes(inner)
		of := &c.instrs[i.operands[0]].shape
		if err != nil || len(axes) != 1 || axes[0] >= int64(len(of.dims)) {
			return nil, e.fail(i, "dimensions=%.40s: an axis of its operand is expected", text)
		}
		call.Axis = slices.Index(of.major, int(axes[0]))
		if kind == allToAll {
			call.Concat = call.Axis
		}
	}
	return call, nil
}

// operator returns the operator of a reduction, from the root of its computation.
func (e *emitter) operator(c *computation, i *instr) (collective.Op, error) {
	of, err := e.callee(i, "to_apply")
	if err != nil {
		return 0, err
	}
	root := &of.instrs[of.root]
	if strings.TrimSuffix(root.opcode, "-start") == "convert" && len(root.operands) == 1 {
		root = &of.instrs[root.operands[0]] // a sum in a wider type
	}
	isPred := len(i.operands) > 0 && c.instrs[i.operands[0]].shape.elem == "pred"
	switch op := root.opcode; {
	case op == "add" && !isPred:
		return collective.Sum, nil
	case op == "multiply" && !isPred:
		return collective.Prod, nil
	case op == "maximum", op == "or" && isPred: // of 0 and 1
		return collective.Max, nil
	case op == "minimum", op == "and" && isPred:
		return collective.Min, nil
	}
	return 0, e.fail(i, "to_apply is %s of %s; add, multiply, maximum, minimum, and of pred or and "+
		"and are read", root.opcode, c.instrs[i.operands[0]].shape.elem)
}

// data lists the operands that a collective sends. The other operands of a ragged-all-to-all are
// its result and lengths that are known at run time, that of a collective-broadcast is its root.
func (e *emitter) data(i *instr) []int {
	switch kind := kindOf(i.opcode); {
	case kind == ragged:
		e.note("how many rows a ragged-all-to-all sends is known at run time: all rows of its operand " +
			"are taken, as many to each rank")
		return i.operands[:1]
	case kind == broadcast && len(i.operands) > 1:
		e.note("the root of a collective-broadcast is known at run time: it is taken for the first of " +
			"each group")
		return i.operands[:1]
	}
	return i.operands
}

// operands returns the tensors of a call among ranks of a team size. An all-to-all with one operand
// for each rank has all of them as one tensor.
func (e *emitter) operands(c *computation, i *instr, call *collective.Communication, size int64) (
	tensors []Tensor, err error) {
	in := int64(0)
	for _, operand := range e.data(i) {
		for _, array := range c.instrs[operand].shape.arrays() {
			t, err := array.tensor()
			if err != nil {
				return nil, e.fail(i, "%v", err)
			}
			if wide := array.elem == "c64" || array.elem == "c128"; wide && call.Op > collective.Sum {
				return nil, e.fail(i, "%v of %s is not read", call.Op, array.elem)
			}
			tensors = append(tensors, t)
			in += array.bytes()
		}
	}
	if len(tensors) == 0 {
		return nil, e.fail(i, "no operand has elements")
	}
	if _, array := i.attr("dimensions"); kindOf(i.opcode) == allToAll && !array {
		for _, t := range tensors {
			if int64(len(tensors)) != size || !slices.Equal(t.Shape, tensors[0].Shape) {
				return nil, e.fail(i, "an operand of one shape for each of %d ranks is expected", size)
			}
		}
		whole := append(collective.Shape{size}, tensors[0].Shape...)
		tensors = []Tensor{{tensors[0].Type, whole}}
	}
	if kindOf(i.opcode) == ragged {
		rows := &tensors[0].Shape[call.Axis]
		*rows = (*rows + size - 1) / size * size
		return tensors[:1], nil
	}
	if call.Kind == collective.ReduceScatter || call.Kind == collective.AllToAll {
		for _, t := range tensors {
			if call.Axis >= len(t.Shape) || t.Shape[call.Axis]%size != 0 {
				return nil, e.fail(i, "axis %d of %v: a multiple of %d ranks is expected", call.Axis,
					t.Shape, size)
			}
		}
	}
	return tensors, e.sameSize(i, call, in, size)
}

// sameSize refuses a result of another size than that of a call that takes so many bytes.
func (e *emitter) sameSize(i *instr, call *collective.Communication, in, size int64) error {
	want, out := in, i.shape.bytes()
	switch call.Kind {
	case collective.AllGather:
		want = min(in, most/size) * size
	case collective.ReduceScatter:
		want = in / size
	}
	if out != want {
		return e.fail(i, "its result has %d bytes; %v of %d bytes on %d ranks has %d%s", out, call.Kind,
			in, size, want, e.uncounted())
	}
	return nil
}
