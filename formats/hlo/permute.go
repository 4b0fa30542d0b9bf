package hlo

import (
	"slices"
	"strings"

	"collsim/collective"
)

// mostExchanged bounds the ranks of a permute that becomes one all_to_allv, which has a split for
// every pair of ranks.
const mostExchanged = 1024

// permute converts a collective-permute to calls in which each rank waits only for its own source.
// Rings of one size become send_recv. Pairs without a common rank become broadcasts. All else
// becomes an all_to_allv: of chains of one length, or of all ranks that take part. A copy of a rank
// to itself is left out.
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
	return e.exchange(i, to, from, tensors)
}

// exchange returns the call in which each rank sends tensors to its target.
func (e *emitter) exchange(i *instr, to, from []int, tensors []Tensor) ([]Op, error) {
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

// splits returns the splits of an all_to_allv in which each rank of a team sends one row to its
// target.
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

// inOneRow returns tensors with a leading axis of length 1, so that they are sent whole.
func inOneRow(tensors []Tensor) (list []Tensor) {
	for _, t := range tensors {
		t.Shape = append(collective.Shape{1}, t.Shape...)
		list = append(list, t)
	}
	return list
}

// permuted returns the tensors that a rank sends: all operands or, for a permute in place, the
// slices of the first operand with the lengths in slice_sizes. A permute in place has as operands
// the source, the destination, and the start indices of the slices in either.
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

// slicedOf returns the array to which each slice belongs. starts is a tuple of the start indices of
// one slice; for several arrays or slices, a tuple of such tuples.
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

// pairs returns, by rank, its target and its source; −1 for none. The mode says whether the numbers
// of source_target_pairs are replicas, partitions or ranks.
func (e *emitter) pairs(i *instr, by mode) (to, from []int, err error) {
	text, _ := i.attr("source_target_pairs")
	return e.targets(i, text, by)
}

// targets returns, by rank, its target and its source in pairs; −1 for none.
func (e *emitter) targets(i *instr, text string, by mode) (to, from []int, err error) {
	fail := func(format string, args ...any) ([]int, []int, error) {
		return nil, nil, e.fail(i, "source_target_pairs=%.60s: "+format+e.uncounted(),
			append([]any{text}, args...)...)
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
			// A pair of replicas has all partitions of the source, then all of the target.
			for k := range len(team) / 2 {
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

// components splits the graph of targets into rings of at least two ranks and chains. A ring begins
// with its lowest rank, a chain with its first sender.
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
