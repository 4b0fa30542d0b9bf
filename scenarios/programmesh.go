package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"collsim/program/mesh"
)

// redistribute is the call that takes a tensor from its placements to others.
const redistribute = "redistribute"

// programMesh reads the mesh of a program, if it has one, and makes groups of its axes.
func (r *run) programMesh(v *view, p *ProgramPoint) bool {
	shape, given, ok1 := fetch[[]int](v, "program.mesh")
	axes, named, ok2 := fetch[[]string](v, "program.axes")
	switch {
	case !ok1 || !ok2 || p.Topology == nil:
		return false
	case !given && !named:
		return true
	case !given:
		v.fail("program.axes", problem{"there is no mesh that has them",
			"program.mesh = [2, 4] makes one"})
		return false
	case !named:
		v.fail("program.mesh", problem{fmt.Sprintf("its %d axes have no names", len(shape)),
			`program.axes = ["dp", "tp"] gives them`})
		return false
	}
	m := mesh.Mesh{Shape: shape, Axes: axes}
	if err := m.Validate(p.Topology.Ranks); err != nil {
		at := "program.mesh"
		if len(axes) != len(shape) {
			at = "program.axes"
		}
		v.fail(at, problem{text: err.Error()})
		return false
	}
	p.mesh = m
	for i, name := range axes {
		p.Groups = append(p.Groups, ProgramGroup{Name: name, Teams: p.mesh.Teams(i)})
	}
	return true
}

// A placedTensor is a tensor on the mesh, by name.
type placedTensor struct {
	name string
	at   []mesh.Placement
}

// placementsAt reads those at a path, one for each axis of the mesh.
func placementsAt(v *view, at string, p *ProgramPoint, words []string) (list []mesh.Placement,
	ok bool) {
	if p.mesh.Shape == nil && (v.has("program.mesh") || v.has("program.axes")) {
		return nil, false // which has been reported
	}
	if p.mesh.Shape == nil {
		v.fail(at, problem{"there is no mesh",
			`program.mesh = [2, 4] and program.axes = ["dp", "tp"] make one`})
		return nil, false
	}
	for _, word := range words {
		one, err := mesh.Parse(word)
		if err != nil {
			v.fail(at, problem{text: err.Error()})
			return nil, false
		}
		list = append(list, one)
	}
	if len(list) != len(p.mesh.Shape) {
		v.fail(at, problem{fmt.Sprintf("%d on a mesh of %v; one for each axis is expected", len(list),
			p.mesh), "its axes are " + strings.Join(p.mesh.Axes, ", ")})
		return nil, false
	}
	return list, true
}

// placedOn reads the placements of a tensor: its shape becomes that of a rank's part.
func placedOn(v *view, at string, p *ProgramPoint, t *tensorTable) (ok bool) {
	if t.placed, ok = placementsAt(v, at+"placement", p, t.placement); !ok {
		return false
	}
	if t.lengths == nil { // a file has the shape
		return true
	}
	part, err := p.mesh.Local(t.Shape, t.placed)
	if err != nil {
		v.fail(at+"placement", problem{text: err.Error()})
		return false
	}
	t.Shape = part
	return true
}

// redistributed replaces every redistribution by the calls that do it, and the kernel where ranks
// keep a part of what they have.
func redistributed(v *view, p *ProgramPoint) bool {
	where := map[string][]mesh.Placement{} // tensors
	taken := map[string]bool{}
	for _, t := range p.Tensors {
		taken[t.Name] = true
	}
	for _, t := range p.placed {
		where[t.name] = t.at
	}
	for _, o := range p.Ops {
		taken[o.Out] = true
		for _, name := range o.Outs {
			taken[name] = true
		}
	}
	var ops []ProgramOp
	last := map[string]string{} // the last of several, by the name of the redistribution
	for _, o := range p.Ops {
		o.After, o.Wait = renamed(o.After, last), renamed(o.Wait, last)
		at := numbered("program.op", o.At) + "."
		if o.Call != redistribute {
			if o.placement != nil {
				v.fail(at+"placement", problem{"it is of call = " + quoted(redistribute),
					"a tensor is placed by [[program.tensor]]"})
				return false
			}
			ops = append(ops, o)
			continue
		}
		steps, ok := planned(v, p, &o, where)
		if !ok {
			return false
		}
		list := o.steps(p.mesh, steps, taken)
		last[o.Name] = list[len(list)-1].Name
		ops = append(ops, list...)
		p.Notes = append(p.Notes, o.did(p.mesh, where[o.In[0]], steps))
	}
	p.Ops = ops
	return true
}

// renamed returns names of ops, of several that one has become the last.
func renamed(names []string, last map[string]string) (list []string) {
	for _, name := range names {
		list = append(list, cmp.Or(last[name], name))
	}
	return list
}

// planned plans one, and notes where its result is placed.
func planned(v *view, p *ProgramPoint, o *ProgramOp, where map[string][]mesh.Placement) (
	steps []mesh.Step, ok bool) {
	at := numbered("program.op", o.At) + "."
	fail := func(key, text, hint string) ([]mesh.Step, bool) {
		v.fail(at+key, problem{o.Name + ": " + text, hint})
		return nil, false
	}
	if len(o.In) != 1 || o.Out == "" {
		return fail("in", "one tensor in and one out are expected", "")
	}
	from, is := where[o.In[0]]
	if !is {
		return fail("in", "how "+o.In[0]+" is placed is not known", "[[program.tensor]] with its name, "+
			"the shape of the whole and placement says it, also of what an op writes")
	}
	to, declared := where[o.Out]
	switch {
	case o.placement != nil:
		stated, ok := placementsAt(v, at+"placement", p, o.placement)
		if !ok {
			return nil, false
		}
		if declared && !slices.Equal(to, stated) {
			return fail("placement", o.Out+" is declared with another", "leave one of them out")
		}
		to = stated
	case !declared:
		return fail("placement", "where to is not known",
			`for example placement = ["replicate", "shard(1)"]`)
	}
	if o.Group != "" {
		return fail("group", "the groups are axes of the mesh", "leave it out")
	}
	steps, err := mesh.Steps(from, to)
	switch {
	case err != nil:
		return fail("placement", err.Error(), "")
	case len(steps) == 0:
		return fail("placement", o.In[0]+" is placed so", "leave the op out, or enabled = false")
	}
	where[o.Out] = to
	return steps, true
}

// steps returns the ops of a redistribution: its own name if there is one, else with numbers.
func (o *ProgramOp) steps(m mesh.Mesh, steps []mesh.Step, taken map[string]bool) (ops []ProgramOp) {
	in := o.In[0]
	for i, s := range steps {
		one := *o
		one.Call, one.In, one.Out, one.placement = s.Call(), []string{in}, o.Out, nil
		one.Group = m.Axes[s.Along]
		if len(steps) > 1 {
			one.Name = fmt.Sprintf("%s[%d]", o.Name, i)
		}
		if i > 0 {
			one.After = nil
		}
		if i < len(steps)-1 {
			one.Out = fmt.Sprintf("%s_%d", o.Out, i) // an axis may have any name
			for taken[one.Out] {
				one.Out += "_"
			}
			taken[one.Out] = true
		}
		if one.Call == "" {
			one.Kernel = s.Kernel(m.Axes[s.Along])
			one.Group, one.Algorithm, one.Async, one.Stream = "", Algorithm{}, false, ""
		}
		ops = append(ops, one)
		in = one.Out
	}
	return ops
}

// did says which collectives a redistribution is.
func (o *ProgramOp) did(m mesh.Mesh, from []mesh.Placement, steps []mesh.Step) string {
	var texts []string
	for _, s := range steps {
		what := s.Call()
		if what == "" {
			what = "a part of what each rank has"
		}
		texts = append(texts, fmt.Sprintf("%s over %s (%v to %v)", what, m.Axes[s.Along], s.From, s.To))
	}
	var words []string
	for _, p := range from {
		words = append(words, p.String())
	}
	return fmt.Sprintf("%s redistributes %s from [%s]: %s", o.Name, o.In[0], strings.Join(words, ", "),
		strings.Join(texts, ", "))
}
