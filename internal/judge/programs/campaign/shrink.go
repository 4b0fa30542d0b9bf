package main

import "slices"

// shrink returns a smaller program that fails alike. It applies simplifications as long as one of
// them preserves the kind of failure.
func (f *failure) shrink() *failure {
	best := *f
	try := func(p *draft) bool {
		smaller := *f
		smaller.program = p
		smaller.judge(nil)
		if smaller.kind != f.kind {
			return false
		}
		best = smaller
		return true
	}
	for again := true; again; {
		again = false
		for i := 0; i < len(best.program.passes); {
			p := best.program.clone()
			p.passes = slices.Delete(p.passes, i, i+1)
			if try(p) {
				again = true
			} else {
				i++
			}
		}
		for i := len(best.program.ops) - 1; i >= 0; i-- {
			if try(best.program.without(i)) {
				again = true
			}
		}
		for _, change := range changes() {
			for i := range best.program.ops {
				p := best.program.clone()
				if change(p, &p.ops[i]) && try(p) {
					again = true
				}
			}
		}
		for i := len(best.program.tensors) - 1; i >= 0; i-- {
			p := best.program.clone()
			t := &p.tensors[i]
			plain := tensor{name: t.name, typ: t.typ, shape: t.shape, memory: "private"}
			if t.keep || t.memory != "private" {
				if *t = plain; try(p) {
					again = true
				}
			}
			if p = best.program.clone(); len(p.tensors) > 1 {
				if p.tensors = slices.Delete(p.tensors, i, i+1); try(p) {
					again = true
				}
			}
		}
		for _, change := range wholeChanges() {
			if p := best.program.clone(); change(p) && try(p) {
				again = true
			}
		}
	}
	return &best
}

// without removes an op. If others read its results, they become given tensors.
func (d *draft) without(i int) *draft {
	p := d.clone()
	gone := p.ops[i]
	p.ops = slices.Delete(p.ops, i, i+1)
	for k := range p.ops {
		o := &p.ops[k]
		isGone := func(name string) bool { return name == gone.name }
		o.after = slices.DeleteFunc(slices.Clone(o.after), isGone)
		o.wait = slices.DeleteFunc(slices.Clone(o.wait), isGone)
	}
	for _, name := range gone.out {
		uses := slices.ContainsFunc(p.ops, func(o op) bool { return slices.Contains(o.in, name) })
		declared := slices.ContainsFunc(p.tensors, func(t tensor) bool { return t.name == name })
		written := slices.ContainsFunc(p.ops, func(o op) bool { return slices.Contains(o.out, name) })
		if uses && !declared && !written {
			p.tensors = append(p.tensors, p.shapes[name])
		}
	}
	return p
}

// changes lists simplifications of an op; each reports whether it changed anything.
func changes() []func(p *draft, o *op) bool {
	clear := func(s *string) bool {
		was := *s
		*s = ""
		return was != ""
	}
	return []func(p *draft, o *op) bool{
		func(_ *draft, o *op) bool { return clear(&o.algorithm) },
		func(_ *draft, o *op) bool { return clear(&o.stream) },
		func(_ *draft, o *op) bool { return clear(&o.group) },
		func(_ *draft, o *op) bool {
			had := len(o.after) > 0
			o.after = nil
			return had
		},
		func(_ *draft, o *op) bool {
			had := o.async
			o.async = false
			return had
		},
		func(_ *draft, o *op) bool {
			several := len(o.out) > 1
			if several {
				o.in, o.out = o.in[:len(o.in)-1], o.out[:len(o.out)-1]
			}
			return several
		},
	}
}

// wholeChanges lists simplifications of a program.
func wholeChanges() []func(p *draft) bool {
	return []func(p *draft) bool{
		func(p *draft) bool { p.iterations--; return p.iterations > 0 },
		func(p *draft) bool {
			had := p.gradient
			p.gradient = false
			return had
		},
		func(p *draft) bool {
			had := p.device
			p.device = "ideal"
			return had != "ideal"
		},
		func(p *draft) bool {
			n := len(p.groups)
			p.groups = slices.DeleteFunc(p.groups, func(g group) bool {
				return !slices.ContainsFunc(p.ops, func(o op) bool { return o.group == g.name })
			})
			return len(p.groups) < n
		},
	}
}
