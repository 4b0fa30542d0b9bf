package fx

import (
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
	"collsim/formats/hlo"
)

// expression adds what an expression does.
func (r *reader) expression(name string, v *value, text string) error {
	target, rest, called := strings.Cut(text, "(")
	if !called { // another name of a value, or a part of it
		source, _, _ := strings.Cut(text, "[")
		v.call = r.of(source).call
		return nil
	}
	args := divide(strings.TrimSuffix(strings.TrimSpace(rest), ")"))
	path := strings.Split(target, ".")
	switch {
	case strings.HasPrefix(target, "torch.ops._c10d_functional") && len(path) > 3:
		return r.functional(name, v, path[3], args)
	case strings.HasPrefix(target, "torch.ops.symm_mem."), strings.HasPrefix(target, "torch.ops.c10d"):
		return r.fail("%s is not read: the functional collectives are, of torch.ops._c10d_functional",
			target)
	case len(path) < 4 || path[0] != "torch" || path[1] != "ops":
		return r.other(name, v, path[len(path)-1], args)
	}
	return r.aten(name, v, path[3], args)
}

// of returns the value that an argument is; one without bytes for anything else.
func (r *reader) of(arg string) value {
	if _, is, keyword := strings.Cut(arg, " = "); keyword {
		arg = is
	}
	if v, known := r.values[strings.TrimSpace(arg)]; known {
		return v
	}
	return value{call: -1}
}

// operands returns the tensors among arguments, those of lists too.
func (r *reader) operands(args []string) (list []value) {
	for _, arg := range args {
		if inner, is := strings.CutPrefix(strings.TrimSpace(arg), "["); is {
			list = append(list, r.operands(divide(strings.TrimSuffix(inner, "]")))...)
		} else if v := r.of(arg); v.bytes > 0 {
			list = append(list, v)
		}
	}
	return list
}

// views are operations that move nothing.
var views = []string{"view", "_unsafe_view", "reshape", "t", "transpose", "permute", "expand",
	"unsqueeze", "squeeze", "slice", "select", "split", "split_with_sizes", "unbind", "detach",
	"alias", "as_strided", "getitem", "chunk", "view_as", "_reshape_alias", "narrow", "sym_size",
	"empty"}

// products are operations whose first two tensors are multiplied.
var products = []string{"mm", "bmm", "matmul", "linear", "_scaled_mm"}

// aten adds an operation of aten.
func (r *reader) aten(name string, v *value, op string, args []string) error {
	operands := r.operands(args)
	switch {
	case slices.Contains(views, op):
		return nil
	case slices.Contains(products, op):
		return r.product(name, v, operands, 0)
	case op == "addmm" || op == "baddbmm":
		return r.product(name, v, operands, 1)
	case op == "convolution":
		return r.convolution(name, operands, 0, v.tensor, 1)
	case op == "convolution_backward" && len(operands) > 0:
		return r.convolution(name, operands, 1, operands[0].tensor, 2)
	case strings.Contains(op, "conv"):
		return r.fail("aten.%s is not read: convolution and convolution_backward are", op)
	case causal[op] > 0:
		return r.attention(name, op, args)
	case strings.Contains(op, "scaled_dot_product"):
		return r.fail("aten.%s is not read: attention of flash, efficient and cudnn is", op)
	}
	return r.other(name, v, op, args)
}

// other adds an operation that costs what it reads and writes.
func (r *reader) other(name string, v *value, op string, args []string) error {
	if slices.Contains(views, op) {
		return nil
	}
	bytes := v.size()
	for _, operand := range r.operands(args) {
		bytes = min(bytes+operand.size(), collective.MaxElements)
	}
	r.moves(name, bytes)
	return nil
}

// size returns the bytes of a value.
func (v *value) size() int64 {
	if v.bytes == 0 {
		return 0
	}
	return elements(v.tensor.Shape) * v.bytes
}

// product adds a product of two matrices, behind so many other operands. Batches count as rows.
func (r *reader) product(name string, v *value, operands []value, before int) error {
	if len(operands) < before+2 || v.bytes == 0 {
		return r.fail("%s: a product of tensors of known types is expected; print_readable and "+
			"TORCH_LOGS=aot_graphs write them, print(graph) does not", name)
	}
	a, b := operands[before].tensor, operands[before+1].tensor
	k := a.Shape[len(a.Shape)-1]
	n := v.tensor.Shape[len(v.tensor.Shape)-1]
	m := elements(v.tensor.Shape) / max(n, 1)
	if k == 0 || n == 0 || m == 0 {
		return nil
	}
	r.compute(hlo.Op{Name: name, Out: v.tensor.Type, Tensors: []hlo.Tensor{
		{Type: a.Type, Shape: collective.Shape{m, k}}, {Type: b.Type, Shape: collective.Shape{k, n}}}})
	return nil
}

// convolution adds a convolution as so many products: of a row for each place of the result, with
// the weights [out, in, …], which stand behind the input. Its operands stand behind so many others.
func (r *reader) convolution(name string, operands []value, before int, result hlo.Tensor,
	times int) error {
	if len(operands) < before+2 || result.Type == 0 {
		return r.fail("%s: a convolution of tensors of known types is expected", name)
	}
	w := operands[before+1].tensor
	n := w.Shape[0]
	k := elements(w.Shape) / max(n, 1)
	m := elements(result.Shape) / max(n, 1)
	for range times {
		if m > 0 && k > 0 && n > 0 {
			r.compute(hlo.Op{Name: name, Out: result.Type, Tensors: []hlo.Tensor{
				{Type: result.Type, Shape: collective.Shape{m, k}},
				{Type: w.Type, Shape: collective.Shape{k, n}}}})
		}
	}
	return nil
}

// causal has for each attention of aten the place of is_causal among its arguments
// (aten/src/ATen/native/native_functions.yaml).
var causal = map[string]int{
	"scaled_dot_product_attention":                         5,
	"_scaled_dot_product_flash_attention":                  4,
	"_scaled_dot_product_flash_attention_backward":         11,
	"_scaled_dot_product_flash_attention_for_cpu":          4,
	"_scaled_dot_product_flash_attention_for_cpu_backward": 7,
	"_scaled_dot_product_efficient_attention":              6,
	"_scaled_dot_product_efficient_attention_backward":     11,
	"_scaled_dot_product_cudnn_attention":                  6,
	"_scaled_dot_product_cudnn_attention_backward":         14,
}

// attention adds attention of queries [batch, heads, s, d] and keys [batch, heads, t, d] as one
// matmul, whose scores stay on chip.
func (r *reader) attention(name, op string, args []string) error {
	h, first := hlo.Heads{Backward: strings.HasSuffix(op, "_backward")}, 0
	if h.Backward {
		first = 1 // behind the gradient of the result
	}
	operands := r.operands(args)
	if len(operands) < first+3 || len(operands[first].tensor.Shape) != 4 ||
		len(operands[first+1].tensor.Shape) != 4 {
		return r.fail("%s: attention of queries and keys with four axes is expected", name)
	}
	q, k := operands[first].tensor, operands[first+1].tensor
	h.Count, h.Queries, h.Features = q.Shape[0]*q.Shape[1], q.Shape[2], q.Shape[3]
	h.Keys = k.Shape[2]
	if at := causal[op]; at < len(args) {
		h.Causal = strings.TrimSpace(args[at]) == "True"
	}
	h.Causal = h.Causal || slices.Contains(args, "is_causal = True")
	if tensors := h.Matmul(q.Type); tensors != nil {
		r.compute(hlo.Op{Name: name, Out: q.Type, Tensors: tensors})
	}
	return nil
}

// functional adds a functional collective, or a wait for one.
func (r *reader) functional(name string, v *value, op string, args []string) error {
	op = strings.TrimSuffix(strings.TrimSuffix(op, "_out"), "_")
	if op == "wait_tensor" {
		if len(args) > 0 {
			if call := r.of(args[0]).call; call >= 0 && !slices.Contains(r.waits, call) {
				r.waits = append(r.waits, call)
			}
		}
		return nil
	}
	base := strings.TrimSuffix(op, "_coalesced")
	f, known := functionals[base]
	if !known {
		return r.fail("_c10d_functional.%s is not read: all_reduce, all_gather_into_tensor, "+
			"reduce_scatter_tensor, all_to_all_single and broadcast are, and coalesced ones", op)
	}
	var positional []string
	for _, arg := range args {
		if !strings.Contains(arg, " = ") {
			positional = append(positional, arg)
		}
	}
	if len(positional) <= f.group {
		return r.fail("%s: %d arguments; at least %d are expected", op, len(positional), f.group+1)
	}
	operands := r.operands(positional[:1])
	if len(operands) == 0 {
		return r.fail("%s: a tensor of a known type is expected; print_readable and "+
			"TORCH_LOGS=aot_graphs write them, print(graph) does not", op)
	}
	group := strings.Trim(strings.TrimSpace(positional[f.group]), `'"`)
	teams, err := r.teams(group)
	if err != nil {
		return err
	}
	call := &collective.Communication{Kind: f.kind}
	if err := f.read(r, call, positional, teams, operands); err != nil {
		return err
	}
	o := hlo.Op{Name: name, Call: call, Teams: teams, Async: true, After: slices.Clone(r.issued())}
	for _, operand := range operands {
		o.Tensors = append(o.Tensors, operand.tensor)
	}
	v.call = r.add(o)
	return nil
}

// functional describes a functional collective: where its group stands among the arguments, and how
// the others are read.
type functional struct {
	kind  collective.Kind
	group int
	read  func(*reader, *collective.Communication, []string, [][]int, []value) error
}

var functionals = map[string]functional{
	"all_reduce":             {collective.AllReduce, 2, reduction(1)},
	"all_gather_into_tensor": {collective.AllGather, 2, sized(1)},
	"reduce_scatter_tensor":  {collective.ReduceScatter, 3, scattered},
	"all_to_all_single":      {collective.AllToAll, 3, exchanged},
	"broadcast":              {collective.Broadcast, 2, rooted},
}

// operators lists torch's names of operators.
var operators = map[string]collective.Op{"sum": collective.Sum, "avg": collective.Avg,
	"product": collective.Prod, "min": collective.Min, "max": collective.Max,
	"band": collective.And, "bor": collective.Or, "bxor": collective.Xor}

// reduction reads the operator at a place.
func reduction(at int) func(*reader, *collective.Communication, []string, [][]int, []value) error {
	return func(r *reader, c *collective.Communication, args []string, _ [][]int, _ []value) error {
		name := strings.ToLower(strings.Trim(strings.TrimSpace(args[at]), `'"`))
		op := operators[name]
		if op == 0 {
			return r.fail("reduce_op %q: sum, avg, product, min, max, band, bor or bxor is expected", name)
		}
		c.Op = op
		return nil
	}
}

// sized holds the number of ranks at a place to the group.
func sized(at int) func(*reader, *collective.Communication, []string, [][]int, []value) error {
	return func(r *reader, _ *collective.Communication, args []string, teams [][]int,
		_ []value) error {
		n, err := strconv.Atoi(strings.TrimSpace(args[at]))
		size := r.size(teams)
		if err != nil || n != size {
			return r.fail("group_size %s; the group has %d ranks", args[at], size)
		}
		return nil
	}
}

// scattered reads operator and group_size of reduce_scatter_tensor.
func scattered(r *reader, c *collective.Communication, args []string, teams [][]int,
	operands []value) error {
	if err := reduction(1)(r, c, args, teams, operands); err != nil {
		return err
	}
	return sized(2)(r, c, args, teams, operands)
}

// rooted reads the source of a broadcast, a place in the group.
func rooted(r *reader, c *collective.Communication, args []string, teams [][]int, _ []value) error {
	n, err := strconv.Atoi(strings.TrimSpace(args[1]))
	size := r.size(teams)
	if err != nil || n < 0 || n >= size {
		return r.fail("src %s; a place in a group of %d is expected", args[1], size)
	}
	c.Root = n
	return nil
}

// exchanged refuses splits that are not equal: they are those of one rank.
func exchanged(r *reader, _ *collective.Communication, args []string, teams [][]int,
	operands []value) error {
	for _, list := range args[1:3] {
		words := divide(strings.Trim(strings.TrimSpace(list), "[]"))
		if len(words) > 0 && slices.ContainsFunc(words, func(w string) bool { return w != words[0] }) {
			return r.fail("splits %s differ; what the other ranks send is not in the graph", list)
		}
	}
	size := r.size(teams)
	if first := operands[0].tensor.Shape[0]; first%int64(size) != 0 {
		return r.fail("a first axis of %d; among %d ranks a multiple is expected", first, size)
	}
	return nil
}

// teams returns the teams of a group, nil for one of all ranks.
func (r *reader) teams(name string) ([][]int, error) {
	for _, g := range r.o.Groups {
		if g.Name == name {
			if len(g.Teams) == 1 && len(g.Teams[0]) == 0 {
				return nil, nil
			}
			return g.Teams, nil
		}
	}
	if name == "0" {
		return nil, nil
	}
	return nil, r.fail("who is in group %q is not in the graph: [[program.group]] name = %q says it",
		name, name)
}

// size returns the number of ranks of a group's teams.
func (r *reader) size(teams [][]int) int {
	if teams == nil {
		return r.o.Ranks
	}
	return len(teams[0])
}

// divide splits a list at its commas, outside of brackets and quotes.
func divide(text string) (list []string) {
	depth, from, quote := 0, 0, rune(0)
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == ',' && depth == 0:
			list = append(list, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	if last := strings.TrimSpace(text[from:]); last != "" {
		list = append(list, last)
	}
	return list
}
