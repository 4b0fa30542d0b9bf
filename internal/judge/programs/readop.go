package programs

import (
	"fmt"
	"slices"
	"strings"
)

// readOps reads ops. Adjacent ops with the same number of repetitions form one loop.
func (p *Program) readOps(tables []table) {
	before := map[string]bool{}
	for from := 0; from < len(tables); {
		often := func(t table) (int64, string) {
			return value(t, "repeat", int64(1)), value(t, "loop", "")
		}
		times, loop := often(tables[from])
		to := from + 1
		for ; to < len(tables); to++ {
			if n, name := often(tables[to]); n != times || name != loop {
				break
			}
		}
		for i := range int(times) {
			for at := from; at < to; at++ {
				if t := tables[at]; value(t, "enabled", true) {
					p.readOp(t, at, i, int(times), before)
				}
			}
		}
		from = to
	}
}

// readOp reads a repetition of an op. An op with several results becomes one op for each.
func (p *Program) readOp(t table, number, i, times int, before map[string]bool) {
	t.only("repeat", "loop", "name", "call", "kernel", "backward", "in", "out", "dtype", "shape",
		"group", "stream", "algorithm", "async", "after", "wait", "enabled")
	name := value(t, "name", "")
	if name == "" {
		if name = fmt.Sprintf("op %d", number); times > 1 {
			name += " {i}"
		}
	}
	list := func(key string) (names []string) {
		for _, name := range t.names(key) {
			names = append(names, indexed(name, i, times))
		}
		return names
	}
	o := op{name: indexed(name, i, times), in: list("in"), typ: value(t, "dtype", "")}
	t.at += " " + o.name
	for _, name := range list("after") {
		if !before[name] {
			t.fail("after %q, which is no op before it", name)
		}
	}
	if of, there := t.data["shape"]; there {
		o.shape = t.whole("shape", of)
	}
	if waits := list("wait"); len(waits) > 0 { // it changes no value
		for _, name := range waits {
			if !before[name] {
				t.fail("wait for %q, which is no op before it", name)
			}
		}
		return
	}
	if p.readWork(t, &o); *t.err != nil {
		return
	}
	outs := list("out")
	if len(outs) < 2 {
		if len(outs) == 1 {
			o.out = outs[0]
		}
		p.add(t, o, before)
		return
	}
	if o.call == nil || len(outs) != len(o.in) {
		t.fail("%d tensors in, %d out", len(o.in), len(outs))
		return
	}
	for k, out := range outs {
		if at := slices.Index(o.in, out); at >= 0 && at != k || slices.Contains(outs[:k], out) {
			t.fail("%s is read or written by another call of the list", out)
		}
		one := o
		one.name, one.in, one.out = fmt.Sprintf("%s[%d]", o.name, k), o.in[k:k+1], out
		p.add(t, one, before)
	}
	before[o.name] = true
}

// readWork reads the call or the kernel of an op, and its teams.
func (p *Program) readWork(t table, o *op) {
	teams, known := p.groups[value(t, "group", "")]
	if !known {
		t.fail("there is no group %v", t.data["group"])
	}
	o.teams = teams
	var err error
	called, computed := value(t, "call", ""), value(t, "kernel", "")
	switch {
	case strings.TrimSpace(called) != "" && computed == "":
		o.call, err = parseCall(called)
	case strings.TrimSpace(computed) != "" && called == "":
		if o.kernel, err = parseKernel(computed); err == nil && o.kernel.over != "" {
			if o.over, known = p.groups[o.kernel.over]; !known {
				t.fail("there is no group %s", o.kernel.over)
			}
		}
	default:
		t.fail("a call or a kernel is expected")
	}
	if err != nil {
		t.fail("%v", err)
	}
}

// add adds an op with one result.
func (p *Program) add(t table, o op, before map[string]bool) {
	isOpaque := o.kernel != nil && o.kernel.name == "opaque"
	none := isOpaque && o.out == "" || o.call != nil && o.call.kind == "barrier"
	switch {
	case before[o.name]:
		t.fail("a second op %q", o.name)
	case none != (o.out == ""):
		t.fail("what it writes is not known")
	case isOpaque && !none && (len(o.in) == 0 || o.shape == nil && p.tensors[o.out] == nil):
		t.fail("the shape of what it writes is not known")
	case !isOpaque && o.shape != nil:
		t.fail("its shape follows from what it reads")
	case o.call != nil && !none && len(o.in) != 1:
		t.fail("%d tensors in", len(o.in))
	}
	before[o.name] = true
	p.ops = append(p.ops, o)
}

// part marks the ops that wait for gradients: they read one, or a result of such an op.
func (p *Program) part() {
	if !p.gradient {
		return
	}
	written, late := map[string]bool{}, map[string]bool{}
	for i := range p.ops {
		written[p.ops[i].out] = true
	}
	for i := range p.ops {
		o := &p.ops[i]
		o.late = slices.ContainsFunc(o.in, func(name string) bool {
			of, ok := strings.CutSuffix(name, gradientSuffix)
			isGradient := ok && p.tensors[name] == nil && (p.tensors[of] != nil || written[of])
			return late[name] || isGradient
		})
		late[o.out] = late[o.out] || o.late && o.out != ""
	}
}

// uses returns, for each tensor, the last op that writes it and the last op that reads it.
func (p *Program) uses(late bool) (written, read map[string]int) {
	written, read = map[string]int{}, map[string]int{}
	for i := range p.ops {
		o := &p.ops[i]
		if o.late && !late {
			continue
		}
		for _, name := range o.in {
			read[name] = i + 1
		}
		if o.out != "" {
			written[o.out] = i + 1
		}
	}
	return written, read
}

// isResult reports whether a tensor is a result, given the last writes and reads: what is given and
// overwritten always is.
func (p *Program) isResult(name string, written, read map[string]int) bool {
	kept := p.tensors[name] != nil && p.tensors[name].keep
	return written[name] > 0 && (kept || read[name] <= written[name] || p.isGiven(name))
}
