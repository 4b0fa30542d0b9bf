package sccl

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/formats/internal/foreign"
	"collsim/schedule"
)

// check checks the parts of the file against each other: the addresses of the maps are those at
// which the chunks begin and end.
func (a *algorithm) check() error {
	n := a.coll.nodes
	if t := &a.topology; t.links != nil {
		if len(t.links) != n {
			return fmt.Errorf("the topology has %d nodes, the collective %d", len(t.links), n)
		}
		for dst, row := range t.links {
			if len(row) != n {
				return fmt.Errorf("links into node %d are %d numbers; %d nodes need as many", dst,
					len(row), n)
			}
		}
	}
	for i, c := range a.coll.chunks {
		for _, rank := range slices.Concat(c.pre, c.post) {
			if rank >= n {
				return fmt.Errorf("chunk %d names rank %d of %d", i, rank, n)
			}
		}
	}
	for _, m := range []struct {
		name  string
		lists map[int][]int
	}{{"input_map", a.inputs}, {"output_map", a.outputs}} {
		total := 0
		for rank := range maxRanks {
			list := m.lists[rank]
			if total += len(list); rank >= n && list != nil {
				return fmt.Errorf("%s names rank %d of %d", m.name, rank, n)
			}
			slices.Sort(list)
			for i, addr := range list {
				if i > 0 && addr == list[i-1] {
					return fmt.Errorf("%s gives rank %d address %d twice", m.name, rank, addr)
				}
			}
		}
	}
	for i := range a.sends {
		if s := &a.sends[i]; s.src >= n || s.dst >= n {
			return fmt.Errorf("line %d: a send from rank %d to rank %d of %d", s.line, s.src, s.dst, n)
		}
	}
	return nil
}

// layout places chunks in the input and the output.
type layout struct {
	spec   collective.Spec
	parts  int // number of chunks of a block with count elements
	count  int64
	blocks [2]int // chunks of the longest input and output
}

// labels lists the names of msccl/collectives.py.
var labels = [...]struct {
	name string
	kind collective.Kind
}{
	{"Allreduce", collective.AllReduce}, {"Allgather", collective.AllGather},
	{"ReduceScatter", collective.ReduceScatter}, {"Broadcast", collective.Broadcast},
	{"Reduce", collective.Reduce}, {"Gather", collective.Gather}, {"Scatter", collective.Scatter},
	{"Alltoall", collective.AllToAll},
}

// label returns the kind and the root of a collective's name.
func (a *algorithm) label() (collective.Kind, int, error) {
	name, rest, _ := strings.Cut(a.coll.name, "(")
	for _, l := range labels {
		if l.name != name {
			continue
		}
		var n, root int
		format, want := "n=%d", 1
		if l.kind.Rooted() {
			format, want = "n=%d,root=%d", 2
		}
		if got, _ := fmt.Sscanf(rest, format, &n, &root); got != want || n != a.coll.nodes ||
			root < 0 || root >= n {
			return 0, 0, fmt.Errorf("collective %.60q has %d nodes: %s(%s) of these is expected",
				a.coll.name, a.coll.nodes, l.name, strings.ReplaceAll(format, "%d", "…"))
		}
		return l.kind, root, nil
	}
	return collective.Custom, 0, nil
}

// layout matches the maps with the kind of collective, and determines the size.
func (a *algorithm) layout(o foreign.Options) (*layout, error) {
	kind, root, err := a.label()
	if err != nil {
		return nil, err
	}
	if o.As == 0 || o.As == kind && o.Root == 0 {
		o.Root = root
	}
	if o.As != 0 {
		kind = o.As
	}
	l := &layout{}
	ranks := a.coll.nodes
	for rank := range ranks {
		l.blocks[0] = max(l.blocks[0], len(a.inputs[rank]))
		l.blocks[1] = max(l.blocks[1], len(a.outputs[rank]))
	}
	if kind == collective.Custom {
		return l, l.custom(a, o)
	}
	if o.Root < 0 || o.Root >= ranks {
		return nil, fmt.Errorf("root %d is none of %d ranks", o.Root, ranks)
	}
	if l.parts, err = a.parts(kind, o.Root); err != nil {
		return nil, err
	}
	whole := int64(l.parts)
	if kind.Gathers() || kind.Scatters() || kind == collective.AllToAll {
		whole *= int64(ranks)
	}
	if l.spec, err = o.Spec(kind, ranks, whole, false); err != nil {
		return nil, err
	}
	if l.spec.InPlace && kind == collective.AllToAll {
		return nil, fmt.Errorf("an all_to_all by addresses has input and output apart: in place, " +
			"chunks would land on others that are still to be sent")
	}
	l.count = l.spec.Count
	return l, nil
}

// parts returns the number of chunks of a block, if the maps of all ranks agree.
func (a *algorithm) parts(kind collective.Kind, root int) (int, error) {
	ranks := a.coll.nodes
	parts := len(a.inputs[root])
	switch {
	case kind.Scatters():
		parts = len(a.outputs[root])
	case kind == collective.AllToAll:
		parts /= ranks
	case kind.Splits() || kind == collective.SendRecv || kind == collective.Barrier:
		return 0, fmt.Errorf("an algorithm by addresses cannot be taken as %v", kind)
	}
	if parts == 0 {
		return 0, fmt.Errorf("the maps give rank %d no chunk, where %v needs one", root, kind)
	}
	block := collective.Spec{Kind: kind, Ranks: ranks, Root: root, Count: int64(parts)}
	for rank := range ranks {
		in, out := len(a.inputs[rank]), len(a.outputs[rank])
		if int64(in) != block.In(rank) || int64(out) != block.Out(rank) {
			return 0, fmt.Errorf("the maps give rank %d %d chunks of input and %d of output, where %v "+
				"needs %d and %d", rank, in, out, kind, block.In(rank), block.Out(rank))
		}
	}
	return parts, nil
}

// custom gives every chunk the same size: the size divided by the chunks of the longest buffer.
func (l *layout) custom(a *algorithm, o foreign.Options) (err error) {
	if l.spec, err = o.Spec(collective.Custom, a.coll.nodes, 1, false); err != nil {
		return err
	}
	most := int64(max(l.blocks[0], l.blocks[1], 1))
	l.parts, l.count = 1, o.Whole(collective.Custom, a.coll.nodes, most)/most
	if l.spec.InPlace {
		return fmt.Errorf("%.60q is not known to run in place", a.coll.name)
	}
	l.spec.Splits = [][]int64{nil, nil}
	for rank := range a.coll.nodes {
		l.spec.Splits[0] = append(l.spec.Splits[0], int64(len(a.inputs[rank]))*l.count)
		l.spec.Splits[1] = append(l.spec.Splits[1], int64(len(a.outputs[rank]))*l.count)
	}
	return l.spec.Validate()
}

// start returns the first element of a chunk of a buffer.
func (l *layout) start(chunk int) int64 {
	block, i := int64(chunk/l.parts), int64(chunk%l.parts)
	size, more := l.count/int64(l.parts), l.count%int64(l.parts)
	return block*l.count + i*size + min(i, more)
}

// cut divides a buffer with at most so many chunks.
func (l *layout) cut(chunks int) schedule.Cut {
	if l.count%int64(l.parts) == 0 && l.spec.Kind != collective.Custom {
		return schedule.Cut{{Axis: schedule.Block, Split: schedule.Even, N: int64(max(chunks, 1))}}
	}
	ends := make([]int64, max(chunks, 1))
	for i := range ends {
		ends[i] = l.start(i + 1)
	}
	return schedule.Cut{{Axis: schedule.Block, Split: schedule.Table, Ends: [][]int64{ends}}}
}
