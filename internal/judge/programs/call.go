package programs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A call is a collective: its kind and its attributes.
type call struct {
	kind, operator     string
	factor             float64
	post               bool // the mean divides after the sum
	root, axis, concat int
	splits             [][]int64
}

// parseCall parses a call, such as "reduce_scatter avg average post" or "all_to_allv splits
// 3,1/2,2".
func parseCall(text string) (*call, error) {
	words := strings.Fields(text)
	kinds := []string{"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "gather",
		"scatter", "all_to_all", "all_to_allv", "all_gatherv", "reduce_scatterv", "send_recv",
		"barrier"}
	kind := strings.ReplaceAll(words[0], "-", "_")
	if !slices.Contains(kinds, kind) {
		return nil, fmt.Errorf("there is no call %q", words[0])
	}
	c := &call{kind: kind, operator: "sum", factor: 1}
	for i := 1; i < len(words); i++ {
		word := words[i]
		if name, argument, ok := strings.Cut(word, "(factor="); ok && name == "premulsum" {
			factor, err := strconv.ParseFloat(strings.TrimSuffix(argument, ")"), 64)
			if err != nil {
				return nil, fmt.Errorf("%q: a factor is expected", word)
			}
			c.operator, c.factor = name, factor
			continue
		}
		if slices.Contains([]string{"sum", "prod", "min", "max", "avg", "premulsum"}, word) {
			c.operator = word
			continue
		}
		if i++; i == len(words) {
			return nil, fmt.Errorf("%q: it is not known, or a value is expected behind it", word)
		}
		if err := c.attribute(word, words[i]); err != nil {
			return nil, fmt.Errorf("%s %s: %w", word, words[i], err)
		}
	}
	if c.takesSplits() != (c.splits != nil) {
		return nil, fmt.Errorf("splits are of %v, and of nothing else", kinds[8:11])
	}
	if c.operator == "premulsum" && c.factor == 1 {
		return nil, fmt.Errorf("premulsum without a factor has no meaning")
	}
	return c, nil
}

// attribute parses a name and its value.
func (c *call) attribute(name, value string) (err error) {
	switch name {
	case "factor":
		c.factor, err = strconv.ParseFloat(value, 64)
	case "average":
		if c.post = value == "post"; !c.post && value != "nccl" {
			return fmt.Errorf("nccl or post is expected")
		}
	case "root":
		c.root, err = strconv.Atoi(value)
	case "axis":
		c.axis, err = strconv.Atoi(value)
	case "concat":
		c.concat, err = strconv.Atoi(value)
	case "splits":
		for _, text := range strings.Split(value, "/") {
			var row []int64
			for _, digits := range strings.Split(text, ",") {
				n, wrong := strconv.ParseInt(digits, 10, 64)
				if wrong != nil || n < 0 {
					return fmt.Errorf("lengths are expected")
				}
				row = append(row, n)
			}
			c.splits = append(c.splits, row)
		}
	default:
		return fmt.Errorf("it is not known")
	}
	return err
}

// reduces reports whether the call applies its operator.
func (c *call) reduces() bool {
	return slices.Contains([]string{"all_reduce", "reduce", "reduce_scatter", "reduce_scatterv"},
		c.kind)
}

// takesSplits reports whether the blocks of the call have lengths of their own.
func (c *call) takesSplits() bool {
	return slices.Contains([]string{"all_to_allv", "all_gatherv", "reduce_scatterv"}, c.kind)
}

// rooted reports whether only the root has an input.
func (c *call) rooted() bool { return c.kind == "broadcast" || c.kind == "scatter" }

// toRoot reports whether only the root has a result.
func (c *call) toRoot() bool { return c.kind == "reduce" || c.kind == "gather" }

// A wiring describes the result of one member of a team. For each of its elements it has the
// source: a member, and the position in that member's input. Member −1 is the reduction of the
// element over all members.
type wiring struct {
	shape []int64
	from  []int
	at    []int64
}

// A block maps a part of a member's input to the result, along an axis: length places from position
// from of the input, to position to of the result.
type block struct {
	member           int
	in               []int64
	axis             int // of the input
	from, to, length int64
}

// wire combines the blocks of a result along one of its axes.
func wire(shape []int64, axis int, blocks []block) wiring {
	n := elements(shape)
	w := wiring{shape: shape, from: make([]int, n), at: make([]int64, n)}
	index := make([]int64, len(shape))
	for x := range n {
		rest := x
		for a := len(shape) - 1; a >= 0; a-- {
			index[a] = rest % shape[a]
			rest /= shape[a]
		}
		for _, b := range blocks {
			place := index[axis] - b.to
			if place < 0 || place >= b.length {
				continue
			}
			// If input and result are cut along different axes, the block is shifted along both.
			source := slices.Clone(index)
			source[axis] = place
			source[b.axis] += b.from
			at := int64(0)
			for a, length := range b.in {
				at = at*length + source[a]
			}
			w.from[x], w.at[x] = b.member, at
			break
		}
	}
	return w
}

// wires returns the wirings of all members of a team, given the shapes of their inputs; nil for a
// member without one. A wiring without a shape has no result.
func (c *call) wires(in [][]int64) ([]wiring, error) {
	n := len(in)
	first := in[0]
	if c.rooted() || c.toRoot() {
		if c.root < 0 || c.root >= n {
			return nil, fmt.Errorf("a root among %d ranks is expected, not %d", n, c.root)
		}
		first = in[c.root]
	}
	if err := axisOf(first, c.axis); err != nil {
		return nil, err
	}
	if c.takesSplits() {
		return c.wiresOfSplits(in)
	}
	for i, shape := range in {
		if !slices.Equal(shape, first) && !(c.rooted() && i != c.root) {
			return nil, fmt.Errorf("shapes %v and %v: all members have one", first, shape)
		}
	}
	if n := int64(n); c.cuts() && first[c.axis]%n != 0 {
		return nil, fmt.Errorf("a length of %d has no %d equal parts", first[c.axis], n)
	}
	list := make([]wiring, n)
	for i := range list {
		if c.toRoot() && i != c.root {
			continue
		}
		var err error
		if list[i], err = c.wiresOf(first, n, i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// cuts reports whether the call divides its input.
func (c *call) cuts() bool {
	return c.kind == "reduce_scatter" || c.kind == "scatter" || c.kind == "all_to_all"
}

// wiresOf returns the wiring of a member, of n members with inputs of one shape.
func (c *call) wiresOf(shape []int64, n, member int) (wiring, error) {
	length := shape[c.axis]
	part := length / int64(n)
	whole := block{in: shape, axis: c.axis, length: length}
	piece := block{in: shape, axis: c.axis, from: int64(member) * part, length: part}
	switch c.kind {
	case "all_reduce", "reduce":
		whole.member = -1
		return wire(shape, c.axis, []block{whole}), nil
	case "broadcast":
		whole.member = c.root
		return wire(shape, c.axis, []block{whole}), nil
	case "send_recv":
		whole.member = (member + n - 1) % n
		return wire(shape, c.axis, []block{whole}), nil
	case "reduce_scatter":
		piece.member = -1
		return wire(with(shape, c.axis, part), c.axis, []block{piece}), nil
	case "scatter":
		piece.member = c.root
		return wire(with(shape, c.axis, part), c.axis, []block{piece}), nil
	case "all_gather", "gather":
		var blocks []block
		for m := range n {
			whole.member, whole.to = m, int64(m)*length
			blocks = append(blocks, whole)
		}
		return wire(with(shape, c.axis, int64(n)*length), c.axis, blocks), nil
	}
	return c.exchange(shape, n, member)
}

// exchange returns the wiring of a member of an all_to_all. It takes the member's part of the axis
// from every member, and concatenates the parts along the axis concat.
func (c *call) exchange(shape []int64, n, member int) (wiring, error) {
	if err := axisOf(shape, c.concat); err != nil {
		return wiring{}, err
	}
	part := shape[c.axis] / int64(n)
	out := with(shape, c.axis, part)
	each := out[c.concat]
	out[c.concat] *= int64(n)
	var blocks []block
	for m := range n {
		blocks = append(blocks, block{member: m, in: shape, axis: c.axis, from: int64(member) * part,
			to: int64(m) * each, length: each})
	}
	return wire(out, c.concat, blocks), nil
}

// wiresOfSplits does the work of wires for kinds whose blocks have individual lengths.
func (c *call) wiresOfSplits(in [][]int64) ([]wiring, error) {
	n := len(in)
	rows := 1
	if c.kind == "all_to_allv" {
		rows = n
	}
	if len(c.splits) != rows || slices.ContainsFunc(c.splits, func(r []int64) bool {
		return len(r) != n
	}) {
		return nil, fmt.Errorf("splits of %d ranks are expected", n)
	}
	list := make([]wiring, n)
	start := int64(0)
	for i := range list {
		var blocks []block
		to := int64(0)
		for m := range n {
			b := block{member: m, in: in[m], axis: c.axis, to: to}
			switch c.kind {
			case "all_gatherv":
				b.length = c.splits[0][m]
			case "all_to_allv":
				for _, before := range c.splits[m][:i] {
					b.from += before
				}
				b.length = c.splits[m][i]
			case "reduce_scatterv":
				b.member, b.from, b.length = -1, start, c.splits[0][i]
			}
			blocks = append(blocks, b)
			if to += b.length; c.kind == "reduce_scatterv" {
				break
			}
		}
		if c.kind == "reduce_scatterv" {
			start += c.splits[0][i]
		}
		list[i] = wire(with(in[i], c.axis, to), c.axis, blocks)
	}
	return list, nil
}

// sent returns how much of its input's axis a member of a call with splits sends.
func (c *call) sent(member int) int64 {
	total := int64(0)
	switch c.kind {
	case "all_gatherv":
		total = c.splits[0][member]
	case "all_to_allv":
		for _, n := range c.splits[member] {
			total += n
		}
	default:
		for _, n := range c.splits[0] {
			total += n
		}
	}
	return total
}
