package dumps

import (
	"regexp"
	"slices"
	"strconv"

	"collsim/collective"
	"collsim/collective/calls"
)

// tensors reads types and sizes.
func (r *recorder) tensors(e value, c *calls.Call) error {
	for _, key := range []string{"input_dtypes", "output_dtypes"} {
		list, err := e.get(key).list()
		if err != nil {
			return err
		}
		if c.Type == "" && len(list) > 0 {
			spelt, err := list[0].text()
			if err != nil {
				return err
			}
			c.Type = r.once(typeOf(spelt))
		}
	}
	in, err := elementsOf(e.get("input_sizes"))
	if err != nil {
		return err
	}
	out, err := elementsOf(e.get("output_sizes"))
	if err != nil {
		return err
	}
	c.In, c.Out = sum(in), sum(out)
	size := len(r.Groups[c.Group].Ranks)
	switch {
	case c.Kind == collective.AllToAll:
		c.Uneven = true
		if len(in) == size && len(out) == size && size > 1 {
			c.To, c.From = in, out
		}
	case c.Kind == collective.AllGather && len(out) == size, c.Kind == collective.Gather:
		c.Uneven = uneven(out)
	case c.Kind == collective.ReduceScatter && len(in) == size, c.Kind == collective.Scatter:
		c.Uneven = uneven(in)
	}
	return nil
}

// elementsOf counts the elements of each tensor of a list.
func elementsOf(v value) (sizes []int64, err error) {
	list, err := v.list()
	if err != nil {
		return nil, err
	}
	for _, tensor := range list {
		n, err := tensor.elements()
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// sum adds elements; −1 where there are no tensors.
func sum(sizes []int64) int64 {
	if sizes == nil {
		return -1
	}
	total := int64(0)
	for _, n := range sizes {
		total += n
	}
	return total
}

func uneven(sizes []int64) bool {
	return len(sizes) > 0 && slices.Min(sizes) != slices.Max(sizes)
}

var ends = regexp.MustCompile(`^(send|recv) (\d+)(?:->|<-)(\d+)$`)

// message reads the end of a message: "send 0->1", "recv 1<-0", by places in the group.
func (r *recorder) message(e value, c *calls.Call, name string) (bool, error) {
	m := ends.FindStringSubmatch(name)
	if m == nil {
		return false, nil
	}
	peer, err := strconv.Atoi(m[3])
	ranks := r.Groups[c.Group].Ranks
	if err != nil || peer >= most || ranks != nil && peer >= len(ranks) {
		return false, e.get("profiling_name").wrong("a rank of its group is expected")
	}
	if ranks != nil {
		peer = ranks[peer]
	}
	c.Kind, c.Name, c.Peer, c.Sends = collective.SendRecv, m[1], peer, m[1] == "send"
	if c.Sends {
		c.In = max(c.In, c.Out)
	} else {
		c.Out = max(c.In, c.Out)
	}
	return true, nil
}
