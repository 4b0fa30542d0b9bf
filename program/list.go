package program

import (
	"fmt"
	"maps"
	"slices"

	"collsim/internal/prose"
)

// A call of several tensors, as torch's coalesced ones, becomes one call for each, one after the
// other on the same stream. The pass coalesce joins those that can be one.

// listed returns a program in which calls of several tensors are as many calls.
func (p *Program) listed() (*Program, error) {
	if !slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Outs != nil }) {
		return p, nil
	}
	q := *p
	q.Ops = nil
	calls := map[string][]string{} // of those, by name
	expanded := func(names []string) (list []string) {
		for _, name := range names {
			if of := calls[name]; of != nil {
				list = append(list, of...)
			} else {
				list = append(list, name)
			}
		}
		return list
	}
	for i := range p.Ops {
		o := p.Ops[i]
		if o.origin == 0 {
			o.origin = i + 1
		}
		o.After = expanded(o.After)
		if o.Outs == nil {
			q.Ops = append(q.Ops, o)
			continue
		}
		if why := o.unlisted(); why != "" {
			return nil, &Error{o.origin - 1, -1, "out", o.Name + ": " + why}
		}
		calls[o.Name] = o.Names()
		for k, name := range o.Names() {
			one := o
			one.Name, one.list = name, o.Name
			one.In, one.Out, one.Outs = []string{o.In[k]}, o.Outs[k], nil
			q.Ops = append(q.Ops, one)
		}
	}
	q.pending = maps.Clone(p.pending)
	for stream, names := range q.pending {
		q.pending[stream] = expanded(names)
	}
	return &q, nil
}

// Names returns the names of the calls that a call of several tensors becomes, as "sum[0]"; of any
// other op its own.
func (o *Op) Names() (names []string) {
	if o.Outs == nil {
		return []string{o.Name}
	}
	for i := range o.Outs {
		names = append(names, fmt.Sprintf("%s[%d]", o.Name, i))
	}
	return names
}

// unlisted returns an error in the tensors of a call of several; empty if there is none. They are
// read and written concurrently, so no call may read what another writes.
func (o *Op) unlisted() string {
	switch {
	case o.Call == "":
		return fmt.Sprintf("a kernel writes one tensor, not %d", len(o.Outs))
	case o.Out != "":
		return fmt.Sprintf("it writes %s, or a list: not both", o.Out)
	case len(o.In) != len(o.Outs):
		return fmt.Sprintf("%s in, %d out: a call of several has as many of each",
			prose.Plural(len(o.In), "tensor"), len(o.Outs))
	}
	for i, out := range o.Outs {
		if slices.Contains(o.Outs[:i], out) {
			return fmt.Sprintf("it writes %s twice", out)
		}
		for k, in := range o.In {
			if in == out && k != i {
				return fmt.Sprintf("it writes %s in the place of %s, and reads it for %s", out, o.In[i],
					o.Outs[k])
			}
		}
	}
	return ""
}
