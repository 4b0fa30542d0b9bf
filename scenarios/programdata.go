package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"collsim/collective"
	"collsim/program/mesh"
)

// TensorData names the files of a program's tensor, or of its gradient.
type TensorData struct {
	Tensor   string
	Gradient bool  // they are of its gradient
	Files          // {rank} in a name stands for the rank
	Whole    bool  // a file has the whole tensor; else its first axis is the rank
	Axis     int   // of the whole, which is cut into a part for each rank of a team; −1: each has all
	Teams    Teams // that have the whole; nil: all ranks do together
	At       int   // number of its table
}

// Teams are ranks, team by team.
type Teams [][]int

// HasData reports whether files have what tensors of the program hold.
func (p *ProgramPoint) HasData() bool { return len(p.TensorData) > 0 }

// Key returns the path of the key that names a file: "input", "output" or "compare".
func (d *TensorData) Key(of string) string {
	if d.Gradient {
		of = map[string]string{"input": "gradient_of_output", "output": "gradient_of_input",
			"compare": "compare_gradient"}[of]
	}
	return numbered("program.tensor", d.At) + "." + of
}

// tensorTable is a [[program.tensor]].
type tensorTable struct {
	ProgramTensor
	data, gradient Files
	placement      []string
	lengths        lengths          // of the shape
	placed         []mesh.Placement // on the mesh
}

// programDataKeys returns the keys of a tensor that name files.
func programDataKeys() []Key {
	file := func(name, example, doc string, to func(*tensorTable) *string) Key {
		return Key{Path: "program.tensor." + name, kind: aFile, Example: example, Doc: doc,
			to: set(func(t *tensorTable, name string) { *to(t) = name })}
	}
	return []Key{
		file("input", `"layer.safetensors"`, "What a tensor that no op writes holds: .npy, .npz or "+
			".safetensors. Of a file with several arrays it is the one of the tensor's name; its first "+
			"axis is the rank unless placement says otherwise; or rank0, rank1, … of a file for this "+
			"tensor; or a file a rank, with {rank} in its name. Shape and type follow from it where they "+
			"are not given.", func(t *tensorTable) *string { return &t.data.Input }),
		file("output", `"mine.safetensors"`, "File for what a tensor that an op writes holds at the "+
			"end, in these forms. Several tensors may name the same .npz or .safetensors.",
			func(t *tensorTable) *string { return &t.data.Output }),
		file("compare", `"torch.safetensors"`, "Somebody else's in place of what an op writes, in these "+
			"forms: compared bit for bit, and held against the op's own rounding errors. Of a tensor that "+
			"is named for this alone, shape and type follow from the op.",
			func(t *tensorTable) *string { return &t.data.Compare }),
		file("gradient_of_output", `"torch.safetensors"`, "Of a result: the gradient of the loss by it, "+
			"which the backward pass takes, in the forms of input; as input of a tensor x_grad.",
			func(t *tensorTable) *string { return &t.gradient.Input }),
		file("gradient_of_input", `"mine.safetensors"`, "File for its gradient, as output of a tensor "+
			"x_grad.", func(t *tensorTable) *string { return &t.gradient.Output }),
		file("compare_gradient", `"torch.safetensors"`, "Somebody else's gradient by it, as compare of "+
			"a tensor x_grad.", func(t *tensorTable) *string { return &t.gradient.Compare }),
		{Path: "program.tensor.placement", kind: aNames, Example: `"shard(0)"`,
			Default: "the first axis of a file is the rank", Sweep: true,
			Doc: "How the whole tensor is divided, as DTensor's placements: \"shard(0)\" gives every " +
				"rank an equal part along axis 0, \"replicate\" all of it. On a mesh, one for each of its " +
				"axes, where \"partial\", or such as \"partial(avg)\", says that parts are still to be " +
				"added. Files have the whole, and shape is that of the whole.",
			to: set(func(t *tensorTable, list []string) { t.placement = list })},
		{Path: "program.tensor.group", kind: aText, Default: `"all"`, Example: `"tp"`,
			Doc: "With placement, without a mesh: each team of this group has the whole tensor.",
			by:  (*view).tensorData},
	}
}

// programTensor reads a table of tensors: one, or several that are alike.
func (r *run) programTensor(v *view, p *ProgramPoint, at string, number int) bool {
	t := tensorTable{ProgramTensor: ProgramTensor{At: number}}
	ok := v.fill(at[:len(at)-1], &t)
	if ok {
		t.Shape, ok = shapeAs(v, at+"shape", p, t.lengths)
	}
	if ok && t.placement != nil && (p.mesh.Shape != nil || v.has("program.mesh")) {
		ok = placedOn(v, at, p, &t)
	}
	if !ok {
		return false
	}
	times, readable := repeats(v, at+"repeat")
	if !readable || !v.fewer(at+"repeat", int64(len(p.Tensors))+turnsOf(times)) ||
		!inLoops(v, at, times, t.Name) {
		return false
	}
	eachTurn(times, func(turns []int) {
		if !ok {
			return
		}
		one := t.turn(turns, times)
		data, sound := v.tensorData(p, one, at)
		if ok = sound; !ok {
			return
		}
		named, complete := r.shapeOf(v, p, one, data, at)
		if ok = complete; !ok {
			return
		}
		if one.placed != nil {
			p.placed = append(p.placed, placedTensor{one.Name, one.placed})
		}
		if p.TensorData = append(p.TensorData, data...); !named {
			p.Tensors = append(p.Tensors, one.ProgramTensor)
		}
	})
	return ok
}

// tensorData returns what the files of a tensor are, of one repetition of its table.
func (v *view) tensorData(p *ProgramPoint, t *tensorTable, at string) (list []TensorData, ok bool) {
	group, ok := fetchOr(v, at+"group", "all")
	d := TensorData{Tensor: t.Name, At: t.At, Axis: -1}
	switch {
	case t.placed != nil && v.has(at+"group"):
		v.fail(at+"group", problem{"its placements are on the mesh, which has the groups", ""})
		return nil, false
	case !t.data.Any() && !t.gradient.Any() && t.placed != nil:
	case !t.data.Any() && !t.gradient.Any() && (t.placement != nil || v.has(at+"group")):
		key := map[bool]string{true: "placement", false: "group"}[t.placement != nil]
		v.fail(at+key, problem{"there is no file that it is about",
			"input, output and compare name one; program.mesh makes a mesh"})
		return nil, false
	case t.placement == nil && v.has(at+"group"):
		v.fail(at+"group", problem{"it says who has the whole tensor; without placement a file has one " +
			"of every rank", ""})
		return nil, false
	case t.placement != nil:
		if text := d.whole(p, t); text != "" {
			v.fail(at+"placement", problem{text: text})
			return nil, false
		}
	}
	if group != "all" {
		i := slices.IndexFunc(p.Groups, func(g ProgramGroup) bool { return g.Name == group })
		if i < 0 {
			v.fail(at+"group", problem{fmt.Sprintf("no group is called %s", quoted(group)),
				"[[program.group]] makes it"})
			return nil, false
		}
		if d.Teams = p.Groups[i].Teams; d.Teams[0] == nil {
			d.Teams = nil // all
		}
		for _, team := range d.Teams {
			if len(team) != len(d.Teams[0]) {
				v.fail(at+"group", problem{fmt.Sprintf("it has teams of %d and of %d ranks; a whole tensor "+
					"is cut into as many parts for each", len(d.Teams[0]), len(team)), ""})
				return nil, false
			}
		}
	}
	for _, d.Gradient = range []bool{false, true} {
		if d.Files = t.data; d.Gradient {
			d.Files = t.gradient
		}
		if d.Any() {
			list = append(list, d)
			ok = v.tensorFiles(p, &d) && ok
		}
	}
	return list, ok
}

// whole reads how the whole tensor of a file is divided among the ranks, and returns what is wrong
// with that.
func (d *TensorData) whole(p *ProgramPoint, t *tensorTable) string {
	d.Whole = true
	if t.placed != nil {
		return d.onMesh(p.mesh, t.placed)
	}
	if len(t.placement) != 1 {
		return fmt.Sprintf("%d placements; without a mesh one is expected, over the ranks of a group",
			len(t.placement))
	}
	one, err := mesh.Parse(t.placement[0])
	switch {
	case err != nil:
		return err.Error()
	case one.Kind == mesh.Partial:
		return "a file has the whole tensor, not the parts of a sum"
	case one.Kind == mesh.Sharded:
		d.Axis = one.Axis
	}
	return ""
}

// onMesh reads the same of placements on a mesh: a tensor is sharded over one of its axes at most,
// or alike over both of two.
func (d *TensorData) onMesh(m mesh.Mesh, at []mesh.Placement) string {
	along := -1
	for i, p := range at {
		switch {
		case p.Kind == mesh.Partial:
			return "a file has the whole tensor, not the parts of a sum"
		case p.Kind != mesh.Sharded:
			continue
		case along >= 0 && !(i == along+1 && at[along] == p && len(at) == 2):
			return "a tensor with files is sharded over one axis of the mesh, or alike over both of two"
		case along >= 0: // rank by rank
			d.Axis, d.Teams = p.Axis, nil
			return ""
		}
		along = i
		d.Axis, d.Teams = p.Axis, m.Teams(i)
	}
	return ""
}

// tensorFiles refuses files of a tensor that make no sense.
func (v *view) tensorFiles(p *ProgramPoint, d *TensorData) (ok bool) {
	ok = true
	for _, one := range []struct{ key, name string }{{"input", d.Input}, {"output", d.Output},
		{"compare", d.Compare}} {
		at := d.Key(one.key)
		switch {
		case one.name == "":
			continue
		case !p.Check.Numbers:
			v.fail(at, problem{"needs numbers, which check.numbers = false turns off", ""})
			ok = false
		case d.Gradient && !p.Gradient:
			v.fail(at, problem{"there is no backward pass", `write gradient = "full" into [program]`})
			ok = false
		case d.Whole && strings.Contains(one.name, "{"+rankInName+"}"):
			v.fail(at, problem{"a file a rank; with placement one file has the whole tensor", ""})
			ok = false
		}
		for _, m := range placeholder().FindAllStringSubmatch(one.name, -1) {
			if m[1] != rankInName {
				v.fail(at, problem{quoted(m[0]) + " stands for nothing",
					"known: {rank}, and {i} of a table that is repeated"})
				ok = false
			}
		}
	}
	return ok
}

// shapeOf completes a tensor by its input file; without one it has a shape, or is only named for
// its files. named says that it is.
func (r *run) shapeOf(v *view, p *ProgramPoint, t *tensorTable, d []TensorData, at string) (named,
	ok bool) {
	shaped, typed := v.has(at+"shape"), v.has(at+"dtype")
	switch {
	case p.Topology == nil:
		return false, false
	case t.data.Input != "" && !(shaped && typed) && len(d) > 0:
		answer, known := r.askOf(WhichTensor, &Point{Topology: p.Topology}, &ProgramSource{Tensor: d[0]})
		if answer.Err != nil {
			v.fail(d[0].Key("input"), problem{text: answer.Err.Error()})
		}
		if !known || answer.Err != nil {
			return false, false
		}
		if !shaped {
			t.Shape = answer.Shapes[0]
		}
		if !typed {
			t.Type = answer.Type
		}
		return false, true
	case shaped && len(d) > 0 && t.placed == nil:
		part, err := d[0].PartOf(t.Shape, p.Topology.Ranks)
		if err != nil {
			v.fail(at+"shape", problem{text: err.Error()})
		}
		t.Shape = part
		return false, err == nil
	case shaped:
		return false, true
	case len(d) == 0:
		v.missing(strings.TrimSuffix(at, "."), "shape", "a shape", v.example("program.tensor.shape"))
		return false, false
	}
	for _, key := range []string{"dtype", "memory", "keep", "gradient"} {
		if v.has(at + key) {
			v.fail(at+key, problem{"it takes a shape beside it: a tensor without one is named for its " +
				"files alone", ""})
			return false, false
		}
	}
	return true, true
}

// PartOf returns the shape of a rank's part of a whole tensor in a file.
func (d *TensorData) PartOf(whole collective.Shape, ranks int) (collective.Shape, error) {
	if !d.Whole || d.Axis < 0 {
		return whole, nil
	}
	n := int64(d.TeamSize(ranks))
	if d.Axis >= len(whole) || whole[d.Axis]%n != 0 {
		return nil, fmt.Errorf("has shape %v there; along axis %d as many elements for each of %d ranks "+
			"are expected", whole, d.Axis, n)
	}
	part := slices.Clone(whole)
	part[d.Axis] /= n
	return part, nil
}

// TeamSize returns the number of ranks that have the whole tensor together.
func (d *TensorData) TeamSize(ranks int) int {
	if d.Teams == nil {
		return ranks
	}
	return len(d.Teams[0])
}

// turn returns the names and files of one turn of its loops.
func (t *tensorTable) turn(turns, times []int) *tensorTable {
	one := *t
	for _, name := range []*string{&one.Name, &one.data.Input, &one.data.Output, &one.data.Compare,
		&one.gradient.Input, &one.gradient.Output, &one.gradient.Compare} {
		*name = indexed(*name, turns, times)
	}
	return &one
}
