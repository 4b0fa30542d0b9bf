package scenarios

import (
	"fmt"
	"strconv"
	"strings"
)

// maxRepeat bounds how often a table of a program is repeated, and how many tensors and ops it has.
const maxRepeat = 20000

// fewer refuses more tensors or ops than a program may have.
func (v *view) fewer(at string, n int) bool {
	if n > maxRepeat {
		v.fail(at, problem{fmt.Sprintf("%d altogether; a program has at most %d", n, maxRepeat), ""})
	}
	return n <= maxRepeat
}

// indexed returns the name of one repetition.
func indexed(name string, i, times int) string {
	down := times - 1 - i
	for _, by := range []struct {
		word string
		is   int
	}{{"{i}", i}, {"{i+1}", i + 1}, {"{i-1}", i - 1}, {"{-i}", down}, {"{-i+1}", down + 1},
		{"{-i-1}", down - 1}} {
		name = strings.ReplaceAll(name, by.word, strconv.Itoa(by.is))
	}
	return name
}

// programOps reads the ops; those next to each other that are repeated as often are one loop.
func (r *run) programOps(v *view, p *ProgramPoint, n int) bool {
	ok := true
	for from := 0; from < n && ok; {
		var loop []ProgramOp
		times, called, at := int64(1), "", from
		for ; at < n; at++ {
			key := numbered("program.op", at) + "."
			often, readable := fetchOr(v, key+"repeat", int64(1))
			name, named := fetchOr(v, key+"loop", "")
			if at > from && (often != times || name != called) {
				break
			}
			times, called = often, name
			o, whole := r.programOp(v, p, at)
			if o.Name == "" {
				o.Name = fmt.Sprintf("op %d", at)
				if times > 1 {
					o.Name += " {i}"
				}
			}
			if !o.Disabled {
				loop = append(loop, o)
			}
			ok = ok && readable && named && whole
		}
		for i := range int(times) {
			for _, o := range loop {
				p.Ops = append(p.Ops, o.indexed(i, int(times)))
			}
		}
		ok = v.fewer(numbered("program.op", from)+".repeat", len(p.Ops)) && ok
		from = at
	}
	return ok
}

// indexed returns the op of one repetition.
func (o ProgramOp) indexed(i, n int) ProgramOp {
	o.Name, o.Out, o.Stream = indexed(o.Name, i, n), indexed(o.Out, i, n), indexed(o.Stream, i, n)
	o.Microbatch = i
	o.In, o.Outs = indexedAll(o.In, i, n), indexedAll(o.Outs, i, n)
	o.After, o.Wait = indexedAll(o.After, i, n), indexedAll(o.Wait, i, n)
	return o
}

// indexedAll returns the names of one repetition.
func indexedAll(names []string, i, n int) (list []string) {
	for _, name := range names {
		list = append(list, indexed(name, i, n))
	}
	return list
}
