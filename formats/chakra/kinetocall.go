package chakra

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
)

// ask makes a node what a kernel of NCCL was called for.
func (k *kineto) ask(n *node, a *eventArgs) error {
	kind, message := calls(a.Collective)
	bytes := width(a.Type)
	switch {
	case kind == 0 && message == 0:
		return fmt.Errorf("args: Collective name = %q: allreduce, all_gather, _allgather_base, "+
			"reduce_scatter, _reduce_scatter_base, broadcast, all_to_all, barrier, send or recv is "+
			"expected", a.Collective)
	case bytes == 0:
		return fmt.Errorf("dtype = %q is no type of PyTorch that is known here", a.Type)
	case a.In == nil || a.Out == nil || a.Size == nil:
		return errors.New("args: In msg nelems, Out msg nelems and Group size are needed of a collective")
	case *a.In < 0 || *a.Out < 0 || max(*a.In, *a.Out) > collective.MaxElements/bytes:
		return fmt.Errorf("args: In msg nelems = %d, Out msg nelems = %d: 0 to %d are possible", *a.In,
			*a.Out, collective.MaxElements/bytes)
	}
	n.setName(a.Collective)
	if message != 0 {
		return n.message(message, a, bytes)
	}
	ranks, err := k.ranks(a)
	if err != nil {
		return err
	}
	size := int64(len(ranks))
	in, out := int64(1), int64(1) // how they are to each other
	switch kind {
	case collective.AllGather:
		out = size
	case collective.ReduceScatter:
		in = size
	}
	if *a.In*out != *a.Out*in {
		return fmt.Errorf("args: In msg nelems = %d, Out msg nelems = %d: of %v on %d ranks they are "+
			"as %d to %d", *a.In, *a.Out, kind, size, in, out)
	}
	if kind == collective.AllToAll {
		for _, s := range []struct {
			key string
			raw json.RawMessage
		}{{"In split size", a.InSplit}, {"Out split size", a.OutSplit}} {
			split, err := wholes(s.raw)
			if err != nil {
				return fmt.Errorf("%s = %s: %w", s.key, text(s.raw), err)
			}
			if len(split) > 0 && slices.Min(split) != slices.Max(split) {
				return fmt.Errorf("%s = %v: parts of different lengths are not taken over", s.key, split)
			}
		}
	}
	if kind == collective.Broadcast {
		k.note("which rank a broadcast comes from is not in the traces: the first of its group is taken")
	}
	n.kind, n.group, n.members = commColl, a.Group, fmt.Sprint(ranks)
	n.attrs[commType], n.given[commType] = int64(slices.Index(kinds[:], kind)), true
	n.attrs[commSize], n.given[commSize] = *a.In*bytes, true
	return nil
}

// message makes a node one end of a message.
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

// ranks are those of a call's group. Of many, its events have the first and the last alone, and
// distributedInfo may have all.
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
	ranks = slices.Clone(ranks)
	slices.Sort(ranks)
	return ranks, nil
}

// wholes reads a list of whole numbers, which Kineto writes in quotes: "[0, 1]".
func wholes(raw json.RawMessage) (list []int64, err error) {
	var quoted string
	if json.Unmarshal(raw, &quoted) == nil {
		raw = json.RawMessage(quoted)
	}
	if len(raw) == 0 {
		return nil, nil
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, errors.New("a list of whole numbers is expected")
	}
	return list, nil
}
