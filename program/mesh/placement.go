package mesh

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collsim/collective"
)

// Kind is the kind of a placement.
type Kind uint8

// The kinds.
const (
	Replicated Kind = iota // every rank has all of it
	Sharded                // each has a part along one of the tensor's axes
	Partial                // the tensor is what the ranks' parts add up to
)

// A Placement says what the ranks along one axis of a mesh have of a tensor.
type Placement struct {
	Kind Kind
	Axis int           // of the tensor, where it is sharded
	Op   collective.Op // of Partial; none is Sum
}

// partials returns the operators of partial tensors, by their names in torch.
func partials() map[string]collective.Op {
	return map[string]collective.Op{"sum": 0, "avg": collective.Avg, "max": collective.Max,
		"min": collective.Min, "product": collective.Prod}
}

// Parse reads a placement: "replicate", "shard(0)", "partial" or such as "partial(avg)".
func Parse(text string) (p Placement, err error) {
	word, rest, bracket := strings.Cut(strings.ToLower(strings.ReplaceAll(text, " ", "")), "(")
	inside, closed := strings.CutSuffix(rest, ")")
	known := closed == bracket
	switch word {
	case "replicate":
		known = !bracket
	case "shard":
		p.Kind = Sharded
		p.Axis, err = strconv.Atoi(strings.TrimPrefix(inside, "dim="))
		known = known && err == nil && p.Axis >= 0
	case "partial":
		p.Kind = Partial
		if bracket {
			var is bool
			p.Op, is = partials()[strings.Trim(inside, `"'`)]
			known = known && is
		}
	default:
		known = false
	}
	if !known {
		return Placement{}, fmt.Errorf("%q is no placement: replicate, shard(0), partial or "+
			"partial(avg) is expected", text)
	}
	return p, nil
}

// String returns what Parse reads.
func (p Placement) String() string {
	switch p.Kind {
	case Sharded:
		return fmt.Sprintf("shard(%d)", p.Axis)
	case Partial:
		for _, name := range []string{"avg", "max", "min", "product"} {
			if partials()[name] == p.Op {
				return "partial(" + name + ")"
			}
		}
		return "partial"
	}
	return "replicate"
}

// A Step changes the placement on one axis of the mesh.
type Step struct {
	Along    int // the axis of the mesh
	From, To Placement
}

// Steps plans a redistribution as DTensor does by default: _gen_transform_infos of
// torch.distributed.tensor._redistribute. Several axes of the mesh may shard one axis of the
// tensor. Where an earlier one changes, the later are gathered first, from the last on. What is
// left follows from the first on. Steps that no collective does are an error.
func Steps(from, to []Placement) (list []Step, err error) {
	now := slices.Clone(from)
	change := func(i int, next Placement) {
		if now[i] == next {
			return
		}
		s := Step{i, now[i], next}
		if why := s.refused(); why != nil && err == nil {
			err = why
		}
		list = append(list, s)
		now[i] = next
	}
	isSharded := func(p Placement) bool { return p.Kind == Sharded }
	if slices.ContainsFunc(from, isSharded) && len(from) > 1 {
		for i := len(now) - 1; i >= 0; i-- {
			next := to[i]
			if isSharded(next) && !slices.Equal(shardedBy(now[:i], next.Axis),
				shardedBy(to[:i], next.Axis)) {
				next = Placement{}
			}
			change(i, next)
		}
	}
	for i := range now {
		change(i, to[i])
	}
	return list, err
}

// shardedBy lists the axes of a mesh that shard an axis of the tensor.
func shardedBy(at []Placement, axis int) (list []int) {
	for i, p := range at {
		if p.Kind == Sharded && p.Axis == axis {
			list = append(list, i)
		}
	}
	return list
}

// refused returns why no collective does a step; nil if one does.
func (s Step) refused() error {
	switch {
	case s.To.Kind == Partial && s.From.Kind == Partial:
		return fmt.Errorf("%v does not become %v: both are sums of their own kind", s.From, s.To)
	case s.To.Kind == Partial:
		return fmt.Errorf("%v does not become %v: nothing that ranks have is a part of a sum", s.From,
			s.To)
	}
	return nil
}

// Call returns the collective that does a step, as ops of programs name it, among the ranks of its
// axis; empty where each rank keeps a part of what it has.
func (s Step) Call() string {
	switch {
	case s.From.Kind == Replicated:
		return ""
	case s.From.Kind == Partial:
		name := collective.AllReduce.String()
		if s.To.Kind == Sharded {
			name = collective.ReduceScatter.String()
		}
		if s.From.Op != 0 {
			name += " " + s.From.Op.String()
		}
		return name + along(" axis ", s.To.Axis)
	case s.To.Kind == Replicated:
		return collective.AllGather.String() + along(" axis ", s.From.Axis)
	}
	return collective.AllToAll.String() + along(" axis ", s.To.Axis) + along(" concat ", s.From.Axis)
}

// Kernel returns the kernel that does a step without a call: ranks keep a part, by their place in
// the group of the axis.
func (s Step) Kernel(group string) string {
	return fmt.Sprintf("shard axis=%d over=%s", s.To.Axis, group)
}

// along names an axis other than the first.
func along(word string, axis int) string {
	if axis == 0 {
		return ""
	}
	return word + strconv.Itoa(axis)
}
