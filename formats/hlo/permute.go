package hlo

import (
	"slices"
	"strings"

	"collsim/collective"
)

// mostExchanged bounds the ranks of a permute that is one exchange: it has a split for every two.
const mostExchanged = 1024

// permute is a collective-permute as one call, in which no rank waits for others than its own
// source. Rings of one size are send_recv, pairs without a rank in common broadcasts, and all else
// is an all_to_allv: of chains of one length, or of all ranks that take part. What a rank sends to
// itself is not communicated.
func (e *emitter) permute(c *computation, i *instr, by mode) (ops []Op, err error) {
	to, from, err := e.pairs(i, by)
	if err != nil {
		return nil, err
	}
	tensors, err := e.permuted(c, i)
	if err != nil {
		return nil, err
	}
	if len(tensors) == 0 {
		return nil, e.fail(i, "a permute without an operand")
	}
	rings, chains := components(to, from)
	ringSizes, chainSizes := sizes(rings), sizes(chains)
	switch {
	case len(ringSizes)+len(chainSizes) == 0:
		return nil, nil
	case len(ringSizes) == 1 && len(chainSizes) == 0:
		return []Op{{Teams: rings, Tensors: tensors,
			Call: &collective.Communication{Kind: collective.SendRecv}}}, nil
	case len(ringSizes) == 0 && slices.Equal(chainSizes, []int{2}):
		return []Op{{Teams: chains, Tensors: tensors,
			Call: &collective.Communication{Kind: collective.Broadcast}}}, nil
	}
	teams := chains
	if len(ringSizes)+len(chainSizes) > 1 {
		all := slices.Concat(slices.Concat(rings...), slices.Concat(chains...))
		slices.Sort(all)
		teams = [][]int{all}
	}
	if n := len(teams[0]); n > mostExchanged {
		return nil, e.fail(i, "source_target_pairs: %d ranks in a chain, or in rings and chains of "+
			"several lengths; at most %d are read", n, mostExchanged)
	}
	return []Op{{Teams: teams, Tensors: inOneRow(tensors),
		Call: &collective.Communication{Kind: collective.AllToAllV, Splits: splits(teams[0], to)}}}, nil
}

// splits are those of an exchange in which each rank of a team sends one row to its target.
func splits(team, to []int) (rows [][]int64) {
	for _, rank := range team {
		row := make([]int64, len(team))
		if at := slices.Index(team, to[rank]); at >= 0 {
			row[at] = 1
		}
		rows = append(rows, row)
	}
	return rows
}

// inOneRow are tensors with an axis of length 1 in front, along which they are sent whole.
func inOneRow(tensors []Tensor) (list []Tensor) {
	for _, t := range tensors {
		t.Shape = append(collective.Shape{1}, t.Shape...)
		list = append(list, t)
	}
	return list
}

// permuted is what a rank sends: all operands, or, of a permute in place, the slices of its first
// operand that slice_sizes has. The operands of that one are what is read, what is written into,
// and where the slices begin in either.
func (e *emitter) permuted(c *computation, i *instr) (tensors []Tensor, err error) {
	text, inPlace := i.attr("slice_sizes")
	var from []*shape
	for _, operand := range i.operands {
		from = append(from, c.instrs[operand].shape.arrays()...)
	}
	var sizes [][]int64
	if inPlace {
		if len(i.operands) != 4 || !strings.HasPrefix(text, "{") {
			return nil, e.fail(i, "slice_sizes=%.60s of %d operands: those of each slice are expected, "+
				"and an input, an output and where slices begin in either", text, len(i.operands))
		}
		if sizes, err = listed(text); err != nil {
			return nil, e.fail(i, "slice_sizes=%.60s: %v", text, err)
		}
		from = slicedOf(&c.instrs[i.operands[0]].shape, &c.instrs[i.operands[2]].shape)
		if len(from) != len(sizes) {
			return nil, e.fail(i, "slice_sizes=%.60s: %d slices, but %d begin somewhere", text, len(sizes),
				len(from))
		}
	}
	for k, array := range from {
		t, err := array.tensor()
		if err == nil && inPlace {
			t, err = array.slice(sizes[k])
		}
		if err != nil {
			return nil, e.fail(i, "%v", err)
		}
		tensors = append(tensors, t)
	}
	return tensors, nil
}

// slicedOf is the array that each slice is of. starts is a tuple of the indices of one slice; of
// several arrays, or slices, a tuple of such.
func slicedOf(of, starts *shape) (list []*shape) {
	isOne := starts.elem != ""
	for k := range starts.tuple {
		isOne = isOne || starts.tuple[k].elem != ""
	}
	switch {
	case isOne && of.elem != "":
		return []*shape{of}
	case isOne:
		return nil
	}
	for k := range starts.tuple {
		part := of
		if of.elem == "" {
			if k >= len(of.tuple) {
				return nil
			}
			part = &of.tuple[k]
		}
		list = append(list, slicedOf(part, &starts.tuple[k])...)
	}
	return list
}

// pairs are to whom each rank sends, and from whom it receives; −1 is nobody.
func (e *emitter) pairs(i *instr, by mode) (to, from []int, err error) {
	text, _ := i.attr("source_target_pairs")
	fail := func(format string, args ...any) ([]int, []int, error) {
		return nil, nil, e.fail(i, "source_target_pairs=%.60s: "+format, append([]any{text}, args...)...)
	}
	if !strings.HasPrefix(text, "{") {
		return fail("pairs as {{0,1},{1,0}} are expected")
	}
	list, err := listed(text)
	if err != nil {
		return fail("%v", err)
	}
	to, from = slices.Repeat([]int{-1}, e.ranks()), slices.Repeat([]int{-1}, e.ranks())
	for _, pair := range list {
		if len(pair) != 2 || max(pair[0], pair[1]) >= e.numbers(by) {
			return fail("pairs of 0 to %d are expected", e.numbers(by)-1)
		}
		for _, team := range e.teams([][]int64{pair}, by) {
			for k := range len(team) / 2 { // with all partitions of both, one by one
				a, b := team[k], team[k+len(team)/2]
				if to[a] >= 0 || from[b] >= 0 {
					return fail("%v: each sends, and receives, once", pair)
				}
				to[a], from[b] = b, a
			}
		}
	}
	return to, from, nil
}

// components are the rings of two ranks or more, each from its lowest rank on, and the chains, each
// from its first sender on, that ranks and those they send to form.
func components(to, from []int) (rings, chains [][]int) {
	seen := make([]bool, len(to))
	follow := func(rank int) (list []int) {
		for ; rank >= 0 && !seen[rank]; rank = to[rank] {
			seen[rank] = true
			list = append(list, rank)
		}
		return list
	}
	for rank := range to {
		if to[rank] >= 0 && from[rank] < 0 {
			chains = append(chains, follow(rank))
		}
	}
	for rank := range to {
		if ring := follow(rank); len(ring) > 1 {
			rings = append(rings, ring)
		}
	}
	return rings, chains
}
