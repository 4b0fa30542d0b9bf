package program

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/dtype"
	"collsim/kernel"
)

// resolveCall finds the collective, its teams, and the shape of its result.
func (l *lookup) resolveCall(r *resolved) (err error) {
	if r.call, err = l.communication(r.Call); err != nil {
		return err
	}
	if err := l.follows(r); err != nil {
		return err
	}
	if l.folding != nil && r.teams[0] == nil {
		r.teams = [][]int{l.folding.everybody}
	}
	n := l.teamSize(r.teams[0])
	for _, team := range r.teams {
		if l.teamSize(team) != n {
			return fmt.Errorf("teams of %d and of %d ranks: all of a group have as many", n,
				l.teamSize(team))
		}
	}
	if r.call.Kind == collective.Barrier {
		if len(r.in) > 0 || r.Out != "" {
			return fmt.Errorf("a barrier reads and writes no tensor")
		}
		return r.call.Validate(n)
	}
	if len(r.in) != 1 {
		return fmt.Errorf("%v is of one tensor, not %d; one of several has as many in out", r.call.Kind,
			len(r.in))
	}
	if r.call.Kind.Reduces() && r.call.Op == 0 {
		r.call.Op = collective.Sum
	}
	r.call.Type, r.call.Shape, r.call.InPlace = r.in[0].Type, r.in[0].Shape, r.inPlace()
	if err := r.call.Validate(n); err != nil {
		return err
	}
	outs, err := r.call.Shapes(r.call.Inputs(n))
	if err != nil {
		return err
	}
	if err := l.fitSplits(r, n); err != nil {
		return err
	}
	if r.call.Kind.Splits() && !isLaidOut(r.in[0].Shape, r.call.Axis) {
		return fmt.Errorf("axis %d of %v does not lie in front; kernel = \"move axis=%d\" puts it there",
			r.call.Axis, r.in[0].Shape, r.call.Axis)
	}
	r.out = Tensor{Type: r.call.Type}
	return l.resultsOf(r, outs)
}

// follows refuses attributes of a call that follow from its tensors, its group and its op: they
// would have no effect.
func (l *lookup) follows(r *resolved) error {
	c := r.call
	switch {
	case c.Team != nil:
		return fmt.Errorf("%q: the ranks are those of the op's group; no team is expected", r.Call)
	case c.Disabled:
		return fmt.Errorf("%q: an op is left out by enabled = false; no disabled is expected", r.Call)
	case len(r.in) == 0 || c.Kind == collective.Barrier:
		return nil
	case c.Type != 0 && c.Type != r.in[0].Type:
		return fmt.Errorf("%q: the type is that of %s, %v", r.Call, r.in[0].Name, r.in[0].Type)
	case c.Shape != nil && !slices.Equal(c.Shape, r.in[0].Shape):
		return fmt.Errorf("%q: the shape is that of %s, %v", r.Call, r.in[0].Name, r.in[0].Shape)
	case c.InPlace && !r.inPlace():
		return fmt.Errorf("%q: an op is in place where in and out are one tensor", r.Call)
	}
	return nil
}

// isRagged reports whether ranks have other lengths of a tensor.
func (t Tensor) isRagged() bool { return t.rows != nil }

// fitSplits checks the lengths of a tensor on its ranks against what a call takes of it.
func (l *lookup) fitSplits(r *resolved, n int) error {
	t, axis := &r.in[0], r.call.Axis
	if r.call.Kind != collective.AllGatherV && r.call.Kind != collective.AllToAllV {
		isSource := r.call.Kind == collective.Broadcast || r.call.Kind == collective.Scatter
		if t.rows != nil && !(isSource && !slices.ContainsFunc(r.roots(), func(rank int) bool {
			return t.rows[rank] != t.Shape[0]
		})) {
			return fmt.Errorf("%s has other lengths on its ranks; all_gatherv and all_to_allv, with "+
				"splits, take such", t.Name)
		}
		return nil
	}
	most := int64(0)
	for i, shape := range r.call.Inputs(n) {
		most = max(most, shape[axis])
		for _, team := range r.teams {
			rank := i
			if team != nil {
				rank = team[i]
			}
			if t.rows != nil && t.rows[rank] != shape[axis] {
				return fmt.Errorf("rank %d has a length of %d of %s; its splits add up to %d", rank,
					t.rows[rank], t.Name, shape[axis])
			}
		}
	}
	if t.rows == nil && most != t.Shape[axis] {
		return fmt.Errorf("the splits of a rank add up to %d at most; axis %d of %s has a length of %d",
			most, axis, t.Name, t.Shape[axis])
	}
	return nil
}

// resultsOf sets the result of a call that gives these shapes to the ranks of a team.
func (l *lookup) resultsOf(r *resolved, outs []collective.Shape) error {
	n := len(outs)
	rows := make([]int64, l.Ranks)
	differ := false
	for i, shape := range outs {
		if r.call.Kind.Rooted() && (r.call.Kind == collective.Reduce ||
			r.call.Kind == collective.Gather) && i != r.call.Root {
			shape, differ = collective.Shape{0}, true // nothing
		}
		if len(shape) == 0 {
			return fmt.Errorf("%v of a scalar: a tensor with an axis is expected", r.call.Kind)
		}
		differ = differ || r.call.Kind.Splits() && shape[0] != outs[0][0]
		if r.out.Shape == nil || shape.Elements() > r.out.Shape.Elements() {
			r.out.Shape = shape
		}
		for _, team := range r.teams {
			if team == nil {
				rows[i] = shape[0]
			} else {
				rows[team[i]] = shape[0]
			}
		}
	}
	if n > 0 && differ {
		r.out.rows = rows
	}
	return nil
}

// teamsOf returns the teams of a group by name.
func (p *Program) teamsOf(group string) ([][]int, error) {
	if group == "" || group == "all" {
		return [][]int{nil}, nil
	}
	i := slices.IndexFunc(p.Groups, func(g Group) bool { return g.Name == group })
	if i < 0 {
		return nil, fmt.Errorf("there is no group %q", group)
	}
	return p.Groups[i].Teams, nil
}

// ranksOf lists the ranks of teams.
func (p *Program) ranksOf(teams [][]int) (list []int) {
	for _, team := range teams {
		if team == nil {
			for rank := range p.Ranks {
				list = append(list, rank)
			}
			return list
		}
		list = append(list, team...)
	}
	slices.Sort(list)
	return slices.Compact(list) // one may stand for several of a team
}

// teamSize returns the number of ranks of a team; nil is all.
func (p *Program) teamSize(team []int) int {
	if team == nil {
		return p.Ranks
	}
	return len(team)
}

// resolveKernel finds the operation; if operands have different lengths on ranks, one for each of
// the lengths.
func (l *lookup) resolveKernel(r *resolved) error {
	if group, is := r.over(); is {
		return l.shardOver(r, group)
	}
	whole := make([]collective.Shape, len(r.in))
	for i, t := range r.in {
		whole[i] = t.Shape
	}
	err := l.stated(r)
	if err != nil {
		return err
	}
	if r.kernel, err = l.operation(r, whole); err != nil || !r.kernel.HasResult() {
		return err
	}
	out := r.kernel.Output()
	r.out = Tensor{Type: out.Type, Shape: out.Shape}
	if slices.ContainsFunc(r.in, Tensor.isRagged) {
		return l.share(r, whole)
	}
	if r.like != nil && r.like.isRagged() { // a part of what other ranks have more or less of
		r.shares = []share{{r.kernel, l.ranksOf(r.teams)}}
	}
	return nil
}

// operation returns an op's operation on operands of these shapes. Most ops of a large program
// have the same as an earlier one: that is looked up. An opaque kernel depends on its result, too.
func (l *lookup) operation(r *resolved, shapes []collective.Shape) (op kernel.Op, err error) {
	if r.out.Type != 0 {
		return r.kernelOn(shapes)
	}
	key := append(make([]byte, 0, 64), r.Kernel...)
	key = append(key, 0, byte(r.Type))
	for i, shape := range shapes {
		key = append(key, byte(r.in[i].Type), byte(len(shape)))
		for _, n := range shape {
			key = binary.AppendVarint(key, n)
		}
	}
	if op, known := l.kernels[string(key)]; known {
		return op, nil
	}
	if op, err = r.kernelOn(shapes); err == nil {
		l.kernels[string(key)] = op
	}
	return op, err
}

// share finds each rank's kernel where operands have lengths of its own.
func (l *lookup) share(r *resolved, whole []collective.Shape) error {
	ranks := slices.Concat(r.teams...)
	if r.teams[0] == nil {
		ranks = nil
		for rank := range l.Ranks {
			ranks = append(ranks, rank)
		}
	}
	rows, differ := make([]int64, l.Ranks), false
	for _, rank := range ranks {
		shapes := slices.Clone(whole)
		for i, t := range r.in {
			if t.rows != nil {
				shapes[i] = append(collective.Shape{t.rows[rank]}, t.Shape[1:]...)
			}
		}
		op, err := r.kernelOn(shapes)
		if err != nil {
			return fmt.Errorf("on rank %d, of which %s has %d rows: %s", rank, r.in[0].Name, shapes[0][0],
				err.Error())
		}
		shape := op.Output().Shape
		if len(shape) == 0 || !slices.Equal(shape[1:], r.out.Shape[1:]) {
			return fmt.Errorf("ranks have other lengths of %s along axis 0; of its result they would "+
				"have them along another", r.in[0].Name)
		}
		rows[rank] = shape[0]
		differ = differ || shape[0] != r.out.Shape[0]
		if shape.Elements() == 0 {
			continue
		}
		at := slices.IndexFunc(r.shares, func(s share) bool { return s.kernel == op })
		if at < 0 {
			at = len(r.shares)
			r.shares = append(r.shares, share{kernel: op})
		}
		r.shares[at].ranks = append(r.shares[at].ranks, rank)
	}
	if differ {
		r.out.rows = rows
	}
	return nil
}

// kernelOn returns the operation on operands of these shapes.
func (r *resolved) kernelOn(shapes []collective.Shape) (op kernel.Op, err error) {
	words := strings.Fields(r.Kernel)
	name := strings.ReplaceAll(words[0], "-", "_")
	operands := make([]kernel.Tensor, len(r.in))
	for i, t := range r.in {
		operands[i] = kernel.Tensor{Name: t.Name, Type: t.Type, Shape: shapes[i]}
	}
	if known := kernelNames(); !slices.Contains(known, name) {
		return op, fmt.Errorf("there is no kernel %q; %s are known", name, strings.Join(known, ", "))
	}
	if kind, is := layerOf(name); is {
		return kernel.NewLayer(kind, words[1:], operands, r.Type)
	}
	takes := map[string]int{"matmul": 2, "add": 2}
	if n := max(takes[name], 1); len(operands) != n && name != "opaque" && name != "scaled_matmul" {
		return op, fmt.Errorf("%s reads %d tensors, not %d", name, n, len(operands))
	}
	out := r.Type
	if out == 0 && len(operands) > 0 {
		out = operands[0].Type
	}
	switch name {
	case "opaque":
		return r.opaque(words[1:], operands)
	case "matmul":
		return matmul(words[1:], operands, out)
	case "scaled_matmul":
		return r.scaledMatmul(words[1:], operands)
	case "add":
		return kernel.NewAdd(operands[0], operands[1], out)
	}
	return along(name, words[1:], operands[0], out)
}

// along returns a kernel of one tensor, most of them along an axis.
func along(name string, words []string, a kernel.Tensor, out dtype.Type) (kernel.Op, error) {
	switch name {
	case "cast":
		return kernel.NewCast(a, out)
	case "expand", "scale":
		return parsed(name, words, a, out)
	}
	axis := 0
	for _, word := range words {
		n, err := strconv.Atoi(strings.TrimPrefix(word, "axis="))
		if err != nil {
			return kernel.Op{}, fmt.Errorf("%q: axis=0 or another is expected", word)
		}
		axis = n
	}
	switch name {
	case "sum":
		return kernel.NewSum(a, axis, out)
	case "mean":
		return kernel.NewMean(a, axis, out)
	}
	return kernel.NewMove(a, axis)
}

// scaledMatmul returns a scaled matmul: of two operands, their scales, a bias if there is one, and
// with result-scale the scale of the result.
func (r *resolved) scaledMatmul(words []string, operands []kernel.Tensor) (kernel.Op, error) {
	out := cmp.Or(r.Type, dtype.BFloat16)
	with := kernel.Scales{}
	rest := operands
	for _, word := range words {
		if strings.ReplaceAll(word, "_", "-") != "result-scale" || with.Result != nil {
			return kernel.Op{}, fmt.Errorf("%q: result-scale, or nothing, is expected", word)
		}
		if len(rest) > 0 {
			with.Result, rest = &rest[len(rest)-1], rest[:len(rest)-1]
		}
	}
	if len(rest) != 4 && len(rest) != 5 {
		return kernel.Op{}, fmt.Errorf("scaled_matmul reads a, b, their scales, a bias if there is one, "+
			"and with result-scale the scale of the result; it reads %d tensors", len(operands))
	}
	with.A, with.B = rest[2], rest[3]
	if len(rest) > 4 {
		with.Bias = &rest[4]
	}
	return kernel.NewScaledMatmul(rest[0], rest[1], with, out)
}

// matmul returns a matmul of operands as they are stored: "transpose=a", "b" or "ab".
func matmul(words []string, operands []kernel.Tensor, out dtype.Type) (kernel.Op, error) {
	a, b := false, false
	for _, word := range words {
		switch which, ok := strings.CutPrefix(word, "transpose="); {
		case ok && (which == "a" || which == "b" || which == "ab"):
			a, b = which != "b", which != "a"
		default:
			return kernel.Op{}, fmt.Errorf("%q: transpose=a, b or ab is expected", word)
		}
	}
	return kernel.NewMatmul(operands[0], operands[1], a, b, out)
}

// parsed returns a kernel of one tensor from its text, completed by the tensor's shape and types.
func parsed(name string, words []string, a kernel.Tensor, out dtype.Type) (kernel.Op, error) {
	text := fmt.Sprintf("%s %v %s %v->%v", name, a.Shape, strings.Join(words, " "), a.Type, out)
	return kernel.Parse(text)
}
