package program

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/internal/prose"
	"collsim/unit"
)

// pipelines applies the pass that turns matmuls and adjacent collectives into pipelines: all that
// can be, or those with which the program takes less time. Pipelines of equal sizes are decided
// together.
func pipelines(x *plan) (*plan, error) {
	y := x.fork()
	if d := x.guide.Decided; d != nil {
		for _, name := range d.Piped {
			y.piped[name] = true
		}
		return y, nil
	}
	var kinds []string
	byKind := map[string][]int{}
	for at := 0; at < len(x.ops); at++ {
		n := x.fusible(at)
		if n == 0 {
			continue
		}
		kind := kindOf(x.ops[at : at+n])
		if byKind[kind] == nil {
			kinds = append(kinds, kind)
		}
		byKind[kind] = append(byKind[kind], at)
		at += n - 1
	}
	for _, kind := range kinds {
		y.pipe(byKind[kind])
	}
	y.unpiped()
	y.decided.Piped = slices.Sorted(maps.Keys(y.piped))
	if len(y.piped) == 0 {
		return y, nil
	}
	return y.total("pipeline", x, prose.Plural(len(y.piped), "pipeline")), nil
}

// kindOf returns a key of a chain of ops. Chains with equal keys take equal times, as a pipeline
// and one op after the other.
func kindOf(ops []resolved) string {
	var b strings.Builder
	for i := range ops {
		r := &ops[i]
		fmt.Fprint(&b, r.call, r.kernel, r.Group, r.Algorithm, r.Async, r.stream(), ";")
		for _, t := range r.in {
			fmt.Fprint(&b, t.Type, t.Shape, t.Memory, ",")
		}
	}
	return b.String()
}

// pipe turns the ops that begin at starts into pipelines. If the pass asks for what is faster, it
// keeps them only if they are.
func (x *plan) pipe(starts []int) {
	with := x.fork()
	var units [][]string
	for _, at := range starts {
		c := x.chainAt(at)
		with.piped[x.ops[at].Name] = true
		units = append(units, c.names())
		if c.copied != nil { // which the pipeline leaves out
			with.notes = slices.DeleteFunc(with.notes, func(n Note) bool {
				return n.Pass == "layout" && slices.Equal(n.Ops, c.call.names())
			})
		}
	}
	did, why, keep := "pipeline "+x.variant().String(), "always", true
	if x.passes.Pipeline == PipelineIfFaster {
		was, known, err := x.time()
		var is unit.Time
		if err == nil {
			is, _, err = with.time()
		}
		switch keep = known && err == nil && is < was; {
		case err != nil:
			why = err.Error()
		case !known:
			why = "nobody says what is faster"
		case keep:
			why = fmt.Sprintf("the program takes %v; apart %v", is, was)
		default:
			why = fmt.Sprintf("the program takes %v; as a pipeline %v", was, is)
		}
	}
	if !keep {
		did = "left as it is"
	} else {
		x.piped, x.notes, x.emitted = with.piped, with.notes, with.emitted
	}
	for i, names := range units {
		x.note("pipeline", names, did, why)
		if c := x.chainAt(starts[i]); keep && c.roundsOtherwise() {
			x.note("pipeline", names, "rounds otherwise than "+c.call.Name,
				"it divides the sum once; "+c.call.Name+" multiplies what it adds by 1/n, rounded")
		}
	}
}

// roundsOtherwise reports whether a pipeline takes a mean in another way than its call.
func (c *chain) roundsOtherwise() bool {
	return c.call.call.Op == collective.Avg && c.call.call.Avg != collective.AvgPost
}

// unpiped notes why calls are in no pipeline.
func (x *plan) unpiped() {
	piped := map[string]bool{}
	for _, unit := range x.chains() {
		for i := range unit {
			piped[unit[i].Name] = true
		}
	}
	for at := range x.ops {
		r := &x.ops[at]
		// a barrier has no tensor
		if r.call == nil || r.members != nil || len(r.In) == 0 || piped[r.Name] {
			continue
		}
		x.note("pipeline", r.names(), "left as it is", x.whyUnpiped(at))
	}
}

// whyUnpiped returns why a call is in no pipeline.
func (x *plan) whyUnpiped(at int) string {
	r := &x.ops[at]
	kind := r.call.Kind
	if kind != collective.AllGather && kind != collective.ReduceScatter {
		return fmt.Sprintf("there is no pipeline of a matmul and %v", kind)
	}
	m := x.matmulOf(at)
	switch why := x.apart(at, m); {
	case why != "":
		return why
	case kind == collective.AllGather:
		return x.ungathered(r, m)
	}
	return x.unscattered(m, r)
}

// chains lists what can become pipelines.
func (x *plan) chains() (list [][]resolved) {
	for at := 0; at < len(x.ops); at++ {
		if n := x.fusible(at); n > 0 {
			list = append(list, x.ops[at:at+n])
			at += n - 1
		}
	}
	return list
}
