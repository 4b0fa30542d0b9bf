package program

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
		with.piped[x.ops[at].Name] = true
		units = append(units, namesOf(x.ops[at:at+x.fusible(at)]))
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
		x.piped = with.piped
	}
	for _, names := range units {
		x.note("pipeline", names, did, why)
	}
}

// unpiped notes why collectives next to a matmul are no pipelines.
func (x *plan) unpiped() {
	for at := range x.ops {
		r := &x.ops[at]
		if r.call == nil || r.members != nil || len(r.In) == 0 { // a barrier has no tensor
			continue
		}
		why := ""
		switch {
		case at > 0 && x.ops[at-1].kernel.IsMatmul() && x.ops[at-1].Out == r.In[0]:
			if x.fusible(at-1) == 0 {
				why = x.unscattered(&x.ops[at-1], r)
			}
		case at+1 < len(x.ops) && x.ops[at+1].kernel.IsMatmul() &&
			slices.Contains(x.ops[at+1].In, r.Out) && x.fusible(at) == 0:
			why = x.ungathered(r, &x.ops[at+1])
		}
		if why != "" {
			x.note("pipeline", r.names(), "left as it is", why)
		}
	}
}
