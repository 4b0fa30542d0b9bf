package random

import (
	"fmt"
	"strings"

	"collsim/program"
)

// String lists groups, tensors, ops and active passes, one a line.
func (p Program) String() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%d ranks, %d iterations\n", p.Ranks, p.Iterations)
	for _, g := range p.Groups {
		fmt.Fprintf(w, "group %s: %v\n", g.Name, g.Teams)
	}
	for _, t := range p.Tensors {
		fmt.Fprintf(w, "tensor %s: %v %v %v", t.Name, t.Type, t.Shape, t.Memory)
		if t.Keep {
			fmt.Fprint(w, " keep")
		}
		fmt.Fprintln(w)
	}
	for _, o := range p.Ops {
		fmt.Fprintf(w, "%s: %s%s %s -> %s", o.Name, o.Call, o.Kernel, strings.Join(o.In, " "),
			strings.Join(outs(&o), " "))
		for _, attribute := range []struct{ name, value string }{{"group", o.Group},
			{"stream", o.Stream}, {"after", strings.Join(o.After, " ")}} {
			if attribute.value != "" {
				fmt.Fprintf(w, ", %s %s", attribute.name, attribute.value)
			}
		}
		if o.Async {
			fmt.Fprint(w, ", async")
		}
		fmt.Fprintln(w)
	}
	var off program.Lowering
	for _, pass := range passes() {
		if is := pass.is(&p.Lowering); is != pass.is(&off) {
			fmt.Fprintf(w, "lowering %s = %v\n", pass.name, is)
		}
	}
	return w.String()
}
