package chakra

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// ask fills in the collective or the message for which a kernel of NCCL was called.
func (k *kineto) ask(n *node, a *eventArgs) error {
	kind, message := kernelOf(a.Collective)
	n.element = elementType(a.Type)
	bytes := elementTypes[n.element].bytes
	switch {
	case kind == 0 && message == 0:
		return fmt.Errorf("args: Collective name = %q: allreduce, all_gather, _allgather_base, "+
			"reduce_scatter, _reduce_scatter_base, broadcast, reduce, gather, scatter, all_to_all, "+
			"all_to_allv, barrier, send or recv is expected", a.Collective)
	case bytes == 0:
		return fmt.Errorf("dtype = %q is no type of PyTorch that is known here", a.Type)
	case a.In == nil || a.Out == nil || a.Size == nil:
		return errors.New("args: In msg nelems, Out msg nelems and Group size are needed of a collective")
	case *a.In < 0 || *a.Out < 0 || max(*a.In, *a.Out) > collective.MaxElements/bytes:
		return fmt.Errorf("args: In msg nelems = %d, Out msg nelems = %d: 0 to %d are possible", *a.In,
			*a.Out, collective.MaxElements/bytes)
	}
	n.setName(a.Collective)
	ranks, err := k.ranks(a)
	if message != 0 {
		if err == nil {
			n.group, n.members = a.Group, fmt.Sprint(sorted(ranks))
		}
		return n.message(message, a, bytes)
	}
	if err != nil {
		return err
	}
	size := int64(len(ranks))
	in, out := int64(1), int64(1) // ratio of the two lengths
	switch kind {
	case collective.AllGather, collective.Gather:
		out = size
	case collective.ReduceScatter, collective.Scatter:
		in = size
	}
	if kind != collective.AllToAll && *a.In*out != *a.Out*in {
		return fmt.Errorf("args: In msg nelems = %d, Out msg nelems = %d: of %v on %d ranks they are "+
			"as %d to %d", *a.In, *a.Out, kind, size, in, out)
	}
	n.kind, n.group, n.members = commColl, a.Group, fmt.Sprint(sorted(ranks))
	n.attrs[commType], n.given[commType] = int64(slices.Index(kinds[:], kind)), true
	n.attrs[commSize], n.given[commSize] = *a.In*bytes, true
	switch {
	case kind == collective.AllToAll:
		return n.splits(a, ranks, bytes)
	case kind.Rooted():
		return k.root(n, kind, a, ranks)
	}
	n.lists = a.Collective == "all_gather" || a.Collective == "reduce_scatter"
	return nil
}

// splits records the lengths of an all_to_all to and from each rank. For all_to_allv they are rows
// of a tensor, for all_to_all elements of tensors in lists. Without them all parts are equal.
func (n *node) splits(a *eventArgs, ranks []int64, bytes int64) error {
	n.lists = true
	for _, s := range []struct {
		key   string
		raw   json.RawMessage
		elems int64
		into  *[]int64
	}{{"In split size", a.InSplit, *a.In, &n.to}, {"Out split size", a.OutSplit, *a.Out, &n.from}} {
		split, err := wholes(s.raw)
		if err != nil {
			return fmt.Errorf("args: %s = %s: %w", s.key, text(s.raw), err)
		}
		rows := int64(0)
		for _, x := range split {
			if x < 0 || x > collective.MaxElements-rows {
				return fmt.Errorf("args: %s = %v: 0 to %d are possible", s.key, split,
					collective.MaxElements)
			}
			rows += x
		}
		switch {
		case len(split) == 0:
			split, rows = slices.Repeat([]int64{1}, len(ranks)), int64(len(ranks))
			if s.elems%rows != 0 {
				return fmt.Errorf("args: no %s, and %d elements: among %d ranks a multiple of %d is expected",
					s.key, s.elems, rows, rows)
			}
		case len(split) != len(ranks):
			return fmt.Errorf("args: %s = %v, of %d; Group size = %d", s.key, split, len(split),
				len(ranks))
		case a.Collective == "all_to_all": // its In msg nelems repeats Out msg nelems
			s.elems = rows
		case rows == 0 && s.elems > 0 || rows > 0 && s.elems%rows != 0:
			return fmt.Errorf("args: %s = %v: %d rows, of %d elements", s.key, split, rows, s.elems)
		}
		if s.key == "In split size" && s.elems != *a.In {
			return fmt.Errorf("args: %s = %v: %d elements; In msg nelems = %d", s.key, split, rows, *a.In)
		}
		row := int64(0) // bytes
		if rows > 0 {
			row = s.elems / rows * bytes
		}
		*s.into = make([]int64, len(split))
		for i, rank := range sorted(ranks) {
			(*s.into)[i] = split[slices.Index(ranks, rank)] * row
		}
	}
	return nil
}

// root records the root of a call. The host's event has it as an index into the group.
func (k *kineto) root(n *node, kind collective.Kind, a *eventArgs, ranks []int64) error {
	place, known := int64(0), false
	if host := k.host.byID[a.Call]; host != nil && host.args.Root != nil {
		place, known = *host.args.Root, true
	}
	switch {
	case !known && kind == collective.Broadcast:
		k.note("which rank a broadcast comes from is not in the traces: the first of its group is taken")
		return nil
	case !known:
		return fmt.Errorf("args: External id = %d: there is no record_param_comms with it and a Rank, "+
			"which is the root of %s; it is recorded with ProfilerActivity.CPU", a.Call, a.Collective)
	case place < 0 || place >= int64(len(ranks)):
		return fmt.Errorf("args: External id = %d: the Rank of its record_param_comms is %d; a place in "+
			"a group of %d is expected", a.Call, place, len(ranks))
	}
	n.root = int64(slices.Index(sorted(ranks), ranks[place])) + 1
	return nil
}

// sorted returns ranks in ascending order.
func sorted(ranks []int64) []int64 { return slices.Sorted(slices.Values(ranks)) }

// message makes the node one end of a message.
func (n *node) message(kind nodeType, a *eventArgs, bytes int64) error {
	peer, key, at := a.To, "Dst Rank", commDst
	if kind == commRecv {
		peer, key, at = a.From, "Src Rank", commSrc
	}
	if peer == nil {
		return fmt.Errorf("%s has no %s", a.Collective, key)
	}
	n.kind = kind
	n.attrs[at], n.given[at] = *peer, true
	n.attrs[commSize], n.given[commSize] = *a.In*bytes, true
	return nil
}

// ranks returns the ranks of a call's group, by their index in it. For a large group the event has
// only the first and the last, and distributedInfo may have all.
func (k *kineto) ranks(a *eventArgs) ([]int64, error) {
	var ranks []int64
	if strings.Contains(string(a.Ranks), "...") {
		for _, g := range k.about.Groups {
			if g.Name == a.Group {
				ranks = g.Ranks
			}
		}
		if ranks == nil {
			return nil, fmt.Errorf("args: Process Group Ranks = %s, and distributedInfo has no group %q: "+
				"who is in it is not in the trace", a.Ranks, a.Group)
		}
	} else {
		var err error
		if ranks, err = wholes(a.Ranks); err != nil {
			return nil, fmt.Errorf("args: Process Group Ranks = %s: %w", text(a.Ranks), err)
		}
	}
	if int64(len(ranks)) != *a.Size {
		return nil, fmt.Errorf("args: Process Group Ranks = %v, but Group size = %d", ranks, *a.Size)
	}
	for i, rank := range ranks {
		if slices.Contains(ranks[:i], rank) {
			return nil, fmt.Errorf("args: Process Group Ranks = %v: %d is there twice", ranks, rank)
		}
	}
	return ranks, nil
}

// wholes parses a list of whole numbers, which Kineto writes in quotes: "[0, 1]".
func wholes(raw json.RawMessage) (list []int64, err error) {
	var quoted string
	if json.Unmarshal(raw, &quoted) == nil {
		raw = json.RawMessage(quoted)
	}
	if len(raw) == 0 {
		return nil, nil
	}
	if strings.Contains(string(raw), "...") {
		return nil, errors.New("of more than 30 the profiler leaves some out: they are not in the trace")
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, errors.New("a list of whole numbers is expected")
	}
	return list, nil
}
