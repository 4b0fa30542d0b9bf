package program

import (
	"fmt"

	"collsim/collective"
)

// Calls of kinds whose results cannot be parts of one tensor are launched together, as torch's
// coalescing manager does it by a group of NCCL: each reads and writes its own tensors, and the
// host launches all of them at once.

// together finds neighbouring calls of a kind that are launched together.
func together(x *plan) error {
	var group []int
	was := ""
	for i := 0; i <= len(x.ops); i++ {
		key := ""
		if i < len(x.ops) {
			var err error
			if key, err = togetherKey(x, &x.ops[i]); err != nil {
				return err
			}
		}
		if key != "" && key == was && !x.between(group, &x.ops[i]) {
			group = append(group, i)
			continue
		}
		launchOnce(x, group)
		if group, was = nil, key; key != "" {
			group = []int{i}
		}
	}
	return nil
}

// launchOnce has calls be one launch, and notes it.
func launchOnce(x *plan, group []int) {
	if len(group) < 2 {
		for _, i := range group {
			if r := &x.ops[i]; r.list != "" && x.guide.Decided == nil {
				x.note("coalesce", r.names(), "on its own", "no call next to it does the same")
			}
		}
		return
	}
	x.launches++
	var names []string
	for _, i := range group {
		x.ops[i].launch = x.launches
		names = append(names, x.ops[i].names()...)
	}
	if x.guide.Decided == nil {
		x.note("coalesce", names, fmt.Sprintf("%d calls in one launch", len(group)),
			"they do the same, next to each other; each has its own tensors")
	}
}

// apartKind reports whether results of a kind cannot be parts of one tensor.
func apartKind(k collective.Kind) bool {
	return k != collective.AllReduce && k != collective.Broadcast && k != collective.Barrier
}

// togetherKey returns a key that is equal for calls that may be one launch. It is empty for other
// ops, and for calls that launch kernels and copies of their own.
func togetherKey(x *plan, r *resolved) (key string, err error) {
	if r.call == nil || !apartKind(r.call.Kind) {
		return "", nil
	}
	for _, team := range r.teams {
		c, err := x.call(r, team)
		if err != nil || launches(c.Schedule) {
			return "", err
		}
	}
	return fmt.Sprint(r.call.Kind, r.call.Op, r.Group, r.stream(), r.Async), nil
}
